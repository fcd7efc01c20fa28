//! The host.

use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use clockworker::{Executor, ManualClock};
use clockworker_testing::driving::CountingWaker;

use super::scene::Scene;

/// More turns than any program can need: its polls are fewer than 64 per byte.
const MANY: usize = 1_000_000;

/// An executor and its host, which polls it when it was woken.
pub(super) struct Turns {
    pub(super) ex: Executor,
    clock: ManualClock,
    wakes: Arc<CountingWaker>,
    waker: Waker,
}

impl Turns {
    pub(super) fn new(poll_cap: u32) -> Self {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).poll_cap(poll_cap).build();
        let (wakes, waker) = CountingWaker::new();
        Self { ex: ex.expect("the options are valid"), clock, wakes, waker }
    }

    pub(super) fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    /// One turn.
    pub(super) fn one(&self, scene: &Rc<Scene>) {
        let mut run = pin!(self.ex.run_until(pending::<()>()));
        assert!(run.as_mut().poll(&mut Context::from_waker(&self.waker)).is_pending());
        scene.assert_faults_reported();
    }

    /// Turns until the executor wants no more.
    pub(super) fn settle(&self, scene: &Rc<Scene>) {
        let mut run = pin!(self.ex.run_until(pending::<()>()));
        for _ in 0..MANY {
            let before = self.wakes.count();
            assert!(run.as_mut().poll(&mut Context::from_waker(&self.waker)).is_pending());
            scene.assert_faults_reported();
            if self.wakes.count() == before {
                return;
            }
        }
        panic!("it does not come to rest");
    }
}
