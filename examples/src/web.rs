//! What the web examples share: where they listen, and when they end.

use std::error::Error;
use std::net::Ipv4Addr;

use clockworker::{Executor, Queue};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::say;

/// Runs `server` on tokio, with a queue named `requests`. Then says how many tasks the queue has had.
///
/// # Errors
///
/// If there is no runtime or no port to be had, and those of `server`.
pub fn serve<S: IntoFuture>(
    server: impl FnOnce(&Executor, TcpListener, &Queue) -> Result<S, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let rt = Builder::new_current_thread().enable_all().build()?;
    let ex = Executor::new();
    let requests = ex.new_queue("requests").share(9).create()?;
    rt.block_on(ex.run_until(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let server = server(&ex, listener, &requests)?;
        say(&format!("listening on http://{address}"))?;
        server.await;
        Ok::<_, Box<dyn Error>>(())
    }))?;
    say(&format!("{} tasks in the queue {}", requests.stats().spawned, requests.name()))?;
    Ok(())
}

/// When it is time to stop: at ctrl-c, or at once where there is no such signal.
pub async fn stop() {
    drop(tokio::signal::ctrl_c().await);
}
