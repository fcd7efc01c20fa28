//! The host's side: `run_until` as a future, when to go back to the host, and how to wait without one.
//!
//! The executor runs inside the host's poll of [`RunUntil`]. It goes back to the host
//!
//! * when nothing is runnable: it parks the [inbox](crate::inbox) and returns `Pending`; the next wake, from wherever it
//!   comes, wakes the host once;
//! * when the host must run (its time budget is up, or there were as many polls as may be): it wakes the host itself and
//!   returns `Pending`, so the host does its I/O and polls again.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use crate::context;
use crate::core::{Account, Core};
use crate::host_waker::HostWaker;
use crate::slice::{self, SliceEnd};
use crate::sync::{Arc, AtomicBool, Signal, Thread, impl_wake, thread, waker_of};
use crate::task::{Id, SharedRef};

/// Runs an executor's tasks until a future is done. From [`Executor::run_until`](crate::Executor::run_until).
#[must_use = "futures do nothing unless polled"]
pub struct RunUntil<'a, F> {
    core: &'a Rc<Core>,
    /// None once done.
    future: Option<Pin<Box<F>>>,
    /// None until the first poll, and once done.
    claim: Option<Claim<'a>>,
}

impl<'a, F: Future> RunUntil<'a, F> {
    pub(crate) fn new(core: &'a Rc<Core>, future: F) -> Self {
        Self { core, future: Some(Box::pin(future)), claim: None }
    }

    /// Claims the executor before the first poll does.
    #[track_caller]
    pub(crate) fn claim(&mut self) {
        Claim::take(self.core, &mut self.claim);
    }
}

/// One turn on the host's thread: until `poll_main` is ready, nothing is left to do, or the host must run.
///
/// `poll_main` polls the future being run, if it was woken. It is asked often.
pub(crate) fn turn<T>(core: &Core, host: &HostWaker, mut poll_main: impl FnMut() -> Poll<T>) -> Poll<T> {
    let _turn = Turn::begin(core);
    // The last turn went by in admission: now it is the tasks' turn.
    let mut slice_first = core.owes_slice.take();
    loop {
        if core.main_waits_for.get() == 0
            && let Poll::Ready(output) = poll_main()
        {
            core.watch();
            return Poll::Ready(output);
        }
        if core.has_arrivals() && !std::mem::take(&mut slice_first) {
            let all = core.admit_between_slices();
            if core.has_failed() {
                return Poll::Pending;
            }
            if !all && core.is_host_due() {
                core.owes_slice.set(true);
                core.yield_to_host(host);
                return Poll::Pending;
            }
        }
        let end = core.run_slice();
        if end.is_none() {
            if core.has_arrivals() {
                // What was dropped at admission woke a task, or more has come from other threads, and there may be no end of
                // it.
                core.meter.read();
                if core.is_host_due() {
                    core.yield_to_host(host);
                    return Poll::Pending;
                }
                continue;
            }
            // There is no task to wait for.
            core.main_waits_for.set(0);
        }
        match end {
            // The future being run woke itself, and no task is ready.
            None if core.main.is_woken() => {
                if core.is_host_due() {
                    core.yield_to_host(host);
                    return Poll::Pending;
                }
                // Where a clock stands still.
                core.polls_left.set(core.polls_left.get().saturating_sub(1));
            }
            None if park(core, host) => return Poll::Pending,
            // Whoever asked for this turn looks, and panics.
            Some(_) if core.has_failed() => return Poll::Pending,
            Some(SliceEnd::HostBudget | SliceEnd::PollCap) => {
                core.yield_to_host(host);
                return Poll::Pending;
            }
            Some(_) if core.is_host_due() => {
                core.yield_to_host(host);
                return Poll::Pending;
            }
            None | Some(_) => {}
        }
    }
}

/// Polls the future being run, in a turn and between slices.
pub(crate) fn poll_in_turn<T>(
    core: &Core,
    waker: &Waker,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    Id::make_current(core.outer_task.get());
    core.end_visit();
    core.meter.begin(Account::Main);
    let polled = poll(&mut Context::from_waker(waker));
    // It woke itself, to let others run: it is to be their turn, then.
    let yielded = core.main.is_woken();
    core.main_waits_for.set(if yielded { slice::MAIN_PATIENCE } else { 0 });
    core.meter.end_main(yielded);
    if core.budget.is_spent() {
        // It was cut short, and takes turns with the tasks.
        core.budget.renew(0);
        waker.wake_by_ref();
    }
    polled
}

/// A turn under way.
struct Turn<'a>(&'a Core);

impl<'a> Turn<'a> {
    fn begin(core: &'a Core) -> Self {
        core.begin_turn();
        core.budget.keep();
        // The executor may be run inside a task of another one.
        core.outer_task.set(Id::current());
        Turn(core)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        Id::make_current(self.0.outer_task.get());
        self.0.budget.give_back();
        self.0.end_turn();
    }
}

/// Arranges for the host to be woken. False if something has come meanwhile.
#[inline]
fn park(core: &Core, host: &HostWaker) -> bool {
    let inbox = &core.shared.inbox;
    if !inbox.park(host) {
        return false;
    }
    if core.main.is_woken_by_now() {
        inbox.unpark();
        return false;
    }
    true
}

const FAILED: &str = "a spawned task panicked and the executor is configured to shut down on unhandled panic";

const ALREADY_DRIVEN: &str = "this executor is being run already: `run_until`, `block_on` and `shutdown` cannot be used \
     inside one of its own tasks, or while another of them is under way (await a `JoinHandle` instead, or spawn)";

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { core, future, claim } = &mut *self;
        let Some(future) = future else { panic!("`RunUntil` polled after completion") };
        let Claim { host, .. } = Claim::take(core, claim);
        core.shared.inbox.unpark();
        let _entered = context::enter(core);
        let host = HostWaker::keep(host, cx.waker(), |old| core.shared.inbox.take_back(old));
        let mut is_first = true;
        let polled = turn(core, host, || match core.main.take_woken() {
            true => poll_in_turn(core, &core.main_waker, |cx| {
                let _entered = context::enter_again(core, &mut is_first);
                future.as_mut().poll(cx)
            }),
            false => Poll::Pending,
        });
        core.assert_not_failed(polled.is_ready(), FAILED);
        if polled.is_ready() {
            self.end();
        }
        polled
    }
}

impl<F> RunUntil<'_, F> {
    /// Drops the future where what it drops may spawn, and lets another driver in.
    fn end(&mut self) {
        let _claim = self.claim.take();
        let _entered = context::enter(self.core);
        self.future = None;
    }
}

impl<F> Drop for RunUntil<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The right to drive the executor, and the host it is driven in. Dropping it lets another driver in and lets go of the host,
/// also where the future's drop panics.
struct Claim<'a> {
    core: &'a Core,
    /// None until the first poll.
    host: Option<HostWaker>,
}

impl<'a> Claim<'a> {
    /// Takes it, unless it was taken already. Only one future may drive the executor at a time, in the process that it was made
    /// in.
    #[track_caller]
    fn take<'c>(core: &'a Core, claim: &'c mut Option<Self>) -> &'c mut Self {
        core.process.assert_current();
        claim.get_or_insert_with(|| {
            let taken = core.driven.replace(true);
            assert!(!taken, "{ALREADY_DRIVEN}");
            core.main.set_woken();
            core.main_waits_for.set(0);
            Claim { core, host: None }
        })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let inbox = &self.core.shared.inbox;
        inbox.unpark();
        self.core.driven.set(false);
        self.core.rouse_runs();
        if let Some(host) = self.host.take() {
            inbox.let_go(host);
        }
    }
}

impl<F> fmt::Debug for RunUntil<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunUntil").field("drives", &self.claim.is_some()).finish_non_exhaustive()
    }
}

/// The waker of the future being run: a flag, so that it is polled only when it was woken, and soon then.
///
/// An executor has one for all its runs. A waker kept from an earlier run costs the present one a poll, no more.
#[derive(Debug)]
pub(crate) struct MainWaker {
    woken: AtomicBool,
    shared: SharedRef,
}

impl MainWaker {
    pub(crate) fn new(shared: &SharedRef) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::new(false), shared: shared.clone() })
    }

    /// Whether a host of this executor may be woken from here: not from a child process, where wakers are copies.
    #[cfg(feature = "tokio")]
    pub(crate) fn host_is_here(&self) -> bool {
        self.shared.process.is_current()
    }

    /// A new future is to be polled.
    fn set_woken(&self) {
        // Ordering: Relaxed, this is the thread that looks. A read-modify-write, since a store would come between a wake by
        // a waker of an earlier run and the Acquire in `take_woken`.
        self.woken.fetch_or(true, Ordering::Relaxed);
    }

    /// Whether it was woken. It may be told late, but not for ever: parking asks [once more](MainWaker::is_woken_by_now).
    #[inline]
    pub(crate) fn is_woken(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.woken.load(Ordering::Relaxed)
    }

    /// Whether it was woken; if not, whoever wakes it from now on finds the inbox as it is now, or later.
    fn is_woken_by_now(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `signal`, for `Inbox::wake_parked_host`. A load would not do, since
        // it may miss a wake that has missed the parking.
        self.woken.fetch_or(false, Ordering::Release)
    }

    pub(crate) fn take_woken(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `signal`: what was written before the wake is seen by the poll that
        // follows. The read-modify-write is what makes that hold for coalesced wakes too.
        self.is_woken() && self.woken.swap(false, Ordering::Acquire)
    }
}

impl_wake!(MainWaker);

impl Signal for MainWaker {
    fn signal(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take_woken`. Acquire pairs with the
        // Release in `is_woken_by_now`: if that did not see this wake, then this one sees that the host is parked.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.shared.inbox.wake_parked_host();
        }
    }
}

/// Panics where this thread drives a tokio runtime. Tokio is asked to block on nothing, which it refuses there, with the reason.
#[cfg(feature = "tokio")]
#[track_caller]
pub(crate) fn assert_may_block() {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.block_on(std::future::ready(()));
    }
}

#[cfg(not(feature = "tokio"))]
pub(crate) fn assert_may_block() {}

/// Polls a future to the end on this thread, which sleeps in between.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Arc::new(Parker { woken: AtomicBool::new(false), thread: thread::current() });
    let waker = waker_of(Arc::clone(&parker));
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.wait();
    }
}

/// Puts a thread to sleep until it is woken.
struct Parker {
    woken: AtomicBool,
    thread: Thread,
}

impl Parker {
    fn wait(&self) {
        // Ordering: Acquire pairs with the Release in `signal`.
        while !self.woken.swap(false, Ordering::Acquire) {
            // May return for no reason, hence the loop.
            thread::park();
        }
    }
}

impl_wake!(Parker);

impl Signal for Parker {
    fn signal(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `wait`. `unpark` gives its token
        // after the flag, so a wait that misses the flag finds the token.
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}
