//! The hosts that an executor runs in here.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use clockworker::{Executor, ShutdownReport};

use crate::failure::Failure;

/// What polls the executor, and sleeps when it is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// None: `Executor::block_on`, which puts the thread to sleep.
    Alone,
    /// Polls again as soon as it is woken, and looks for that without pause: parks and wakes cost it some hundred
    /// nanoseconds, so that a second has millions of them.
    Spinning,
    /// `smol::block_on`.
    Smol,
    /// tokio, `current_thread`.
    Tokio,
    /// monoio, on io_uring where the kernel has it.
    #[cfg(target_os = "linux")]
    Monoio,
}

impl Host {
    /// All of them.
    pub const ALL: &[Host] = &[
        Host::Alone,
        Host::Spinning,
        Host::Smol,
        Host::Tokio,
        #[cfg(target_os = "linux")]
        Host::Monoio,
    ];

    /// Runs the executor until `future` is done, on this thread.
    pub fn run<F: Future>(self, ex: &Executor, future: F) -> Result<F::Output, Failure> {
        match self {
            Host::Alone => Ok(ex.block_on(future)),
            _ => self.block_on(ex.run_until(future)),
        }
    }

    /// Shuts the executor down, on this thread.
    pub fn shut_down<D: Future>(self, ex: &Executor, deadline: D) -> Result<ShutdownReport, Failure> {
        match self {
            Host::Alone => Ok(ex.block_on_shutdown(deadline)),
            _ => self.block_on(ex.shutdown(deadline)),
        }
    }

    /// Polls a future until it is done, on this thread.
    pub fn block_on<F: Future>(self, run: F) -> Result<F::Output, Failure> {
        match self {
            // Who has no host needs nothing but sleep.
            Host::Alone => Ok(Executor::new().block_on(run)),
            Host::Spinning => Ok(spin_on(run)),
            Host::Smol => Ok(smol::block_on(run)),
            Host::Tokio => on_tokio(run),
            #[cfg(target_os = "linux")]
            Host::Monoio => on_monoio(run),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Host::Alone => "no host",
            Host::Spinning => "a spinning host",
            Host::Smol => "smol",
            Host::Tokio => "tokio",
            #[cfg(target_os = "linux")]
            Host::Monoio => "monoio",
        })
    }
}

thread_local! {
    /// One for all runs of a thread, as it takes longer to make than most runs here take.
    static TOKIO: RefCell<Option<tokio::runtime::Runtime>> = const { RefCell::new(None) };
}

fn on_tokio<F: Future>(run: F) -> Result<F::Output, Failure> {
    let build = || tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = match TOKIO.take() {
        Some(runtime) => runtime,
        None => build().map_err(|error| Failure::run(format!("tokio does not start: {error}")))?,
    };
    let output = runtime.block_on(run);
    TOKIO.replace(Some(runtime));
    Ok(output)
}

#[cfg(target_os = "linux")]
thread_local! {
    /// One for all runs of a thread: monoio 0.2.4 leaves some bytes behind with every runtime that ends.
    static MONOIO: RefCell<Option<Monoio>> = const { RefCell::new(None) };
}

#[cfg(target_os = "linux")]
type Monoio = monoio::FusionRuntime<
    monoio::time::TimeDriver<monoio::IoUringDriver>,
    monoio::time::TimeDriver<monoio::LegacyDriver>,
>;

#[cfg(target_os = "linux")]
fn on_monoio<F: Future>(run: F) -> Result<F::Output, Failure> {
    let build = || monoio::RuntimeBuilder::<monoio::FusionDriver>::new().enable_timer().build();
    let mut runtime = match MONOIO.take() {
        Some(runtime) => runtime,
        None => build().map_err(|error| Failure::run(format!("monoio does not start: {error}")))?,
    };
    let output = runtime.block_on(clockworker::monoio::with_timers(run));
    MONOIO.replace(Some(runtime));
    output.map_err(|error| Failure::run(format!("monoio cannot make sockets: {error}")))
}

/// Repeats until `done`, and lets others have the processor if that takes long.
pub fn spin_until(mut done: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while !done() {
        looks += 1;
        if looks < 500 {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordering: Release pairs with the Acquire in `spin_on`.
        self.0.store(true, Ordering::Release);
    }
}

fn spin_on<F: Future>(run: F) -> F::Output {
    let mut run = pin!(run);
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&flag));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = run.as_mut().poll(&mut cx) {
            return output;
        }
        // Ordering: Acquire pairs with the Release of the wake.
        spin_until(|| flag.0.swap(false, Ordering::Acquire));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_runs_an_executor_that_another_thread_wakes() {
        for &host in Host::ALL {
            let ex = Executor::new();
            let (send, receive) = tokio::sync::oneshot::channel();
            let task = ex.spawn(receive);
            let sends = thread::spawn(move || send.send(7));
            assert_eq!(host.run(&ex, task).unwrap().unwrap(), Ok(7), "{host}");
            sends.join().unwrap().unwrap();
        }
    }
}
