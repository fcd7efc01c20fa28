//! What is resident afterwards. Each is run in a process of its own.

use std::cell::Cell;
use std::net::TcpStream as Client;
use std::rc::Rc;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::support::{listen, run};
use super::task::{spawn_local, yield_now};
use crate::harness::Sample;
use crate::measurements::programs::{MEMORY, MEMORY_EACH, Setting};
use crate::process;

/// Connections that are opened before the server gets to accept them: fewer than a listener keeps for it.
const OPENED_AT_ONCE: usize = 100;

/// After very many tasks that were there at the same time, while the set is kept.
pub(super) fn after_spawns(setting: &Setting) -> Sample {
    let tasks = setting.size(1_000_000, 1_000);
    run(async move {
        let ended = Rc::new(Cell::new(0));
        for _ in 0..tasks {
            let ended = ended.clone();
            drop(spawn_local(async move { ended.set(ended.get() + 1) }));
        }
        while ended.get() < tasks {
            yield_now().await;
        }
        Sample::default().number(MEMORY, process::resident_bytes())
    })
}

pub(super) fn per_connection(setting: &Setting) -> Sample {
    let connections = setting.size(4_000, 50);
    // If it may not, opening one too many says so.
    let _ = process::allow_files(2 * connections as u64 + 100);
    run(async move {
        let accepted = Rc::new(Cell::new(0));
        let counter = accepted.clone();
        let address = listen(move |stream| {
            counter.set(counter.get() + 1);
            wait_for_request(stream)
        })
        .await;
        let before = process::resident_bytes();
        let mut clients = Vec::with_capacity(connections);
        while accepted.get() < connections {
            if accepted.get() == clients.len() {
                let more = OPENED_AT_ONCE.min(connections - clients.len());
                let opened = (0..more).map(|_| Client::connect(address).expect("the server listens"));
                clients.extend(opened);
            }
            tokio::task::yield_now().await;
        }
        Sample::default().number(MEMORY_EACH, (process::resident_bytes() - before) / connections as f64)
    })
}

async fn wait_for_request(mut stream: TcpStream) {
    let mut head = [0; 512];
    // Nothing comes.
    let _ = stream.read(&mut head).await;
}
