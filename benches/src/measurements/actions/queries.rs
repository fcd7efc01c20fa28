//! What the loops ask of the database.

use rusqlite::{Error, Row, Transaction, params};

/// An action in the queue.
pub(super) struct Queued {
    pub(super) instance: u64,
    pub(super) number: u32,
    pub(super) payload: String,
}

/// An action's end: what it came to, and what it makes ready.
pub(super) struct Record {
    pub(super) instance: u64,
    pub(super) number: u32,
    pub(super) output: String,
    pub(super) next: Vec<(u32, String)>,
    pub(super) is_last: bool,
}

/// A line that is to be logged.
pub(super) struct Line {
    pub(super) id: i64,
    pub(super) instance: u64,
    pub(super) number: u32,
    pub(super) text: String,
}

/// Instances with their graphs that nobody has started: claimed, or found by what is not in the queue.
pub(super) fn unstarted(
    transaction: &Transaction<'_>,
    claim: bool,
    most: usize,
) -> rusqlite::Result<Vec<(u64, String)>> {
    let mut statement = transaction.prepare_cached(if claim {
        "UPDATE instances SET started_at = 1 WHERE id IN
            (SELECT id FROM instances WHERE started_at IS NULL ORDER BY id LIMIT ?) RETURNING id, graph"
    } else {
        "SELECT id, graph FROM instances WHERE completed_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM actions WHERE instance = instances.id) ORDER BY id LIMIT ?"
    })?;
    let rows = statement.query_map([most as i64], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?;
    rows.collect()
}

/// Puts the first actions of instances into the queue.
pub(super) fn begin(
    transaction: &Transaction<'_>,
    instances: &[(u64, Vec<(u32, String)>)],
) -> rusqlite::Result<()> {
    let mut started = transaction.prepare_cached("UPDATE instances SET started_at = 1 WHERE id = ?")?;
    for (instance, actions) in instances {
        started.execute([*instance as i64])?;
        enqueue(transaction, *instance, actions)?;
    }
    Ok(())
}

fn enqueue(transaction: &Transaction<'_>, instance: u64, actions: &[(u32, String)]) -> rusqlite::Result<()> {
    let mut insert =
        transaction.prepare_cached("INSERT INTO actions(instance, number, payload) VALUES (?, ?, ?)")?;
    for (number, payload) in actions {
        insert.execute(params![instance as i64, number, payload])?;
    }
    Ok(())
}

/// Takes actions from the head of the queue, for workers.
pub(super) fn dispatch(transaction: &Transaction<'_>, most: usize) -> rusqlite::Result<Vec<Queued>> {
    let mut statement = transaction.prepare_cached(
        "UPDATE actions SET status = 1 WHERE id IN (SELECT id FROM actions WHERE status = 0 ORDER BY id LIMIT ?)
            RETURNING instance, number, payload",
    )?;
    let queued = |row: &Row<'_>| {
        Ok(Queued { instance: row.get::<_, i64>(0)? as u64, number: row.get(1)?, payload: row.get(2)? })
    };
    statement.query_map([most as i64], queued)?.collect()
}

/// Records what actions came to, each once: a second effect of one is an error.
pub(super) fn record(
    transaction: &Transaction<'_>,
    records: &[Record],
    delete: bool,
) -> rusqlite::Result<()> {
    let mut effect = transaction.prepare_cached("INSERT INTO effects VALUES (?, ?, ?)")?;
    let mut delete_it =
        transaction.prepare_cached("DELETE FROM actions WHERE instance = ? AND number = ? AND status = 1")?;
    let mut log =
        transaction.prepare_cached("INSERT INTO log_queue(instance, number, output) VALUES (?, ?, ?)")?;
    let mut mark = transaction.prepare_cached(
        "UPDATE actions SET status = 2, output = ? WHERE instance = ? AND number = ? AND status = 1",
    )?;
    let mut complete = transaction.prepare_cached("UPDATE instances SET completed_at = 1 WHERE id = ?")?;
    for Record { instance, number, output, next, is_last } in records {
        let id = *instance as i64;
        effect.execute(params![id, number, output])?;
        let changed = if delete {
            log.execute(params![id, number, output])?;
            delete_it.execute(params![id, number])?
        } else {
            mark.execute(params![output, id, number])?
        };
        if changed != 1 {
            return Err(Error::StatementChangedRows(changed));
        }
        enqueue(transaction, *instance, next)?;
        if *is_last {
            complete.execute([id])?;
        }
    }
    Ok(())
}

/// What is to be logged, from the queue of lines or from the actions that are marked.
pub(super) fn unlogged(
    transaction: &Transaction<'_>,
    delete: bool,
    most: usize,
) -> rusqlite::Result<Vec<Line>> {
    let mut statement = transaction.prepare_cached(if delete {
        "SELECT id, instance, number, output FROM log_queue ORDER BY id LIMIT ?"
    } else {
        "SELECT id, instance, number, output FROM actions WHERE status = 2 ORDER BY id LIMIT ?"
    })?;
    let line = |row: &Row<'_>| {
        let instance = row.get::<_, i64>(1)? as u64;
        Ok(Line { id: row.get(0)?, instance, number: row.get(2)?, text: row.get(3)? })
    };
    statement.query_map([most as i64], line)?.collect()
}

/// Writes lines to the log, each once.
pub(super) fn write_log(transaction: &Transaction<'_>, lines: &[Line], delete: bool) -> rusqlite::Result<()> {
    let mut write = transaction.prepare_cached("INSERT INTO log VALUES (?, ?, ?)")?;
    let mut done = transaction.prepare_cached(if delete {
        "DELETE FROM log_queue WHERE id = ?"
    } else {
        "UPDATE actions SET status = 3 WHERE id = ?"
    })?;
    for Line { id, instance, number, text } in lines {
        write.execute(params![*instance as i64, number, text])?;
        done.execute([id])?;
    }
    Ok(())
}
