//! Attacks that people thought of.

use super::program::Kind::{Abort, Await, Close, CreateNew, EnterOf, RestOf, Send, Share, Spawn, Wake};
use super::program::{Move, Program, on};

/// Share, request and length of a poll, the two in microseconds.
type Queues = &'static [(u32, u64, u64)];

const HELPED: [Queues; 3] = [
    &[(1, 500, 20), (1, 500, 20), (1, 500, 1)],
    // With a large worker.
    &[(1, 500, 20), (9, 500, 20), (1, 500, 1)],
    // With a large victim.
    &[(9, 500, 20), (1, 500, 20), (1, 500, 1)],
];
const SHARE_RAISED_ASLEEP: Queues = &[(4, 100, 20), (1, 100, 100)];
const CREATED_ANEW: Queues = &[(1, 20, 20), (1, 20, 1_000)];
const OVERRUNS_AND_LEAVES: Queues = &[(1, 20, 20), (1, 10, 1_000)];
const MANY_NAP: Queues =
    &[(1, 100, 10), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50)];
const TINY_REQUESTS: Queues = &[(1, 100, 100), (1, 1, 1_000), (1, 1, 1_000)];
const SLOW_DROPS: &[(u32, u64, u64)] = &[(1, 100, 20), (1, 100, 20)];
const SENDS_AND_ABORTS: &[(u32, u64, u64)] = &[(1, 100, 20), (1, 100, 1), (1, 100, 1)];

pub(super) fn known() -> Vec<Program> {
    let polls = |polls, kind, queue| Move { polls, ..on(kind, queue) };
    // The main future spawns a helper, which has next to nothing to do, and awaits a worker. The helper's credit lowers the
    // virtual time, the worker is placed there, the helper leaves.
    let mut programs =
        HELPED.map(|queues| Program::of(queues, &[on(Spawn, 2), polls(20, Await, 1)])).to_vec();
    // A debtor sleeps, its share is raised meanwhile; it wakes, and its share is lowered.
    let raise = [Move { share: 4, ..on(Share, 1) }, on(Spawn, 1), on(Share, 1), on(RestOf, 1)];
    let slow = Move { polls: 100, drop: 1_000_000, ..on(Spawn, 1) };
    let naps = (1..=5).map(|queue| on(Wake, queue)).chain([on(RestOf, 5), on(RestOf, 0)]);
    // A task sends another, and aborts it before it is admitted.
    let sends = [on(EnterOf, 1), on(Send, 2), on(Abort, 2)].repeat(9);
    programs.extend([
        // The same with tasks that stay.
        Program::of(HELPED[0], &[on(Wake, 2), polls(20, Wake, 1), polls(20, RestOf, 1)]),
        Program::of(SHARE_RAISED_ASLEEP, &[&[on(Await, 1)], &raise[..]].concat()),
        // It is created, has a poll, is closed, and is created once more.
        Program::of(CREATED_ANEW, &[on(Await, 1), on(Close, 1), on(CreateNew, 1)]),
        // A debtor leaves at once after each overrun.
        Program::of(OVERRUNS_AND_LEAVES, &[on(Await, 1), on(RestOf, 0)]),
        Program::of(MANY_NAP, &naps.collect::<Vec<_>>()),
        Program::of(TINY_REQUESTS, &[on(Spawn, 1), on(Await, 2)]),
        // Tasks are aborted whose drops take long.
        Program::of(SLOW_DROPS, &[slow, on(RestOf, 0), on(Abort, 1), on(RestOf, 0)]),
        Program::of(SENDS_AND_ABORTS, &[&[polls(100, Wake, 1)], &sends[..]].concat()),
    ]);
    programs
}
