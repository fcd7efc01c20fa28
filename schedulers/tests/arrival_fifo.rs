//! `ArrivalFifo`: the order of spawning, and its fair turns.

mod common;

use core::num::NonZeroU32;

use clockworker_schedulers::{ArrivalFifo, GroupId, Ready, Scheduler, Task, TaskId};
use common::{drain, run_yielding, spawn, task};

fn every(pops: u32) -> ArrivalFifo {
    ArrivalFifo::new().fair_every(NonZeroU32::new(pops).unwrap())
}

fn trace(policy: &mut ArrivalFifo, polls: usize) -> Vec<usize> {
    run_yielding(policy, polls, |_| 0, |slot| slot as u32)
}

#[test]
fn pops_in_the_order_of_spawning_however_tasks_become_ready() {
    let mut fifo = ArrivalFifo::new().strict();
    spawn(&mut fifo, [task(3), task(1), task(2)]);
    assert_eq!(drain(&mut fifo), [3, 1, 2]);
    fifo.push(task(2), Ready::Woken);
    fifo.push(task(1), Ready::Yielded);
    fifo.push(task(3), Ready::Woken);
    assert_eq!(drain(&mut fifo), [3, 1, 2]);
}

#[test]
fn a_reused_slot_is_a_new_arrival() {
    let mut fifo = ArrivalFifo::new().strict();
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
    let mut fifo = ArrivalFifo::new().strict();
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
