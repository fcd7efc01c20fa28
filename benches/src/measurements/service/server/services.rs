//! Services as others write them, compiled once for each set of imports.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::pending;
use std::hint::black_box;
use std::io;
use std::iter::repeat_n;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::header;
use axum::routing::get;
use axum::serve::ListenerExt;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Notify, mpsc};
use tokio::task;

use super::{listen, program, spawn_local};
use crate::measurements::service::protocol::{BODY, DATE, MEMBERS};
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
        Program::ByHand => {
            spawn_importers(&world);
            let router = router();
            return serve(move |stream| respond(stream, router.clone())).await;
        }
        Program::Served => {
            spawn_importers(&world);
            let listener = listen()?.tap_io(|stream| stream.set_nodelay(true).expect("the stream is open"));
            drop(tokio::spawn(axum::serve(listener, router()).into_future()));
            return pending().await;
        }
    }
    program::main(world, None).await
}

/// Accepts connections in a task, and has a task for each.
async fn serve<F>(mut connection: impl FnMut(TcpStream) -> F + 'static) -> io::Result<Infallible>
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

fn router() -> Router {
    Router::new().route("/", get(|| async { ([(header::DATE, DATE)], BODY) }))
}

async fn respond(stream: TcpStream, router: Router) -> io::Result<()> {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    connection.await.map_err(io::Error::other)
}

fn spawn_importers(world: &World) {
    (0..world.setup.compactors).for_each(|_| drop(spawn_local(import(world.chunks.clone()))));
}

/// Rows that an importer parses between two yields: some tens of microseconds.
const ROWS: u64 = 500;

/// Parses rows without end, and has kept tokio's `yield_now`.
async fn import(rows: Arc<AtomicU64>) {
    let table: String = (0..ROWS).map(|row| format!("{row},name {row},{}.25\n", row * 37)).collect();
    loop {
        black_box(table.lines().filter_map(amount).sum::<f64>());
        rows.fetch_add(ROWS, Ordering::Relaxed);
        task::yield_now().await;
    }
}

fn amount(row: &str) -> Option<f64> {
    let mut fields = row.split(',');
    let (number, name, amount) = (fields.next()?, fields.next()?, fields.next()?);
    let number: u32 = number.parse().ok()?;
    Some(f64::from(number) + name.len() as f64 + amount.parse::<f64>().ok()?)
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
