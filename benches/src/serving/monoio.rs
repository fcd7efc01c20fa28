//! monoio as a server's host.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use clockworker::Executor;
use clockworker::monoio::with_timers;
use monoio::net::TcpListener;
use monoio::{FusionDriver, RuntimeBuilder};

use super::server::{ADDRESS, World};
use crate::arms::monoio::driver;

pub(crate) fn block_on(main: impl Future<Output = io::Result<Infallible>>) -> io::Result<Infallible> {
    RuntimeBuilder::<FusionDriver>::new().enable_timer().build()?.block_on(main)
}

/// Runs `main` on an executor inside monoio, which beside a `busy` one does all of its work only with timers.
pub(crate) fn on_executor(
    executor: &Executor,
    busy: bool,
    main: impl Future<Output = io::Result<Infallible>>,
) -> io::Result<Infallible> {
    let mut host = RuntimeBuilder::<FusionDriver>::new().enable_timer().build()?;
    let run = executor.run_until(main);
    if busy { host.block_on(with_timers(run))? } else { host.block_on(run) }
}

pub(crate) fn listen<S>(world: &World<S>) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ADDRESS)?;
    world.listens(listener.local_addr()?, driver())?;
    Ok(listener)
}
