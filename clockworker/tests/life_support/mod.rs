//! What the lifecycle tests share: a host that counts its wakes, a task that says what happened to it, a log of drops.
//!
//! Nothing here sleeps or reads a clock. Threads are synchronised by channels, barriers and joins.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod hooked_waker;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::env;
use std::future::{Future, pending};
use std::panic;
use std::pin::{Pin, pin};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

use clockworker::{Executor, ExecutorStats, JoinError, JoinHandle, ManualClock};

/// A waker that counts how often it was woken.
#[derive(Debug, Default)]
pub(crate) struct CountingWaker(AtomicUsize);

impl CountingWaker {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        let waker = Waker::from(Arc::clone(&count));
        (count, waker)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a future once, with a waker that does nothing.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// An executor whose time stands still: a turn of the host ends when nothing is ready or at the poll cap, and not because
/// the machine was slow or busy.
pub(crate) fn untimed() -> Executor {
    Executor::builder().clock(ManualClock::new()).build().unwrap()
}

/// One tick: the host polls the executor once.
pub(crate) fn tick(ex: &Executor) {
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Runs the executor as a host does, that polls it again only when it was woken, until it is not woken any more.
pub(crate) fn settle(ex: &Executor) {
    let mut run = pin!(ex.run_until(pending::<()>()));
    settle_run(run.as_mut());
}

/// As [`settle`], for a run that was made already; its output, if it gave one.
pub(crate) fn settle_run<F: Future>(mut run: Pin<&mut F>) -> Option<F::Output> {
    let (wakes, waker) = CountingWaker::new();
    for _ in 0..1_000_000 {
        let before = wakes.count();
        if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        if wakes.count() == before {
            return None;
        }
    }
    panic!("the executor has been asking its host for another poll a million times");
}

/// The output of a task that must have finished.
#[track_caller]
pub(crate) fn output<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll_once(&mut handle) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("task {} has not finished", handle.id()),
    }
}

/// A task, as a test sees it. [`future`](Probe::future) makes its future, which is pending until it is told otherwise.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) polls: Cell<u32>,
    pub(crate) drops: Cell<u32>,
    pub(crate) waker: RefCell<Option<Waker>>,
    pub(crate) finish: Cell<bool>,
}

impl Probe {
    pub(crate) fn new() -> Rc<Self> {
        Rc::default()
    }

    /// Gives the number of its polls, once it may finish.
    pub(crate) fn future(self: &Rc<Self>) -> ProbeFuture {
        ProbeFuture(Rc::clone(self))
    }

    /// A clone of the waker that its last poll was given.
    #[track_caller]
    pub(crate) fn waker(&self) -> Waker {
        self.waker.borrow().clone().expect("the task was polled")
    }

    /// Lets it finish at its next poll, and wakes it.
    pub(crate) fn finish(&self) {
        self.finish.set(true);
        self.waker().wake();
    }
}

#[derive(Debug)]
pub(crate) struct ProbeFuture(Rc<Probe>);

impl Future for ProbeFuture {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        let probe = &self.0;
        probe.polls.set(probe.polls.get() + 1);
        let old = probe.waker.replace(Some(cx.waker().clone()));
        drop(old);
        if probe.finish.get() { Poll::Ready(probe.polls.get()) } else { Poll::Pending }
    }
}

impl Drop for ProbeFuture {
    fn drop(&mut self) {
        self.0.drops.set(self.0.drops.get() + 1);
    }
}

/// Runs a closure when dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(crate) fn new(then: F) -> Self {
        Self(Some(then))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

/// A future that is pending for good and holds a value, which goes when it is dropped.
pub(crate) async fn hold<T>(value: T) {
    let _value = value;
    pending::<()>().await;
}

/// Which threads dropped things.
#[derive(Clone, Debug, Default)]
pub(crate) struct DropLog(Arc<Mutex<Vec<ThreadId>>>);

impl DropLog {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Something whose drop is logged. Not `Send`.
    pub(crate) fn local(&self) -> (LoggedDrop, Rc<()>) {
        (LoggedDrop(self.clone()), Rc::new(()))
    }

    /// Something whose drop is logged.
    pub(crate) fn item(&self) -> LoggedDrop {
        LoggedDrop(self.clone())
    }

    fn threads(&self) -> Vec<ThreadId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.threads().len()
    }

    /// There were `n` drops, and this thread did them all.
    #[track_caller]
    pub(crate) fn assert_here(&self, n: usize) {
        assert_eq!(self.threads(), vec![thread::current().id(); n]);
    }
}

#[derive(Debug)]
pub(crate) struct LoggedDrop(DropLog);

impl LoggedDrop {
    /// The log that it will be noted in.
    pub(crate) fn clone_log(&self) -> DropLog {
        self.0.clone()
    }
}

impl Drop for LoggedDrop {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(thread::current().id());
    }
}

/// Begins the message of each panic that a test means to happen.
pub(crate) const MEANT: &str = "meant: ";

/// Panics as the test means to.
#[track_caller]
pub(crate) fn panic_as_meant(why: &str) -> ! {
    panic!("{MEANT}{why}");
}

/// Keeps the panics that are meant out of the output. Others are shown as ever.
pub(crate) fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let meant = text_of(info.payload()).is_some_and(|text| text.starts_with(MEANT));
            if !meant && !QUIET.get() {
                shown(info);
            }
        }));
    });
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps all panics of this thread out of the output meanwhile, for those that are the executor's own.
pub(crate) fn quietly<T>(then: impl FnOnce() -> T) -> T {
    hush();
    QUIET.set(true);
    let result = panic::catch_unwind(panic::AssertUnwindSafe(then));
    QUIET.set(false);
    result.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// What a panic that was meant said, without the mark.
#[track_caller]
pub(crate) fn said(payload: Box<dyn Any + Send>) -> String {
    let text = text_of(&*payload).expect("a payload of text");
    text.strip_prefix(MEANT).unwrap_or(text).to_owned()
}

/// What the panic of a task said.
#[track_caller]
pub(crate) fn panic_of<T>(result: Result<T, JoinError>) -> String {
    match result {
        Ok(_) => panic!("the task gave an output"),
        Err(error) => said(error.into_panic()),
    }
}

/// The books balance, and say: completed, cancelled, panicked.
#[track_caller]
pub(crate) fn assert_finished(stats: &ExecutorStats, completed: u64, cancelled: u64, panicked: u64) {
    assert_eq!((stats.completed, stats.cancelled, stats.panicked), (completed, cancelled, panicked));
    assert_balanced(stats);
}

/// Every task spawned has finished in one way or is live.
#[track_caller]
pub(crate) fn assert_balanced(stats: &ExecutorStats) {
    let ExecutorStats { spawned, completed, cancelled, panicked, live, .. } = *stats;
    assert_eq!(spawned, completed + cancelled + panicked + live as u64, "{stats:?}");
}

/// Runs a test's body in a process of its own, where it is alone: for faults that abort the process, and for forks.
pub(crate) fn in_child(test: &str, body: impl FnOnce()) {
    const CHILD: &str = "CLOCKWORKER_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}

/// Random numbers, the same in each run (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}
