//! A host whose clock moves only when a task works, when the host is busy itself, or when nobody has anything to do.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use clockworker::{Executor, ManualClock};

use crate::failure::Failure;

/// What is to be done at a time. It may wake tasks; it must not set alarms.
type Alarm = Box<dyn FnOnce()>;

/// Time and alarms. Clones share both. Times are nanoseconds since zero.
#[derive(Clone, Default)]
pub struct VirtualTime {
    clock: ManualClock,
    alarms: Rc<RefCell<BTreeMap<(u64, u64), Alarm>>>,
    set_so_far: Rc<Cell<u64>>,
}

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
    pub fn now(&self) -> u64 {
        self.clock.now().as_nanos() as u64
    }

    /// Has something done at a time, or at the next occasion if that has passed.
    pub fn at(&self, time: u64, alarm: impl FnOnce() + 'static) {
        let number = self.set_so_far.replace(self.set_so_far.get() + 1);
        self.alarms.borrow_mut().insert((time, number), Box::new(alarm));
    }

    /// Lets time pass; each alarm goes off at its time, as another thread would have it.
    pub fn pass(&self, time: u64) {
        let end = self.now().saturating_add(time);
        while let Some((due, alarm)) = self.next_until(end) {
            self.clock.set(Duration::from_nanos(due.max(self.now())));
            alarm();
        }
        self.clock.set(Duration::from_nanos(end));
    }

    fn next_until(&self, end: u64) -> Option<(u64, Alarm)> {
        let mut alarms = self.alarms.borrow_mut();
        let first = alarms.first_entry().filter(|first| first.key().0 <= end)?;
        let ((due, _), alarm) = first.remove_entry();
        Some((due, alarm))
    }

    /// Drives an executor until `is_done`, which is asked between its turns. After each turn that leaves work behind the
    /// host is busy for as long as `host_takes` says.
    ///
    /// # Errors
    ///
    /// If it would hang: nobody is ready, and no alarm is set.
    pub fn drive(
        &self,
        ex: &Executor,
        is_done: impl Fn() -> bool,
        mut host_takes: impl FnMut() -> u64,
    ) -> Result<(), Failure> {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut run = pin!(ex.run_until(std::future::pending::<()>()));
        while !is_done() {
            if flag.0.swap(false, Ordering::AcqRel) {
                let _never: Poll<()> = run.as_mut().poll(&mut Context::from_waker(&waker));
                if flag.0.load(Ordering::Acquire) {
                    self.pass(host_takes());
                }
                continue;
            }
            let next = self.next_until(u64::MAX);
            let Some((due, alarm)) = next else {
                return Err(Failure::run("nobody is ready, and no alarm is set: this would hang"));
            };
            self.clock.set(Duration::from_nanos(due.max(self.now())));
            alarm();
        }
        Ok(())
    }
}

impl std::fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualTime").field("now", &self.now()).finish_non_exhaustive()
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
