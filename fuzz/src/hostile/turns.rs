//! The host.

use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use clockworker::{Executor, ManualClock};

use super::world::World;

/// More turns than any program can need: its polls are fewer than 64 per byte.
const MANY: usize = 1_000_000;

/// An executor and its host, which polls it when it was woken.
pub(super) struct Turns {
    pub(super) ex: Executor,
    clock: ManualClock,
    woken: Arc<Woken>,
    waker: Waker,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Turns {
    pub(super) fn new(poll_cap: u32) -> Self {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).poll_cap(poll_cap).build();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        Self { ex: ex.expect("the options are valid"), clock, woken, waker }
    }

    pub(super) fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    /// One turn.
    pub(super) fn one(&self, world: &Rc<World>) {
        let mut run = pin!(self.ex.run_until(pending::<()>()));
        assert!(run.as_mut().poll(&mut Context::from_waker(&self.waker)).is_pending());
        world.assert_faults_reported();
    }

    /// Turns until the executor wants no more.
    pub(super) fn settle(&self, world: &Rc<World>) {
        let mut run = pin!(self.ex.run_until(pending::<()>()));
        for _ in 0..MANY {
            self.woken.0.store(false, Ordering::Relaxed);
            assert!(run.as_mut().poll(&mut Context::from_waker(&self.waker)).is_pending());
            world.assert_faults_reported();
            if !self.woken.0.load(Ordering::Relaxed) {
                return;
            }
        }
        panic!("it does not come to rest");
    }
}
