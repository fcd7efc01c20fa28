//! Programs that people thought of. The victim is the first queue.

use super::{eevdf, executor, program::Program};

/// Share, request and length of a poll, the two in microseconds.
type Queues = &'static [(u32, u64, u64)];

const HELPED: [Queues; 3] = [
    &[(1, 500, 20), (1, 500, 20), (1, 500, 1)],
    // With a large worker.
    &[(1, 500, 20), (9, 500, 20), (1, 500, 1)],
    // With a large victim.
    &[(9, 500, 20), (1, 500, 20), (1, 500, 1)],
];
const PLACED_LOW: Queues = &[(1, 100, 20), (1, 100, 100), (5, 100, 20)];
const SHARE_RAISED_ASLEEP: Queues = &[(4, 100, 20), (1, 100, 100)];
const CREATED_ANEW: Queues = &[(1, 20, 20), (1, 20, 1_000)];
const OVERRUNS_AND_LEAVES: Queues = &[(1, 20, 20), (1, 10, 1_000)];
const MANY_NAP: Queues =
    &[(1, 100, 10), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50)];
const TINY_REQUESTS: Queues = &[(1, 100, 100), (1, 1, 1_000), (1, 1, 1_000)];
const SLOW_DROPS: Queues = &[(1, 100, 20), (1, 100, 20)];
const SENDS_AND_ABORTS: Queues = &[(1, 100, 20), (1, 100, 1), (1, 100, 1)];

pub(super) fn to_eevdf() -> Vec<Program<eevdf::Act>> {
    use eevdf::Act::{Add, Remove, Share, Sleep, Wake};
    let one = |queue| eevdf::Act::Serve { polls: 1, of: Some(queue) };
    // A loop wakes a helper, which sleeps at once, and a worker. The helper's credit lowers V, the worker is placed there, the
    // helper leaves.
    let work = eevdf::Act::Serve { polls: 20, of: Some(1) };
    let helped = [Wake(2), Wake(1), one(2), Sleep(2), work, Sleep(1)];
    let naps = (1..=5).map(Wake).chain((1..=5).flat_map(|queue| [one(queue), Sleep(queue)]));
    let naps: Vec<_> = naps.chain([one(0)]).collect();
    let raise = [Share { queue: 1, share: 4 }, Wake(1), Share { queue: 1, share: 1 }, one(1), Sleep(1)];
    let mut programs = HELPED.map(|queues| Program::of(queues, &helped)).to_vec();
    programs.extend([
        // A creditor joins, the next is placed low, the creditor leaves without having been served.
        Program::of(PLACED_LOW, &[Wake(2), Wake(1), Sleep(2), one(1), one(0), Sleep(1)]),
        // A debtor sleeps, its share is raised meanwhile; it wakes, and its share is lowered.
        Program::of(SHARE_RAISED_ASLEEP, &[&[Wake(1), one(1), Sleep(1)], &raise[..]].concat()),
        // It is created, has a poll, is closed, and is created once more.
        Program::of(CREATED_ANEW, &[Wake(1), one(1), Remove(1), Add { queue: 1, share: 1, request: 20_000 }]),
        // A debtor leaves at once after each overrun.
        Program::of(OVERRUNS_AND_LEAVES, &[Wake(1), one(1), Sleep(1), one(0)]),
        // Many queues nap.
        Program::of(MANY_NAP, &naps),
        // Requests are tiny, polls are long.
        Program::of(TINY_REQUESTS, &[Wake(1), Wake(2), one(1), one(2), one(0)]),
    ]);
    programs
}

/// What can be done to the executor: mostly the same, by its public API.
pub(super) fn to_executor() -> Vec<Program<executor::Act>> {
    use executor::Act::{Abort, Close, Create, Rest, Share, Spawn, Wake};
    use executor::{How, Where};
    let spawn = |queue, polls| Spawn { queue, polls, drop: 0, how: How::Forget };
    let call = |queue, polls| Spawn { queue, polls, drop: 0, how: How::Await };
    let rest = |polls, queue| Rest { polls, of: Some(queue), next: Where::Main };
    let raise = [Share { queue: 1, share: 4 }, spawn(1, 1), Share { queue: 1, share: 1 }, rest(1, 1)];
    let create = Create { queue: 1, share: 1, request: 20_000, renamed: true };
    let slow = Spawn { queue: 1, polls: 100, drop: 1_000_000, how: How::Forget };
    // A task sends another, and aborts it before it is admitted.
    let send = Spawn { queue: 2, polls: 1, drop: 0, how: How::Send };
    let sends = [Rest { polls: 1, of: Some(1), next: Where::Poll }, send, Abort(2)].repeat(9);
    let naps = (1..=5).map(|queue| Wake { queue, polls: 1 });
    let naps: Vec<_> = naps.chain([rest(1, 5), rest(1, 0)]).collect();
    // The main future spawns a helper, which has next to nothing to do, and awaits a worker.
    let mut programs = HELPED.map(|queues| Program::of(queues, &[spawn(2, 1), call(1, 20)])).to_vec();
    let nappers = [Wake { queue: 2, polls: 1 }, Wake { queue: 1, polls: 20 }, rest(20, 1)];
    programs.extend([
        // The same with tasks that stay.
        Program::of(HELPED[0], &nappers),
        Program::of(SHARE_RAISED_ASLEEP, &[&[call(1, 1)], &raise[..]].concat()),
        Program::of(CREATED_ANEW, &[call(1, 1), Close(1), create]),
        Program::of(OVERRUNS_AND_LEAVES, &[call(1, 1), rest(1, 0)]),
        Program::of(MANY_NAP, &naps),
        Program::of(TINY_REQUESTS, &[spawn(1, 1), call(2, 1)]),
        // Tasks are aborted whose drops take long.
        Program::of(SLOW_DROPS, &[slow, rest(1, 0), Abort(1), rest(1, 0)]),
        Program::of(SENDS_AND_ABORTS, &[&[Wake { queue: 1, polls: 100 }], &sends[..]].concat()),
    ]);
    programs
}
