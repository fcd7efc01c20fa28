//! Services on sockets. Their clients are on a thread of their own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::ops::Bound;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::support::{listen, run, timed_with_latencies};
use super::task::yield_now;
use crate::harness::Sample;
use crate::measurements::programs::{Setting, clients};

/// Keys that the slow command looks at between two yields.
const SCANNED: usize = 100;

type Store = Rc<RefCell<BTreeMap<String, String>>>;

/// Commands that take a microsecond, and one that looks at all keys: the time in all, and p99 of the short commands.
pub(super) fn key_value(setting: &Setting) -> Sample {
    let keys = setting.size(10_000, 100);
    run(async move {
        let entries = (0..keys).map(|number| (clients::key(number), "value".to_owned()));
        let store: Store = Rc::new(RefCell::new(entries.collect()));
        let address = listen(move |stream| answer_all(stream, store.clone())).await;
        timed_with_latencies(clients::of_key_value(setting, address, keys)).await
    })
}

async fn answer_all(stream: TcpStream, store: Store) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut stream, mut line) = (BufStream::new(stream), String::new());
    while stream.read_line(&mut line).await? > 0 {
        let answer = answer(line.trim_end(), &store).await;
        stream.write_all(answer.as_bytes()).await?;
        stream.write_all(b"\n").await?;
        stream.flush().await?;
        line.clear();
    }
    Ok(())
}

async fn answer(line: &str, store: &Store) -> String {
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next()) {
        (Some("GET"), Some(key), None) => store.borrow().get(key).cloned().unwrap_or_default(),
        (Some("SET"), Some(key), Some(value)) => {
            store.borrow_mut().insert(key.to_owned(), value.to_owned());
            "OK".to_owned()
        }
        (Some("COUNT"), Some(part), None) => count(part, store).await.to_string(),
        _ => "?".to_owned(),
    }
}

/// How many keys have `part` in them. Others get their turn meanwhile.
async fn count(part: &str, store: &Store) -> usize {
    let (mut found, mut from) = (0, Bound::Unbounded);
    loop {
        let last = {
            let store = store.borrow();
            let piece = store.range((from.clone(), Bound::Unbounded)).take(SCANNED).map(|(key, _)| key);
            found += piece.clone().filter(|key| key.contains(part)).count();
            piece.last().cloned()
        };
        match last {
            Some(last) => from = Bound::Excluded(last),
            None => return found,
        }
        yield_now().await;
    }
}

/// `copy_bidirectional` with a timeout around it, for each connection: the time in all, and p99 of an echo.
pub(super) fn proxy(setting: &Setting) -> Sample {
    run(async move {
        let backend = clients::echo_server(setting);
        let address = listen(move |client| timeout(Duration::from_secs(30), forward(client, backend))).await;
        timed_with_latencies(clients::of_echo(setting, address)).await
    })
}

async fn forward(mut client: TcpStream, backend: SocketAddr) -> io::Result<()> {
    client.set_nodelay(true)?;
    let connected = timeout(Duration::from_secs(1), TcpStream::connect(backend)).await;
    let mut server = connected.map_err(io::Error::other)??;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
