//! Inside monoio, where the kernel has an io_uring for us on that too: containers often forbid it.

use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use monoio::time::TimeDriver;
use monoio::{IoUringDriver, LegacyDriver, Runtime, RuntimeBuilder};

use crate::host::{Host, Io, MESSAGE, Timers};

async fn echo(messages: u32) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = clockworker::spawn_local(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; MESSAGE.len()];
        for _ in 0..messages {
            let (result, read) = stream.read_exact(buffer).await;
            result.unwrap();
            let (result, written) = stream.write_all(read).await;
            result.unwrap();
            buffer = written;
        }
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..messages {
        let (result, _) = stream.write_all(MESSAGE.to_vec()).await;
        result.unwrap();
        let (result, answer) = stream.read_exact(vec![0; MESSAGE.len()]).await;
        result.unwrap();
        assert_eq!(answer, MESSAGE);
    }
    server.await.unwrap();
}

const IO: Io =
    Io { sleep: |time| Box::pin(monoio::time::sleep(time)), echo: |messages| Box::pin(echo(messages)) };

fn legacy() -> Runtime<TimeDriver<LegacyDriver>> {
    RuntimeBuilder::<LegacyDriver>::new().enable_timer().build().unwrap()
}

fn io_uring() -> Option<Runtime<TimeDriver<IoUringDriver>>> {
    let build = || RuntimeBuilder::<IoUringDriver>::new().enable_timer().build().unwrap();
    monoio::utils::detect_uring().then(build)
}

/// As it comes: beside a busy executor monoio serves its sockets, but fires no timers (monoio issue 370).
pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "monoio, legacy",
        run: |ex, future| legacy().block_on(ex.run_until(future)),
        io: IO,
        timers: Timers::Idle,
    },
    Host {
        name: "monoio, io_uring",
        run: |ex, future| {
            if let Some(mut host) = io_uring() {
                host.block_on(ex.run_until(future));
            }
        },
        io: IO,
        timers: Timers::Idle,
    },
    #[cfg(feature = "monoio")]
    Host {
        name: "monoio, legacy, with timers",
        run: |ex, future| legacy().block_on(clockworker::monoio::with_timers(ex.run_until(future))).unwrap(),
        io: IO,
        timers: Timers::AfterTurn,
    },
    #[cfg(feature = "monoio")]
    Host {
        name: "monoio, io_uring, with timers",
        run: |ex, future| {
            if let Some(mut host) = io_uring() {
                host.block_on(clockworker::monoio::with_timers(ex.run_until(future))).unwrap();
            }
        },
        io: IO,
        timers: Timers::AfterTurn,
    },
];
