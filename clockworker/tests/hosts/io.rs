//! What a host has for its tasks.

use std::future::Future;
use std::time::Duration;

/// What a host has for its tasks.
pub(crate) trait Io: 'static {
    fn sleep(time: Duration) -> impl Future<Output = ()> + 'static;
    /// A server and a client in two tasks exchange that many messages over TCP.
    fn echo(messages: u32) -> impl Future<Output = ()> + 'static;
}

pub(crate) const MESSAGE: [u8; 64] = *b"to and fro to and fro to and fro to and fro to and fro to and fr";
