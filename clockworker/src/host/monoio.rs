//! monoio as a host: lets monoio do all of its work beside a busy executor, not only serve its sockets.
//!
//! # What monoio 0.2.4 does
//!
//! Its run loop (`Runtime::block_on`) runs the tasks in its queue, polls the main future if it was woken, and then looks
//! at the queue. Only if that is *empty* does it `park`: submit what is to be submitted, wait for an event, fire the
//! timers that are due, and, on io_uring, take the wakes from other threads. If it is not empty it only `submit`s, which
//! serves the sockets, and goes on. And a task that wakes itself while it is polled goes to the *front* of the queue.
//!
//! So beside a task that wakes itself at every poll, as an executor with work left does, no timer fires (monoio issue 370)
//! and monoio polls no other task of that runtime. (Without monoio's feature `sync` the main future is no task, and is polled
//! on and on while it wakes itself: then sockets are not served either.)
//!
//! [`with_timers`] empties the queue after each of the executor's turns.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;

use futures_util::future;
use monoio::io::{AsyncReadRent, AsyncWriteRent};
use monoio::net::UnixStream;

use crate::host::gate::{GatePoll, GatePoller};
use crate::sync::{Arc, waker_of};

/// Runs `future`, an executor's [`run_until`](crate::Executor::run_until) or
/// [`shutdown`](crate::Executor::shutdown), so that monoio fires its timers and runs its own tasks although the executor
/// always has work.
///
/// monoio 0.2.4 serves its sockets beside a future that is always ready, but nothing else: no timer fires (monoio issue
/// 370), and no other task of the runtime is polled. Around `future` this makes monoio do all of its work after each turn
/// of the executor, so after [`host_budget`](crate::Builder::host_budget). A timer is then late by no more than a turn,
/// beside what monoio rounds up to (whole milliseconds).
///
/// An executor that is idle every few milliseconds does not need this: monoio does its work then.
///
/// # Cost
///
/// Per run: two file descriptors and some allocations. Per turn of an executor with work left: a byte through a pair of
/// sockets, without allocating. Nothing when the executor is idle.
///
/// # Errors
///
/// If the sockets cannot be made, before `future` is polled for the first time: as a rule because the process may not open
/// more files. Without them timers would be late without end, and silently. (An error while they are used, which would take a
/// broken driver, is passed on too; `future` is then dropped as below.)
///
/// # Cancel safety
///
/// Dropping it drops `future` (a dropped run drops no task, see [`run_until`](crate::Executor::run_until)) and closes the
/// sockets. Drop it inside the runtime, as all that is monoio's.
///
/// # Panics
///
/// When polled outside monoio. A panic of `future` is passed on.
///
/// # Limits
///
/// Where other tasks of the same monoio runtime are always ready, monoio fires no timers, whatever `with_timers` does. And a
/// task that wakes itself at every poll keeps monoio from all others, this one included.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut rt = monoio::RuntimeBuilder::<monoio::FusionDriver>::new().enable_timer().build()?;
/// let ex = Executor::new();
/// let busy = ex.spawn(async {
///     loop {
///         clockworker::yield_now().await;
///     }
/// });
/// let run = ex.run_until(async {
///     monoio::time::sleep(Duration::from_millis(5)).await; // fires, although `busy` is always ready
///     busy.abort();
/// });
/// rt.block_on(clockworker::monoio::with_timers(run))?;
/// # Ok(())
/// # }
/// ```
pub async fn with_timers<F: Future>(future: F) -> io::Result<F::Output> {
    let mut detour = Detour::new()?;
    let mut future = pin!(future);
    let mut poller = GatePoller::new();
    let waker = waker_of(Arc::clone(&poller.gate));
    loop {
        let turn = poll_fn(|cx| {
            poller.register(cx.waker());
            poller.gate.poll(future.as_mut(), &waker)
        });
        match turn.await {
            GatePoll::Done(output) => return Ok(output),
            GatePoll::WorkLeft => detour.pass().await?,
        }
    }
}

/// A way through monoio's driver: waits for something that happens at once, a byte through a pair of sockets.
///
/// The gate keeps the executor's wakes of itself from monoio, whose queue is therefore empty meanwhile: so monoio parks, and
/// does all its work. What speaks against other ways:
///
/// * A wake from another thread wakes a parked monoio too, but takes a second thread.
/// * A timer that is due already (`sleep_until` a moment ago) needs no sockets, and makes monoio park without waiting.
///   But it panics where `enable_timer` was not called, and where other tasks of monoio keep it from parking it would
///   stop the executor. The byte arrives there too, as monoio serves sockets whether it parks or not.
/// * A read at the end of a stream would do on io_uring: one operation instead of two, and half the time. But the legacy
///   driver does not wait for it: what is known to be readable it reads on the spot. Files it does not wait for either.
/// * Only once in a millisecond, which is as fine as monoio's timers are: gains less than 0.5 % of the time. monoio's
///   other tasks would wait as long, and a clock would have to be read.
/// * To wake itself at the back of monoio's queue, as other runtimes' `yield_now` does: the queue would not be empty.
struct Detour {
    here: UnixStream,
    there: UnixStream,
    /// monoio takes buffers by value: the same one goes round. None only on the way.
    buffer: Option<Box<[u8]>>,
}

impl Detour {
    fn new() -> io::Result<Self> {
        let (here, there) = UnixStream::pair()?;
        Ok(Self { here, there, buffer: Some(Box::new([0])) })
    }

    /// Resolves once the driver has been at work.
    async fn pass(&mut self) -> io::Result<()> {
        let buffer = self.buffer.take().unwrap_or_else(|| Box::new([0]));
        // io_uring does operations in the order in which they are made: the byte is there when it is to be read, which saves
        // waiting for it.
        let write = self.here.write(&[0_u8]);
        let read = self.there.read(buffer);
        // The legacy driver does operations when they are polled. The read must find nothing, as only then is there an event
        // to wait for.
        let ((read, buffer), (written, _)) = future::join(read, write).await;
        self.buffer = Some(buffer);
        match (read?, written?) {
            (1, 1) => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
