//! A queue whose scheduler does wrong, and a queue whose scheduler does not, in one executor.
//!
//! Part of the input is the program: what the tasks do at each poll, and what is done to them between turns. The other part
//! is the plan of the scheduler: after how many calls it does what. Whatever it does, this must hold:
//!
//! - a task is polled only if it was woken, and not after it has ended; its future is dropped once;
//! - the executor comes to rest in a bounded number of turns, with no task left that was woken;
//! - every join handle gives what became of its task; every output is dropped;
//! - the accounts balance; the other queue has no fault;
//! - a fault is reported if there was one, and none if there was not; and then the scheduler is not called again.

mod plan;
mod scene;
mod task;

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;

use crate::driving::{poll_once, settle_run};
use crate::hostile::Hostile;
use crate::tape::Tape;
use clockworker::{Executor, ManualClock};

use plan::Bytewise;
use scene::Scene;
use task::Place;

const TASKS: usize = 48;

/// Runs the scene that `data` says.
pub fn run(data: &[u8]) {
    let [patience, cap, shape, data @ ..] = data else { return };
    // A quarter of the rest is the scheduler's, at most 32 bytes: 16 misdeeds.
    let (plan, program) = data.split_at((data.len() / 4).min(32));
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).poll_cap(1 + u32::from(cap % 64)).build();
    let ex = ex.expect("the options are valid");
    let scene = Scene::new(Tape::new(program), Tape::new(plan), *patience, clock);
    scene.open(&ex, Hostile::new(Bytewise::new(&scene, shape & 1 != 0)));
    perform(&scene, &ex);
    if shape & 2 == 0 {
        finish(&scene, &ex);
    }
    end(&scene, ex);
}

/// A run that looks after each turn whether faults are reported.
fn turns(scene: &Scene, ex: &Executor) -> impl Future<Output = ()> + Unpin {
    let mut run = Box::pin(ex.run_until(pending()));
    poll_fn(move |cx| {
        let polled = run.as_mut().poll(cx);
        scene.assert_faults_reported();
        polled
    })
}

/// Turns until the executor wants no more.
fn settle(scene: &Scene, ex: &Executor) {
    assert_eq!(settle_run(pin!(turns(scene, ex))), None);
}

fn perform(scene: &Rc<Scene>, ex: &Executor) {
    while let Some(op) = scene.program.try_next() {
        match op % 16 {
            0..=4 => assert!(poll_once(&mut turns(scene, ex)).is_pending()),
            5 | 6 => scene.spawn(Place::Hostile),
            7 | 8 => scene.spawn(Place::Group(u64::from(op / 16) % 4)),
            9 => scene.spawn(Place::Honest),
            10 => scene.wake(op / 16),
            11 => scene.abort(op / 16),
            12 => scene.drop_handle(op / 16),
            13 => scene.look_at_handle(op / 16),
            14 => settle(scene, ex),
            _ => scene.meddle(op / 16),
        }
    }
}

fn finish(scene: &Rc<Scene>, ex: &Executor) {
    settle(scene, ex);
    scene.assert_no_wake_lost();
    scene.finishing.set(true);
    for index in 0..scene.tasks() {
        scene.wake_task(index);
    }
    settle(scene, ex);
    scene.assert_all_ended();
    scene.assert_accounts(ex);
}

fn end(scene: &Scene, ex: Executor) {
    drop(scene.queues.take());
    drop(ex);
    scene.assert_all_dropped();
    // The handles, which lead back to the scene.
    drop(scene.entries.take());
    assert_eq!(Rc::strong_count(&scene.outputs), 1, "outputs that were not dropped");
}
