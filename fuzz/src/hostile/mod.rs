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
mod turns;

use std::rc::Rc;

use clockworker_testing::hostile::Hostile;
use clockworker_testing::tape::Tape;

use plan::Bytewise;
use scene::Scene;
use task::Place;
use turns::Turns;

/// Tasks at most.
const TASKS: usize = 48;

/// Runs the scene that `data` says.
pub fn run(data: &[u8]) {
    let [patience, cap, shape, data @ ..] = data else { return };
    // A quarter of the rest is the scheduler's, at most 32 bytes: 16 misdeeds.
    let (plan, program) = data.split_at((data.len() / 4).min(32));
    let turns = Turns::new(1 + u32::from(cap % 64));
    let scene = Scene::new(Tape::new(program), Tape::new(plan), *patience, turns.clock());
    scene.open(&turns, Hostile::new(Bytewise::new(&scene, shape & 1 != 0)));
    perform(&scene, &turns);
    if shape & 2 == 0 {
        finish(&scene, &turns);
    }
    end(scene, turns);
}

/// The program between turns.
fn perform(scene: &Rc<Scene>, turns: &Turns) {
    while let Some(op) = scene.program.try_next() {
        match op % 16 {
            0..=4 => turns.one(scene),
            5 | 6 => scene.spawn(Place::Hostile),
            7 | 8 => scene.spawn(Place::Group(u64::from(op / 16) % 4)),
            9 => scene.spawn(Place::Honest),
            10 => scene.wake(op / 16),
            11 => scene.abort(op / 16),
            12 => scene.drop_handle(op / 16),
            13 => scene.look_at_handle(op / 16),
            14 => turns.settle(scene),
            _ => scene.meddle(op / 16),
        }
    }
}

/// Lets every task end, and looks at every handle.
fn finish(scene: &Rc<Scene>, turns: &Turns) {
    turns.settle(scene);
    scene.assert_no_wake_lost();
    scene.finishing.set(true);
    for index in 0..scene.tasks() {
        scene.wake_task(index);
    }
    turns.settle(scene);
    scene.assert_all_ended();
    scene.assert_accounts(turns);
}

/// Drops everything.
fn end(scene: Rc<Scene>, turns: Turns) {
    scene.close();
    drop(turns);
    scene.assert_all_dropped();
    scene.let_go();
    assert_eq!(scene.outputs.get(), 0, "outputs that nobody dropped");
}
