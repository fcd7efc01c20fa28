//! A host whose clock moves only when a task works, when the host is busy itself, or when all wait.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use clockworker::{Builder, Executor, ManualClock};

use crate::driving::CountingWaker;

/// What is to be done at a time. It may wake tasks; it must not set alarms.
type Alarm = Box<dyn FnOnce()>;

/// A host budget that never ends a turn.
pub const NEVER: Duration = Duration::from_secs(1_000_000_000);

/// A clock, alarms and a host, all virtual. Clones share one time, which begins at zero.
#[derive(Clone, Default)]
pub struct VirtualTime {
    clock: ManualClock,
    alarms: Rc<RefCell<BTreeMap<(Duration, u64), Alarm>>>,
    set_so_far: Rc<Cell<u64>>,
}

const HANGS: &str = "no task is ready, and no alarm is set: this would hang";

impl VirtualTime {
    /// At zero, without alarms.
    pub fn new() -> Self {
        Self::default()
    }

    /// The clock, for an executor.
    pub fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    /// What time it is.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// An executor on this clock whose host never interrupts it.
    pub fn builder(&self) -> Builder {
        Executor::builder().clock(self.clock()).host_budget(NEVER).poll_cap(u32::MAX)
    }

    /// Sets an alarm: has something done at a time, or at the next occasion if that has passed.
    pub fn at(&self, time: Duration, alarm: impl FnOnce() + 'static) {
        let number = self.number();
        self.alarms.borrow_mut().insert((time, number), Box::new(alarm));
    }

    fn number(&self) -> u64 {
        self.set_so_far.replace(self.set_so_far.get() + 1)
    }

    /// Ready once the clock has come to `deadline`.
    pub fn sleep_until(&self, deadline: Duration) -> impl Future<Output = ()> + use<> {
        let (time, number) = (self.clone(), self.number());
        poll_fn(move |cx| {
            if time.now() >= deadline {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let old = time.alarms.borrow_mut().insert((deadline, number), Box::new(move || waker.wake()));
            drop(old);
            Poll::Pending
        })
    }

    /// Ready once that much time has passed from now on.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + use<> {
        self.sleep_until(self.now() + time)
    }

    /// The calling task computes for that long; alarms that become due meanwhile go off at the end of it.
    pub fn work(&self, time: Duration) {
        self.clock.advance(time);
        while self.go_off(self.now()) {}
    }

    /// Lets time pass; each alarm goes off at its time, as another thread would have it.
    pub fn pass(&self, time: Duration) {
        let end = self.now().saturating_add(time);
        while self.go_off(end) {}
        self.clock.set(end);
    }

    /// The first alarm goes off, if it is due by `end`. The clock moves on to its time.
    fn go_off(&self, end: Duration) -> bool {
        let first = match self.alarms.borrow_mut().first_entry() {
            Some(first) if first.key().0 <= end => first.remove_entry(),
            _ => return false,
        };
        let ((due, _), alarm) = first;
        self.clock.set(due.max(self.now()));
        alarm();
        true
    }

    /// Runs the executor until `main` is done. Polls it only when it was woken; when it was not, everything waits for an
    /// alarm, so the clock moves to the first.
    ///
    /// # Panics
    ///
    /// If it would hang, or a task panics.
    pub fn run<F: Future>(&self, ex: &Executor, main: F) -> F::Output {
        self.run_quietly(ex, main).expect(HANGS)
    }

    /// Runs the executor until no task is ready and no alarm is set. Its `run_until` has nothing to do meanwhile.
    ///
    /// # Panics
    ///
    /// If a task panics.
    pub fn drain(&self, ex: &Executor) {
        let _never: Option<()> = self.run_quietly(ex, pending());
    }

    /// None if it would hang.
    fn run_quietly<F: Future>(&self, ex: &Executor, main: F) -> Option<F::Output> {
        let before = ex.stats().panicked;
        // A failed assertion in a task is a panic that its join handle gets, which is often not read.
        let check = || assert_eq!(ex.stats().panicked, before, "a task panicked, see above");
        let output = self.poll_when_woken(pin!(ex.run_until(main)), || false, check);
        check();
        output
    }

    /// Drives an executor until `is_done`, which is asked between its turns. After each turn that leaves work behind the
    /// host is busy for as long as `host_takes` says.
    ///
    /// # Panics
    ///
    /// If it would hang.
    pub fn drive(&self, ex: &Executor, is_done: impl Fn() -> bool, mut host_takes: impl FnMut() -> Duration) {
        let run = pin!(ex.run_until(pending()));
        let _never: Option<()> = self.poll_when_woken(run, &is_done, || self.pass(host_takes()));
        assert!(is_done(), "{HANGS}");
    }

    /// `left_work` is called after each poll in which the run was woken. None if `is_done` ended it,
    /// or if it would hang.
    fn poll_when_woken<F: Future>(
        &self,
        mut run: Pin<&mut F>,
        is_done: impl Fn() -> bool,
        mut left_work: impl FnMut(),
    ) -> Option<F::Output> {
        let (wakes, waker) = CountingWaker::new();
        let mut seen = None;
        while !is_done() {
            let now = wakes.count();
            if seen.replace(now) == Some(now) {
                self.wait_for_alarm()?;
                continue;
            }
            if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(output);
            }
            if wakes.count() != now {
                left_work();
            }
        }
        None
    }

    /// All alarms of the first time go off. None if there is none.
    fn wait_for_alarm(&self) -> Option<()> {
        let first = self.alarms.borrow().keys().next().map(|&(due, _)| due);
        let due = first?;
        while self.go_off(due) {}
        Some(())
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTime").field("now", &self.now()).finish_non_exhaustive()
    }
}
