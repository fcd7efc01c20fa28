//! `ArrivalFifo`: the order of spawning, and its fair turns.

use std::collections::BTreeMap;

use clockworker_schedulers::{ArrivalFifo, FairTurns, Ready, Scheduler, Task, TaskId};
use fastrand::Rng;

use super::script::{drain, every, spawn, task, trace};
use super::world::{Beside, World};

fn with_turns(pops: u32) -> ArrivalFifo {
    ArrivalFifo::new().with_fair_turns(every(pops))
}

#[test]
fn pops_in_the_order_of_spawning_however_tasks_become_ready() {
    let mut fifo = ArrivalFifo::new().with_fair_turns(FairTurns::NEVER);
    spawn(&mut fifo, [task(3), task(1), task(2)]);
    assert_eq!(drain(&mut fifo), [3, 1, 2]);
    fifo.push(task(2), Ready::Woken);
    fifo.push(task(1), Ready::Yielded);
    fifo.push(task(3), Ready::Woken);
    assert_eq!(drain(&mut fifo), [3, 1, 2]);
}

#[test]
fn every_third_pop_goes_round() {
    let mut fifo = with_turns(3);
    spawn(&mut fifo, (0..4).map(task));
    let trace = trace(&mut fifo, 18, |_| 0);
    //                fair:        .        .        .        .        .        .
    assert_eq!(trace, [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn the_default_is_every_32nd() {
    let mut fifo = ArrivalFifo::new();
    spawn(&mut fifo, (0..3).map(task));
    let trace = trace(&mut fifo, 128, |_| 0);
    let others: Vec<(usize, usize)> = trace.into_iter().enumerate().filter(|&(_, slot)| slot != 0).collect();
    assert_eq!(others, [(63, 1), (95, 2)]); // the 32nd and the 128th pop went to task 0, in its turn
}

/// The documented order, in the plainest way: arrival numbers that are never given anew, in a map.
#[derive(Default)]
struct Model {
    ready: BTreeMap<u64, TaskId>,
    arrivals: BTreeMap<TaskId, u64>,
    pops: u64,
    every: u64,
    /// The next fair turn takes an arrival from here on, and before `round_end`.
    cursor: u64,
    round_end: u64,
}

impl Scheduler for Model {
    fn push(&mut self, task: Task, _why: Ready) {
        let next = self.arrivals.len() as u64;
        let arrival = *self.arrivals.entry(task.id).or_insert(next);
        self.ready.insert(arrival, task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let mut first = self.ready.keys().next().copied()?;
        self.pops += 1;
        if self.pops.is_multiple_of(self.every) {
            let rest = self.ready.keys().find(|&&arrival| arrival >= self.cursor).copied();
            match rest.filter(|&arrival| arrival < self.round_end) {
                Some(arrival) => first = arrival,
                None => self.round_end = self.arrivals.len() as u64,
            }
            self.cursor = first + 1;
        }
        self.ready.remove(&first)
    }
}

#[test]
fn agrees_with_numbers_that_are_never_given_anew() {
    for (seed, pops) in (0..100).flat_map(|seed| (2..6).map(move |pops| (seed, pops))) {
        let model = Model { every: pops.into(), ..Model::default() };
        let mut world = World::new(Beside::new(with_turns(pops), model, |_, _| true));
        let mut random = Rng::with_seed(seed);
        (0..400).for_each(|_| world.step(&mut random, &[1], true));
    }
}
