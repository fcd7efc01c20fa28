//! Hosts, and what they have for their tasks.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;

use crate::support::case;

pub(crate) type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// A host of an executor.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    /// Runs the executor until the future is done, which is given to `run_until`.
    pub(crate) run: fn(Rc<Executor>, Local<()>),
    pub(crate) io: Io,
    pub(crate) timers: Timers,
}

/// What a host has for its tasks.
#[derive(Clone, Copy)]
pub(crate) struct Io {
    pub(crate) sleep: fn(Duration) -> Local<()>,
    /// A server and a client in two tasks exchange that many messages over TCP.
    pub(crate) echo: fn(u32) -> Local<()>,
}

pub(crate) const MESSAGE: [u8; 64] = *b"to and fro to and fro to and fro to and fro to and fro to and fr";

/// When a host fires timers beside an executor that is ready all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timers {
    /// Only when the executor has nothing to do.
    Idle,
    /// Another thread fires them (tokio's `multi_thread` runtime has its workers; async-io, which is under smol, whichever
    /// thread has its reactor just then), and when the operating system runs that one is nobody's promise. Or the host does,
    /// after up to 61 turns (tokio's `LocalSet`).
    Beside,
    /// The host looks at them itself, on the executor's thread, after each of its turns.
    AfterTurn,
}

/// All hosts that fire timers at least so.
pub(crate) fn hosts(at_least: Timers) -> impl Iterator<Item = &'static Host> {
    let all = [crate::on_tokio::HOSTS, crate::on_smol::HOSTS];
    #[cfg(target_os = "linux")]
    let all = [all[0], all[1], crate::on_monoio::HOSTS];
    all.into_iter().flatten().filter(move |host| host.timers >= at_least)
}

impl Host {
    pub(crate) fn play<F>(&self, ex: Executor, body: impl FnOnce(Rc<Executor>, Io) -> F)
    where
        F: Future<Output = ()> + 'static,
    {
        let ex = Rc::new(ex);
        let future = Box::pin(body(Rc::clone(&ex), self.io));
        case(self.name, || (self.run)(ex, future));
    }
}

/// An executor whose turns are of at most 16 polls.
pub(crate) fn small_turns() -> Executor {
    Executor::builder().poll_cap(16).build().unwrap()
}

/// `Io::echo` where the host's crate has the traits and streams by the names of tokio's.
macro_rules! echo_with {
    ($host:ident) => {
        async fn echo(messages: u32) {
            use $host::io::{AsyncReadExt, AsyncWriteExt};
            use $host::net::{TcpListener, TcpStream};

            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = clockworker::spawn_local(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; MESSAGE.len()];
                for _ in 0..messages {
                    stream.read_exact(&mut buffer).await.unwrap();
                    stream.write_all(&buffer).await.unwrap();
                }
            });
            let mut stream = TcpStream::connect(address).await.unwrap();
            for _ in 0..messages {
                stream.write_all(&MESSAGE).await.unwrap();
                let mut buffer = [0; MESSAGE.len()];
                stream.read_exact(&mut buffer).await.unwrap();
                assert_eq!(buffer, MESSAGE);
            }
            server.await.unwrap();
        }
    };
}

pub(crate) use echo_with;
