//! The database's tables, how a run begins in them, and how one goes on.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Transaction, params};
use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::interrupt::interrupted;
use super::plan::graph;
use super::trouble::Trouble;

/// What a run is: the database keeps it, for `--resume`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) instances: u64,
    /// Actions of each instance.
    pub(super) actions: u32,
    pub(super) changes: Changes,
}

impl Setup {
    pub(super) fn all(&self) -> u64 {
        self.instances * u64::from(self.actions)
    }
}

/// How long to wait for another process that holds the database.
const PATIENCE: Duration = Duration::from_millis(500);

const TABLES: &str = "
    CREATE TABLE run(setup TEXT NOT NULL);
    CREATE TABLE instances(id INTEGER PRIMARY KEY, graph TEXT NOT NULL, started_at INTEGER, completed_at INTEGER);
    CREATE INDEX unstarted ON instances(id) WHERE started_at IS NULL;
    CREATE TABLE actions(id INTEGER PRIMARY KEY, instance INTEGER NOT NULL, number INTEGER NOT NULL,
        payload TEXT NOT NULL, status INTEGER NOT NULL DEFAULT 0, output TEXT, UNIQUE(instance, number));
    CREATE INDEX queued ON actions(id) WHERE status = 0;
    CREATE INDEX completed ON actions(id) WHERE status = 2;
    CREATE TABLE effects(instance INTEGER NOT NULL, number INTEGER NOT NULL, output TEXT NOT NULL,
        PRIMARY KEY(instance, number)) WITHOUT ROWID;
    CREATE TABLE log_queue(id INTEGER PRIMARY KEY, instance INTEGER NOT NULL, number INTEGER NOT NULL,
        output TEXT NOT NULL);
    CREATE TABLE log(instance INTEGER NOT NULL, number INTEGER NOT NULL, line TEXT NOT NULL,
        PRIMARY KEY(instance, number)) WITHOUT ROWID;
";

/// Opens a database in write-ahead mode, of at most so many pages if a test says so. A commit outlives this process; that it
/// outlives the machine would take `synchronous = FULL`.
pub(super) fn open(path: &Path, most_pages: Option<u32>) -> Result<Connection, Trouble> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.set_prepared_statement_cache_capacity(64);
    if let Some(most) = most_pages {
        connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))?;
    }
    Ok(connection)
}

/// Writes a run that has not begun, all of it or nothing.
pub(super) fn create(connection: &mut Connection, setup: &Setup) -> Result<(), Trouble> {
    let asked = interrupted();
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    let text = serde_json::to_string(setup).expect("a setup is JSON");
    transaction.execute("INSERT INTO run VALUES (?)", [text])?;
    let mut insert = transaction.prepare("INSERT INTO instances(id, graph) VALUES (?, ?)")?;
    for instance in 1..=setup.instances {
        if *asked.borrow() {
            return Err(Trouble::Interrupted);
        }
        insert.execute(params![instance as i64, graph(instance, setup.actions)])?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

/// What a database holds.
pub(super) enum Held {
    Nothing,
    Run(Setup),
    Other,
}

pub(super) fn held(connection: &Connection) -> Result<Held, Trouble> {
    let tables = |named: &str| {
        let query = format!("SELECT count(*) FROM sqlite_schema WHERE name LIKE '{named}'");
        connection.query_row(&query, [], |row| row.get::<_, u32>(0))
    };
    if tables("%")? == 0 {
        return Ok(Held::Nothing);
    }
    if tables("run")? == 0 || tables("log_queue")? == 0 {
        return Ok(Held::Other);
    }
    let text: String = connection.query_row("SELECT setup FROM run", [], |row| row.get(0))?;
    let setup = serde_json::from_str(&text).map_err(|error| Trouble::Unreadable(error.to_string()))?;
    Ok(Held::Run(setup))
}

/// An instance under way: its graph, and which of its actions have been recorded.
pub(super) struct UnderWay {
    pub(super) instance: u64,
    pub(super) graph: String,
    pub(super) done: Vec<u32>,
}

/// Takes up a run: what was dispatched is queued again, what was claimed and not started is free again.
///
/// Gives the number of instances that are not complete, and those of them that are under way.
pub(super) fn recover(transaction: &Transaction<'_>) -> rusqlite::Result<(u64, Vec<UnderWay>)> {
    transaction.execute("UPDATE actions SET status = 0 WHERE status = 1", [])?;
    transaction.execute(
        "UPDATE instances SET started_at = NULL WHERE started_at IS NOT NULL AND completed_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM actions WHERE instance = instances.id)
            AND NOT EXISTS (SELECT 1 FROM effects WHERE instance = instances.id)",
        [],
    )?;
    let mut under_way = transaction
        .prepare("SELECT id, graph FROM instances WHERE started_at IS NOT NULL AND completed_at IS NULL")?;
    let mut done = transaction.prepare("SELECT number FROM effects WHERE instance = ?")?;
    let rows = under_way.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let found = rows.map(|row| {
        let (instance, graph) = row?;
        let done = done.query_map([instance], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(UnderWay { instance: instance as u64, graph, done })
    });
    let found = found.collect::<rusqlite::Result<_>>()?;
    let left = "SELECT count(*) FROM instances WHERE completed_at IS NULL";
    Ok((transaction.query_row(left, [], |row| row.get::<_, i64>(0))? as u64, found))
}

/// How many rows a table has.
fn count(transaction: &Transaction<'_>, of: &str) -> rusqlite::Result<u64> {
    transaction.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| Ok(row.get::<_, i64>(0)? as u64))
}

/// Effects and lines in the log, which are to be as many as there are actions, and what is still queued anywhere.
pub(super) fn totals(transaction: &Transaction<'_>) -> rusqlite::Result<[u64; 3]> {
    let queued = count(transaction, "actions WHERE status < 3")? + count(transaction, "log_queue")?;
    Ok([count(transaction, "effects")?, count(transaction, "log")?, queued])
}
