//! The clients of the services: a thread of their own, on the other core, the same for every arm.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::Setting;
use crate::arms::tokio::host;
use crate::harness::Side;
use crate::stopwatch::Stopwatch;

pub(super) const ANY_PORT: &str = "127.0.0.1:0";

const BLOCK: usize = 1_024;

pub(super) fn key(number: usize) -> String {
    format!("key:{number:08}")
}

/// Clients of a key-value server, in closed loops: many with short commands, one with long ones. The latencies of the
/// short ones.
pub(super) async fn of_key_value(setting: &Setting, address: SocketAddr, keys: usize) -> Vec<Duration> {
    let (clients, commands, long) = (setting.size(50, 4), setting.size(200, 5), setting.size(20, 2));
    on_a_thread(setting, move |all| {
        all.spawn(async move {
            command_often(address, long, |_| "COUNT 77\n".to_owned()).await;
            Vec::new()
        });
        for client in 0..clients {
            let command = move |number: usize| match (key((client * 997 + number * 31) % keys), number % 4) {
                (key, 0) => format!("SET {key} {number}\n"),
                (key, _) => format!("GET {key}\n"),
            };
            all.spawn(command_often(address, commands, command));
        }
    })
    .await
}

/// Gives commands one after the other; how long each took.
async fn command_often(
    address: SocketAddr,
    commands: usize,
    command: impl Fn(usize) -> String,
) -> Vec<Duration> {
    let mut stream = BufStream::new(connect(address).await);
    let (mut answer, mut latencies) = (String::new(), Vec::with_capacity(commands));
    for number in 0..commands {
        let watch = Stopwatch::start();
        stream.write_all(command(number).as_bytes()).await.expect("the server reads");
        stream.flush().await.expect("the server reads");
        stream.read_line(&mut answer).await.expect("the server answers");
        latencies.push(watch.elapsed());
        assert!(answer.ends_with('\n'), "the server ended");
        answer.clear();
    }
    latencies
}

/// Clients that send blocks and wait for their echo. The latencies.
pub(super) async fn of_echo(setting: &Setting, address: SocketAddr) -> Vec<Duration> {
    let (clients, echoes) = (setting.size(64, 4), setting.size(100, 5));
    on_a_thread(setting, move |all| {
        (0..clients).for_each(|_| drop(all.spawn(echo_often(address, echoes))));
    })
    .await
}

async fn echo_often(address: SocketAddr, echoes: usize) -> Vec<Duration> {
    let (mut stream, mut block) = (connect(address).await, [7; BLOCK]);
    let mut latencies = Vec::with_capacity(echoes);
    for _ in 0..echoes {
        let watch = Stopwatch::start();
        stream.write_all(&block).await.expect("the echo's way there is open");
        stream.read_exact(&mut block).await.expect("the echo's way back is open");
        latencies.push(watch.elapsed());
    }
    latencies
}

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    stream.set_nodelay(true).expect("the stream is open");
    stream
}

/// Starts clients on a thread of theirs, and waits for them on this one. The latencies of all of them.
async fn on_a_thread(
    setting: &Setting,
    start: impl FnOnce(&mut JoinSet<Vec<Duration>>) + Send + 'static,
) -> Vec<Duration> {
    let (done, found) = oneshot::channel();
    setting.pinning.thread(Side::Load, move || {
        let latencies = host().block_on(async {
            let (mut clients, mut latencies) = (JoinSet::new(), Vec::new());
            start(&mut clients);
            while let Some(some) = clients.join_next().await {
                latencies.extend(some.expect("no client fails"));
            }
            latencies
        });
        // It is not waited for any more if the server's thread has failed.
        let _ = done.send(latencies);
    });
    found.await.expect("no client fails")
}

/// Where this process has its echo server, which it keeps.
pub(super) fn echo_server(setting: &Setting) -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let (listening, listens) = mpsc::channel();
        setting.pinning.thread(Side::Load, move || {
            host().block_on(async {
                let listener = TcpListener::bind(ANY_PORT).await.expect("there is a port");
                listening.send(listener.local_addr().expect("it is bound")).expect("somebody asked");
                loop {
                    let (stream, _) = listener.accept().await.expect("connections are accepted");
                    tokio::spawn(echo(stream));
                }
            });
        });
        listens.recv().expect("the echo server listens")
    })
}

async fn echo(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("the stream is open");
    let mut buffer = vec![0; 2 * BLOCK];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
