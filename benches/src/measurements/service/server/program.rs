//! The server, compiled once for each host and set of imports.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clockworker::Queue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Listener, Stream, listen, spawn_local, timeout, yield_now};
use crate::measurements::service::protocol::{Protocol, Store};
use crate::measurements::service::server::{PATIENCE, Program, World, give_up, work};

/// The main function: with queues, one for connections and one for compactors, some lines differ. The main future does nothing,
/// so that all are tasks like any other. A connection inherits the queue of the task that accepts it.
pub(in super::super) async fn main(world: World, queues: Option<[Queue; 2]>) -> io::Result<Infallible> {
    let accepting = accept(listen()?, world.setup.protocol);
    let hands_on = world.setup.program == Program::HandOn;
    let mut turns = ring(if hands_on { world.setup.compactors } else { 0 });
    for _ in 0..world.setup.compactors {
        let compacting = compact(world.chunks.clone(), turns.next());
        match &queues {
            None => drop(spawn_local(compacting)),
            Some([_, compactors]) => drop(compactors.spawn(compacting)),
        }
    }
    match &queues {
        None => drop(spawn_local(accepting)),
        Some([connections, _]) => drop(connections.spawn(accepting)),
    }
    pending().await
}

/// A compactor, which works off chunks without end: it yields after each, or waits for its turn.
async fn compact(chunks: Arc<AtomicU64>, turns: Option<Turns>) {
    match turns {
        None => loop {
            work(&chunks);
            yield_now().await;
        },
        Some(mut turns) => {
            while turns.mine.recv().await.is_some() {
                work(&chunks);
                turns.other.send(()).expect("the other one has no end");
            }
        }
    }
}

/// A compactor's part in a ring of them that hand on turns by channels. There are as many turns as compactors.
struct Turns {
    mine: UnboundedReceiver<()>,
    other: UnboundedSender<()>,
}

fn ring(compactors: u32) -> impl Iterator<Item = Turns> {
    let (mut others, mine): (VecDeque<_>, Vec<_>) = (0..compactors).map(|_| unbounded_channel()).unzip();
    others.iter().for_each(|other| other.send(()).expect("it is open"));
    let first = others.pop_front();
    others.extend(first);
    mine.into_iter().zip(others).map(|(mine, other)| Turns { mine, other })
}

async fn accept(listener: Listener, protocol: Protocol) {
    let store = Rc::new(RefCell::new(Store::new()));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(spawn_local(connection(stream.into(), protocol, store.clone()))),
            Err(error) => give_up(&error),
        }
    }
}

async fn connection(stream: Stream, protocol: Protocol, store: Rc<RefCell<Store>>) {
    talk(stream, protocol, store).await.unwrap_or_else(|error| give_up(&error));
}

async fn talk(mut stream: Stream, protocol: Protocol, store: Rc<RefCell<Store>>) -> io::Result<()> {
    stream.set_nodelay()?;
    let mut received = Vec::new();
    loop {
        let Ok(read) = timeout(PATIENCE, stream.receive(&mut received)).await else { return Ok(()) };
        if read? == 0 {
            return Ok(());
        }
        let answers = protocol.answer(&mut received, &mut store.borrow_mut());
        stream.send(answers).await?;
    }
}
