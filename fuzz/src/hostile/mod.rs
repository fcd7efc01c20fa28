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

mod policy;
mod task;
mod turns;
mod world;

use std::rc::Rc;

use crate::Script;
use policy::Hostile;
use task::Place;
use turns::Turns;
use world::World;

/// Tasks at most.
const TASKS: usize = 48;

/// Runs the scene that `data` says.
pub fn run(data: &[u8]) {
    let [patience, cap, shape, data @ ..] = data else { return };
    // A quarter of the rest is the scheduler's, at most 32 bytes: 16 misdeeds.
    let (plan, program) = data.split_at((data.len() / 4).min(32));
    let turns = Turns::new(1 + u32::from(cap % 64));
    let world = World::new(Script::new(program), Script::new(plan), *patience, turns.clock());
    world.open(&turns, Hostile::new(&world, shape & 1 != 0));
    perform(&world, &turns);
    if shape & 2 == 0 {
        finish(&world, &turns);
    }
    end(world, turns);
}

/// The program between turns.
fn perform(world: &Rc<World>, turns: &Turns) {
    while let Some(op) = world.program.try_next() {
        match op % 16 {
            0..=4 => turns.one(world),
            5 | 6 => world.spawn(Place::Hostile),
            7 | 8 => world.spawn(Place::Group(u64::from(op / 16) % 4)),
            9 => world.spawn(Place::Honest),
            10 => world.wake(op / 16),
            11 => world.abort(op / 16),
            12 => world.drop_handle(op / 16),
            13 => world.look_at_handle(op / 16),
            14 => turns.settle(world),
            _ => world.meddle(op / 16),
        }
    }
}

/// Lets every task end, and looks at every handle.
fn finish(world: &Rc<World>, turns: &Turns) {
    turns.settle(world);
    world.assert_no_wake_lost();
    world.finishing.set(true);
    for index in 0..world.tasks() {
        world.wake_task(index);
    }
    turns.settle(world);
    world.assert_all_ended();
    world.assert_accounts(turns);
}

/// Drops everything.
fn end(world: Rc<World>, turns: Turns) {
    world.close();
    drop(turns);
    world.assert_all_dropped();
    world.let_go();
    assert_eq!(world.outputs.get(), 0, "outputs that nobody dropped");
}
