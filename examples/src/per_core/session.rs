//! One connection: what is answered, and when it ends.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures::channel::mpsc;
use futures::future::{Either, select};

use super::peers::Peers;
use super::worker::{Notice, given};

/// What a connection needs of its core. A clone is for another connection.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) peers: Arc<Peers>,
    pub(super) stopped: Notice,
    /// While there is one of these, the core has connections.
    pub(super) _open: mpsc::Sender<Infallible>,
    pub(super) under_way: bool,
}

impl Session {
    /// Waits for a line. None if it is time to stop, and nothing is under way.
    pub async fn next<T>(&self, line: impl Future<Output = T>) -> Option<T> {
        if self.under_way {
            return Some(line.await);
        }
        match select(pin!(given(&self.stopped)), pin!(line)).await {
            Either::Left(((), _)) => None,
            Either::Right((line, _)) => Some(line),
        }
    }

    /// The answer to a line, with its end.
    pub async fn answer(&mut self, line: &str) -> String {
        match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("add", key) => self.add(key).await,
            ("begin", "") => {
                self.under_way = true;
                "begun\n".to_owned()
            }
            ("end", "") => {
                self.under_way = false;
                "ended\n".to_owned()
            }
            _ => "add KEY, begin or end\n".to_owned(),
        }
    }

    async fn add(&self, key: &str) -> String {
        match self.peers.count(key).await {
            Ok((core, count)) => format!("{key} {count}, counted on core {core}\n"),
            Err(error) => format!("{key}: {error}\n"),
        }
    }
}
