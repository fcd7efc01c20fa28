//! Services as others write them, compiled once for each set of imports.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::iter::repeat_n;
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Notify, mpsc};
use tokio::task;

#[cfg(feature = "axum")]
use super::importer;
use super::{listen, program, spawn_local};
use crate::measurements::service::protocol::MEMBERS;
use crate::measurements::service::server::{Program, World, give_up};

/// The main function of what a setup has served.
pub(in super::super) async fn main(world: World) -> io::Result<Infallible> {
    match world.setup.program {
        Program::Plain | Program::HandOn => {}
        Program::Pairs => (0..PAIRS).for_each(|_| spawn_pair()),
        Program::Yielder => drop(task::spawn_local(yield_for_ever())),
        Program::Proxy => {
            let upstream = world.setup.upstream.ok_or(io::ErrorKind::AddrNotAvailable)?;
            return serve(move |client| forward(client, upstream)).await;
        }
        Program::Chat => {
            let mut rooms = (0..).flat_map(|_| repeat_n(Room::new(), MEMBERS));
            return serve(move |member| chat(member, rooms.next().expect("it has no end"))).await;
        }
        #[cfg(feature = "axum")]
        Program::Served => return importer::served(&world).await,
        #[cfg(feature = "axum")]
        Program::ByHand => return importer::by_hand(&world).await,
        #[cfg(not(feature = "axum"))]
        Program::Served | Program::ByHand => return Err(io::ErrorKind::Unsupported.into()),
    }
    program::main(world, None).await
}

/// Accepts connections in a task, and has a task for each.
pub(super) async fn serve<F>(mut connection: impl FnMut(TcpStream) -> F + 'static) -> io::Result<Infallible>
where
    F: Future<Output = io::Result<()>> + 'static,
{
    let listener = listen()?;
    spawn(async move {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            spawn(connection(stream));
        }
    });
    pending().await
}

fn spawn(task: impl Future<Output = io::Result<()>> + 'static) {
    drop(spawn_local(async { task.await.unwrap_or_else(|error| give_up(&error)) }));
}

/// A loop that copies for each direction, the first in a task of its own.
async fn forward(client: TcpStream, upstream: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(upstream).await?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    spawn(async move { copy(&mut from_client, &mut to_server).await.map(drop) });
    copy(&mut from_server, &mut to_client).await.map(drop)
}

struct Room {
    members: RefCell<Vec<mpsc::UnboundedSender<Rc<str>>>>,
    /// Opened by the last of its members.
    door: Barrier,
}

impl Room {
    fn new() -> Rc<Self> {
        Rc::new(Room { members: RefCell::default(), door: Barrier::new(MEMBERS) })
    }
}

/// A member: what it says is read here and goes to all, and what all say is written by a task of its own.
async fn chat(stream: TcpStream, room: Rc<Room>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let (member, mut inbox) = mpsc::unbounded_channel::<Rc<str>>();
    spawn(async move {
        while let Some(line) = inbox.recv().await {
            write.write_all(line.as_bytes()).await?;
        }
        Ok(())
    });
    room.members.borrow_mut().push(member);
    room.door.wait().await;
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let line: Rc<str> = (line + "\n").into();
        room.members.borrow().iter().for_each(|member| drop(member.send(line.clone())));
    }
    Ok(())
}

async fn yield_for_ever() {
    loop {
        task::yield_now().await;
    }
}

/// Pairs of tasks that wake each other.
const PAIRS: usize = 4;

fn spawn_pair() {
    let [first, second] = [(); 2].map(|()| Rc::new(Notify::new()));
    first.notify_one();
    drop(spawn_local(hand_on(first.clone(), second.clone())));
    drop(spawn_local(hand_on(second, first)));
}

async fn hand_on(awaited: Rc<Notify>, other: Rc<Notify>) {
    loop {
        awaited.notified().await;
        other.notify_one();
    }
}
