//! The tenants' clients, all on one thread: each has a connection, sends a request and waits for the answer.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::tenant::Tenant;

/// When a client is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Time(Duration),
    Requests(u64),
}

/// How long the answers to each tenant's requests took, in milliseconds.
pub(crate) fn run(address: SocketAddr, tenants: &[Tenant], limit: Limit) -> io::Result<Vec<Vec<f64>>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    rt.block_on(async {
        let mut clients = JoinSet::new();
        for (number, tenant) in tenants.iter().enumerate() {
            for _ in 0..tenant.connections {
                let mut stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                stream.write_u8(number as u8).await?;
                let pause = tenant.pause;
                clients.spawn(async move { (number, client(stream, pause, limit).await) });
            }
        }
        let mut latencies = vec![Vec::new(); tenants.len()];
        while let Some(client) = clients.join_next().await {
            let (number, of_client) = client?;
            latencies[number].extend(of_client?);
        }
        Ok(latencies)
    })
}

/// One connection, until the limit.
#[allow(clippy::disallowed_methods, reason = "this measures")]
async fn client(
    mut stream: TcpStream,
    pause: Option<(Duration, Duration)>,
    limit: Limit,
) -> io::Result<Vec<f64>> {
    let start = Instant::now();
    let mut latencies = Vec::new();
    loop {
        let is_over = match limit {
            Limit::Time(time) => start.elapsed() >= time,
            Limit::Requests(requests) => latencies.len() as u64 >= requests,
        };
        if is_over {
            return Ok(latencies);
        }
        if let Some((shortest, longest)) = pause {
            // Pauses of all lengths, one after the other.
            let step = (longest - shortest) / 9;
            sleep(shortest + step * (latencies.len() as u32 * 7 % 10)).await;
        }
        let asked = Instant::now();
        stream.write_u8(0).await?;
        stream.read_u8().await?;
        latencies.push(asked.elapsed().as_secs_f64() * 1e3);
    }
}
