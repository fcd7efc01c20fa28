//! What the web examples share: where they listen, and when they end. (`http_service` ends with grace.)

use std::error::Error;
use std::net::Ipv4Addr;

use clockworker::{Executor, Queue};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::say;

/// Runs `server` in a queue named `requests`, on tokio, until ctrl-c. Then says how many tasks the queue has had.
///
/// # Errors
///
/// If there is no runtime, no port or no signal handler to be had.
pub fn serve<S>(server: impl FnOnce(TcpListener, Queue) -> S) -> Result<(), Box<dyn Error>>
where
    S: Future + 'static,
{
    let rt = Builder::new_current_thread().enable_all().build()?;
    let ex = Executor::new();
    let requests = ex.new_queue("requests").share(9).create()?;
    rt.block_on(ex.run_until(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        say(&format!("listening on http://{}", listener.local_addr()?))?;
        requests.spawn(server(listener, requests.clone()));
        tokio::signal::ctrl_c().await
    }))?;
    say(&format!("{} tasks in the queue {}", requests.stats().spawned, requests.name()))?;
    Ok(())
}
