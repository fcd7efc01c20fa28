//! `ArrivalFifo`: the order of spawning, and its fair turns.

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use clockworker_schedulers::{ArrivalFifo, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};
use proptest::prelude::*;

use super::script::{drain, run_yielding, spawn, task};

fn every(pops: u32) -> ArrivalFifo {
    ArrivalFifo::new().with_fair_turns(FairTurns::every(NonZeroU32::new(pops).unwrap()))
}

fn trace(policy: &mut ArrivalFifo, polls: usize) -> Vec<usize> {
    run_yielding(policy, polls, |_| 0, |slot| slot as u32)
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
fn a_reused_slot_is_a_new_arrival() {
    let mut fifo = ArrivalFifo::new().with_fair_turns(FairTurns::NEVER);
    spawn(&mut fifo, [task(0), task(1)]);
    assert_eq!(fifo.pop(), Some(task(0).id));
    fifo.finished(task(0));
    let reused = Task { id: TaskId::new(0, 1), group: GroupId::new(0) };
    spawn(&mut fifo, [reused]);
    assert_eq!(fifo.pop(), Some(task(1).id));
    assert_eq!(fifo.pop(), Some(reused.id));
}

#[test]
fn every_third_pop_goes_round() {
    let mut fifo = every(3);
    spawn(&mut fifo, (0..4).map(task));
    //                                           fair:    .        .        .        .        .        .
    assert_eq!(trace(&mut fifo, 18), [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn strictly_in_order_a_later_task_starves() {
    let mut fifo = ArrivalFifo::new().with_fair_turns(FairTurns::NEVER);
    spawn(&mut fifo, (0..2).map(task));
    assert_eq!(trace(&mut fifo, 1_000), [0; 1_000]);
}

#[test]
fn the_default_is_every_32nd() {
    let mut fifo = ArrivalFifo::new();
    spawn(&mut fifo, (0..3).map(task));
    let trace = trace(&mut fifo, 128);
    let others: Vec<(usize, usize)> = trace.into_iter().enumerate().filter(|&(_, slot)| slot != 0).collect();
    assert_eq!(others, [(63, 1), (95, 2)]); // the 32nd and the 128th pop went to task 0, in its turn
}

/// Task 0 yields for ever and takes the usual pops; new tasks arrive faster than fair turns come; task 1 is between.
#[test]
fn new_arrivals_do_not_keep_the_turns_at_the_far_end() {
    const EVERY: usize = 4;
    let mut fifo = every(EVERY as u32);
    spawn(&mut fifo, (0..3).map(task));
    let (mut next_slot, mut waited, mut longest, mut live) = (3, 0, 0, 3);
    for _ in 0..4_000 {
        let slot = fifo.pop().unwrap().slot() as u32;
        waited += 1;
        if slot == 1 {
            // Within 2·N·L of becoming ready, where L counted itself.
            assert!(waited <= 2 * EVERY * live, "{waited} pops with {live} tasks");
            (longest, waited, live) = (longest.max(waited), 0, next_slot as usize);
        }
        spawn(&mut fifo, [task(next_slot)]);
        next_slot += 1;
        fifo.push(task(slot), Ready::Yielded);
    }
    assert!(longest > EVERY, "the test must make it wait");
}

/// The documented order, in the plainest way: arrival numbers that are never given anew, in a map.
#[derive(Default)]
struct Model {
    ready: BTreeMap<u64, usize>,
    arrivals: BTreeMap<usize, u64>,
    next_arrival: u64,
    pops: u64,
    every: u64,
    /// The next fair turn takes an arrival from here on, and before `round_end`.
    cursor: u64,
    round_end: u64,
}

impl Model {
    fn spawn(&mut self, slot: usize) {
        self.arrivals.insert(slot, self.next_arrival);
        self.next_arrival += 1;
        self.wake(slot);
    }

    fn wake(&mut self, slot: usize) {
        self.ready.insert(self.arrivals[&slot], slot);
    }

    fn pop(&mut self) -> Option<usize> {
        let mut first = self.ready.keys().next().copied()?;
        self.pops += 1;
        if self.pops.is_multiple_of(self.every) {
            let rest = self.ready.keys().find(|&&arrival| arrival >= self.cursor).copied();
            match rest.filter(|&arrival| arrival < self.round_end) {
                Some(arrival) => first = arrival,
                None => self.round_end = self.next_arrival,
            }
            self.cursor = first + 1;
        }
        self.ready.remove(&first)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Spawn,
    /// Of the tasks asleep, the nth.
    Wake(usize),
    /// Finish one without a poll.
    Cancel(usize),
    Yields,
    Sleeps,
    Finishes,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let nth = 0..1_000_usize;
    let step = prop_oneof![
        3 => Just(Step::Spawn),
        2 => nth.clone().prop_map(Step::Wake),
        1 => nth.prop_map(Step::Cancel),
        4 => Just(Step::Yields),
        2 => Just(Step::Sleeps),
        2 => Just(Step::Finishes),
    ];
    proptest::collection::vec(step, 0..1_500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn agrees_with_numbers_that_are_never_given_anew(steps in steps(), pops in 2..6_u32) {
        let mut fifo = every(pops);
        let mut model = Model { every: pops.into(), ..Model::default() };
        let (mut asleep, mut generations): (Vec<usize>, Vec<u32>) = Default::default();
        let mut free: Vec<usize> = Vec::new();
        let of = |generations: &[u32], slot: usize| Task {
            id: TaskId::new(slot as u32, generations[slot]),
            group: GroupId::new(slot as u32),
        };
        for step in steps {
            match step {
                Step::Spawn => {
                    let slot = free.pop().unwrap_or(generations.len());
                    if slot == generations.len() {
                        generations.push(0);
                    }
                    generations[slot] += 1;
                    fifo.push(of(&generations, slot), Ready::Spawned);
                    model.spawn(slot);
                }
                Step::Wake(nth) if !asleep.is_empty() => {
                    let slot = asleep.swap_remove(nth % asleep.len());
                    fifo.push(of(&generations, slot), Ready::Woken);
                    model.wake(slot);
                }
                Step::Cancel(nth) if !asleep.is_empty() => {
                    let slot = asleep.swap_remove(nth % asleep.len());
                    fifo.finished(of(&generations, slot));
                    free.push(slot);
                }
                Step::Wake(_) | Step::Cancel(_) => {}
                Step::Yields | Step::Sleeps | Step::Finishes => {
                    let expected = model.pop();
                    prop_assert_eq!(fifo.pop().map(TaskId::slot), expected);
                    let Some(slot) = expected else { continue };
                    match step {
                        Step::Yields => {
                            fifo.push(of(&generations, slot), Ready::Yielded);
                            model.wake(slot);
                        }
                        Step::Sleeps => asleep.push(slot),
                        _ => {
                            fifo.finished(of(&generations, slot));
                            free.push(slot);
                        }
                    }
                }
            }
        }
    }
}
