//! The database, on a thread of its own: requests go there by a channel, and no executor is blocked.

use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use rusqlite::{Connection, Result, Row, Transaction, params};
use tokio::sync::oneshot;

/// Actions of an instance, one after the other.
pub(crate) const ACTIONS: u32 = 4;

/// An action is queued, or `taken` by a worker, or has its effect, which happens once.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS instances(id INTEGER PRIMARY KEY, started INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX IF NOT EXISTS unstarted ON instances(id) WHERE started = 0;
    CREATE TABLE IF NOT EXISTS actions(id INTEGER PRIMARY KEY, instance INTEGER NOT NULL, number INTEGER NOT NULL,
        payload TEXT NOT NULL, taken INTEGER NOT NULL DEFAULT 0, UNIQUE(instance, number));
    CREATE INDEX IF NOT EXISTS queued ON actions(id) WHERE taken = 0;
    CREATE TABLE IF NOT EXISTS effects(instance INTEGER NOT NULL, number INTEGER NOT NULL, output TEXT NOT NULL,
        PRIMARY KEY(instance, number)) WITHOUT ROWID;
";

type Request = Box<dyn FnOnce(&mut Connection) + Send>;

pub(crate) struct Store {
    requests: mpsc::Sender<Request>,
    thread: JoinHandle<()>,
}

/// An action, with what it is given or, once it is done, what it came to.
pub(crate) struct Action {
    pub(crate) instance: i64,
    pub(crate) number: u32,
    pub(crate) text: String,
}

impl Store {
    /// Opens a database, which gets so many instances if it has none. A run that was stopped or killed goes on.
    pub(crate) fn open(path: &Path, instances: u32) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(TABLES)?;
        let transaction = connection.transaction()?;
        if count(&transaction, "instances")? == 0 {
            let mut insert = transaction.prepare("INSERT INTO instances(id) VALUES (?)")?;
            (1..=instances).try_for_each(|id| insert.execute([id]).map(drop))?;
        }
        transaction.execute("UPDATE actions SET taken = 0", [])?;
        transaction.commit()?;
        let (requests, received) = mpsc::channel::<Request>();
        let thread = thread::spawn(move || received.into_iter().for_each(|request| request(&mut connection)));
        Ok(Self { requests, thread })
    }

    /// Does something in a transaction. If it fails nothing of it has happened.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (answer, answered) = oneshot::channel();
        let request = move |connection: &mut Connection| {
            let done = connection.transaction().and_then(|transaction| {
                let found = work(&transaction)?;
                transaction.commit().map(|()| found)
            });
            // The task that asked has gone if another loop failed.
            let _ = answer.send(done);
        };
        self.requests.send(Box::new(request)).ok().context("the database's thread is gone")?;
        Ok(answered.await.context("the database's thread is gone")??)
    }

    /// Waits until the database is closed.
    pub(crate) fn close(self) {
        drop(self.requests);
        self.thread.join().expect("no request panics");
    }
}

/// Instances that are not started.
pub(crate) fn unstarted(on: &Transaction<'_>, most: usize) -> Result<Vec<i64>> {
    let mut select = on.prepare_cached("SELECT id FROM instances WHERE started = 0 ORDER BY id LIMIT ?")?;
    select.query_map([most as i64], |row| row.get(0))?.collect()
}

/// Starts instances: each has its first action queued.
pub(crate) fn start(on: &Transaction<'_>, firsts: &[Action]) -> Result<()> {
    let mut started = on.prepare_cached("UPDATE instances SET started = 1 WHERE id = ?")?;
    for first in firsts {
        started.execute([first.instance])?;
        queue(on, first)?;
    }
    Ok(())
}

fn queue(on: &Transaction<'_>, action: &Action) -> Result<()> {
    let mut insert = on.prepare_cached("INSERT INTO actions(instance, number, payload) VALUES (?, ?, ?)")?;
    insert.execute(params![action.instance, action.number, action.text]).map(drop)
}

/// Takes actions from the head of the queue.
pub(crate) fn take(on: &Transaction<'_>, most: usize) -> Result<Vec<Action>> {
    let mut update = on.prepare_cached(
        "UPDATE actions SET taken = 1 WHERE id IN (SELECT id FROM actions WHERE taken = 0 ORDER BY id LIMIT ?)
            RETURNING instance, number, payload",
    )?;
    let action = |row: &Row<'_>| Ok(Action { instance: row.get(0)?, number: row.get(1)?, text: row.get(2)? });
    update.query_map([most as i64], action)?.collect()
}

/// Records what actions came to, and queues those that follow.
pub(crate) fn record(on: &Transaction<'_>, done: &[Action], next: &[Action]) -> Result<()> {
    let mut effect = on.prepare_cached("INSERT INTO effects VALUES (?, ?, ?)")?;
    let mut delete =
        on.prepare_cached("DELETE FROM actions WHERE instance = ? AND number = ? AND taken = 1")?;
    for Action { instance, number, text } in done {
        effect.execute(params![instance, number, text])?;
        delete.execute(params![instance, number])?;
    }
    next.iter().try_for_each(|action| queue(on, action))
}

/// Numbers of instances, of effects, and of actions that were taken and have no effect.
pub(crate) fn totals(on: &Transaction<'_>) -> Result<[u64; 3]> {
    Ok([count(on, "instances")?, count(on, "effects")?, count(on, "actions WHERE taken = 1")?])
}

fn count(on: &Transaction<'_>, of: &str) -> Result<u64> {
    on.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get::<_, i64>(0)).map(|n| n as u64)
}
