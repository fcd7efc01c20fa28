//! The hosts that an executor runs in. Those of other crates are here with the feature `hosts`.

#[cfg(all(feature = "hosts", target_os = "linux"))]
use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::thread;

use clockworker::{Executor, ShutdownReport};

use crate::driving::CountingWaker;

/// What polls the executor, and sleeps when it is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// None: `Executor::block_on`, which puts the thread to sleep.
    Alone,
    /// Polls again as soon as it is woken, and looks for that without pause: parks and wakes cost it some hundred
    /// nanoseconds, so that a second has millions of them.
    Spinning,
    /// `smol::block_on`.
    #[cfg(feature = "hosts")]
    Smol,
    /// tokio, `current_thread`.
    #[cfg(feature = "hosts")]
    Tokio,
    /// monoio, on io_uring where the kernel has it.
    #[cfg(all(feature = "hosts", target_os = "linux"))]
    Monoio,
}

impl Host {
    /// All of them.
    pub const ALL: &[Host] = &[
        Host::Alone,
        Host::Spinning,
        #[cfg(feature = "hosts")]
        Host::Smol,
        #[cfg(feature = "hosts")]
        Host::Tokio,
        #[cfg(all(feature = "hosts", target_os = "linux"))]
        Host::Monoio,
    ];

    /// Runs the executor until `future` is done, on this thread.
    pub fn run<F: Future>(self, ex: &Executor, future: F) -> F::Output {
        match self {
            Host::Alone => ex.block_on(future),
            _ => self.block_on(ex.run_until(future)),
        }
    }

    /// Shuts the executor down, on this thread.
    pub fn shut_down<D: Future>(self, ex: &Executor, deadline: D) -> ShutdownReport {
        match self {
            Host::Alone => ex.block_on_shutdown(deadline),
            _ => self.block_on(ex.shutdown(deadline)),
        }
    }

    /// Polls a future until it is done, on this thread.
    pub fn block_on<F: Future>(self, run: F) -> F::Output {
        match self {
            // Without a host it takes nothing but sleep.
            Host::Alone => Executor::new().block_on(run),
            Host::Spinning => spin_on(run),
            #[cfg(feature = "hosts")]
            Host::Smol => smol::block_on(run),
            #[cfg(feature = "hosts")]
            Host::Tokio => on_tokio(run),
            #[cfg(all(feature = "hosts", target_os = "linux"))]
            Host::Monoio => on_monoio(run),
        }
    }
}

#[cfg(feature = "hosts")]
fn on_tokio<F: Future>(run: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("without I/O it asks for nothing").block_on(run)
}

#[cfg(all(feature = "hosts", target_os = "linux"))]
thread_local! {
    /// One for all runs of a thread: monoio 0.2.4 leaves some bytes behind with every runtime that ends.
    static MONOIO: RefCell<Option<Monoio>> = const { RefCell::new(None) };
}

#[cfg(all(feature = "hosts", target_os = "linux"))]
type Monoio = monoio::FusionRuntime<
    monoio::time::TimeDriver<monoio::IoUringDriver>,
    monoio::time::TimeDriver<monoio::LegacyDriver>,
>;

#[cfg(all(feature = "hosts", target_os = "linux"))]
fn on_monoio<F: Future>(run: F) -> F::Output {
    let build = || monoio::RuntimeBuilder::<monoio::FusionDriver>::new().enable_timer().build();
    let mut runtime = MONOIO.take().unwrap_or_else(|| build().expect("the kernel lets it start"));
    let output = runtime.block_on(clockworker::monoio::with_timers(run));
    MONOIO.replace(Some(runtime));
    output.expect("the runtime has timers")
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

fn spin_on<F: Future>(run: F) -> F::Output {
    let mut run = pin!(run);
    let (wakes, waker) = CountingWaker::new();
    loop {
        let before = wakes.count();
        if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        spin_until(|| wakes.count() != before);
    }
}
