//! The service: a byte says whose a connection is, and each byte after that is a request, which is answered by a byte.

use std::cell::Cell;
use std::hint::black_box;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot::Receiver;

use crate::runner::Spawner;

/// What a request costs: so many polls, each as long as this.
const CHUNKS: u32 = 5;
const CHUNK: Duration = Duration::from_micros(20);

pub(crate) struct Service {
    spawner: Spawner,
    /// What has been worked for each tenant.
    worked: Vec<Cell<Duration>>,
}

impl Service {
    pub(crate) fn new(spawner: Spawner, tenants: usize) -> Self {
        Self { spawner, worked: vec![Cell::default(); tenants] }
    }

    /// The part of all work that was a tenant's.
    pub(crate) fn share(&self, tenant: usize) -> f64 {
        let all: Duration = self.worked.iter().map(Cell::get).sum();
        self.worked[tenant].get().as_secs_f64() / all.as_secs_f64()
    }

    /// Serves until the clients are done.
    pub(crate) async fn serve(self: Rc<Self>, listener: TcpListener, done: Receiver<()>) -> io::Result<()> {
        tokio::select! {
            failed = self.accept(listener) => failed,
            _ = done => Ok(()),
        }
    }

    async fn accept(self: &Rc<Self>, listener: TcpListener) -> io::Result<()> {
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let tenant = usize::from(stream.read_u8().await?);
            if tenant < self.worked.len() {
                let connection = self.clone().connection(stream, tenant);
                // A connection that breaks has been closed by its client.
                self.spawner.spawn(tenant, async { drop(connection.await) });
            }
        }
    }

    async fn connection(self: Rc<Self>, mut stream: TcpStream, tenant: usize) -> io::Result<()> {
        loop {
            let request = stream.read_u8().await?;
            for chunk in 0..CHUNKS {
                if chunk > 0 {
                    clockworker::yield_now().await;
                }
                let worked = &self.worked[tenant];
                worked.set(worked.get() + work());
            }
            stream.write_u8(request).await?;
        }
    }
}

/// Works for that long, and says how long it was.
#[allow(clippy::disallowed_methods, reason = "it stands for work")]
fn work() -> Duration {
    let start = Instant::now();
    while start.elapsed() < CHUNK {
        for x in 0..100_u64 {
            black_box(x.wrapping_mul(x));
        }
    }
    start.elapsed()
}
