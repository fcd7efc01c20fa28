//! The service: the same tasks on both executors.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::clients::nanos_since;
use crate::store::{ROW, Store};

/// A request: a key.
pub(crate) const REQUEST: usize = 8;
/// An answer: a row, and when it was found.
pub(crate) const ANSWER: usize = ROW + 8;

/// Rows that a compactor merges before it yields, which takes some 100 µs.
const CHUNK: usize = 8_192;

/// Answers one request after the other, until the client is gone.
pub(crate) async fn connection(
    mut stream: TcpStream,
    store: Rc<RefCell<Store>>,
    origin: Instant,
) -> io::Result<()> {
    let mut key = [0; REQUEST];
    loop {
        stream.read_exact(&mut key).await?;
        let row = store.borrow().get(u64::from_le_bytes(key)).ok_or(io::ErrorKind::NotFound)?;
        let mut answer = [0; ANSWER];
        answer[..ROW].copy_from_slice(&row.bytes());
        answer[ROW..].copy_from_slice(&nanos_since(origin).to_le_bytes());
        stream.write_all(&answer).await?;
    }
}

/// Compacts a shard, over and over, while that is switched on.
pub(crate) async fn compactor(
    store: Rc<RefCell<Store>>,
    shard: usize,
    mut is_on: watch::Receiver<bool>,
    rows: Rc<Cell<u64>>,
    yield_now: impl AsyncFn(),
) {
    let mut merge = store.borrow().begin_merge(shard);
    loop {
        let is_on_now = *is_on.borrow();
        if !is_on_now && is_on.wait_for(|is_on| *is_on).await.is_err() {
            return;
        }
        let merged = merge.step(CHUNK);
        rows.set(rows.get() + merged as u64);
        if merge.is_done() {
            store.borrow_mut().finish_merge(shard, merge);
            merge = store.borrow().begin_merge(shard);
        }
        yield_now().await;
    }
}
