//! A panic stays where it belongs, wherever it strikes: a program for each combination.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of what awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor, half of them in its queue. They must complete, whatever becomes
//! of its handle, and whenever it is aborted or the executor dropped; and the audit must be clean.

use std::sync::Arc;

use super::event::Event;
use super::op::{Change, GroupChange, On, Op, Script, TaskName, Thread};
use super::plan::HOSTILE_SLOT;
use super::program::{Ending, Program, Setup};
use super::run;
use crate::host::Host;
use crate::hostile::Call;
use crate::policy::Policy;

/// Where the panic strikes.
#[derive(Clone, Copy, Debug)]
enum Place {
    FirstPoll,
    SecondPoll,
    FutureDrop,
    OutputDrop,
    Waker { in_wake: bool },
    Scheduler(Call),
    SchedulerDrop,
}

/// What becomes of the join handle. One that is kept is polled at the end; one that is dropped, at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    AwaitedHere,
    AwaitedElsewhere,
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happens {
    Nothing,
    Abort,
    DropExecutor,
}

const PLACES: [Place; 6] = [
    Place::FirstPoll,
    Place::SecondPoll,
    Place::FutureDrop,
    Place::OutputDrop,
    Place::Waker { in_wake: true },
    Place::Waker { in_wake: false },
];
const CALLS: [Call; 9] = [
    Call::Push,
    Call::Pop,
    Call::PushPop,
    Call::Served,
    Call::Finished,
    Call::GroupOpened,
    Call::GroupChanged,
    Call::GroupClosed,
    Call::Spawned,
];
const SPAWNS: [On; 3] = [On::Queue(SLOT), On::Group(0), On::Elsewhere(SLOT, None)];
const FATES: [Fate; 4] = [Fate::Kept, Fate::AwaitedHere, Fate::AwaitedElsewhere, Fate::Dropped];
const HAPPENS: [Happens; 3] = [Happens::Nothing, Happens::Abort, Happens::DropExecutor];
/// What leads to a moment: the first poll is to come, it was, the task is woken, it has ended.
const MOMENTS: [Option<Op>; 4] =
    [None, Some(Op::Park), Some(Op::Wake(VICTIM, Thread::Owner)), Some(Op::Park)];

/// Of its queue.
const SLOT: u8 = HOSTILE_SLOT;
/// One of those that are awaited on another thread.
const VICTIM: TaskName = 1;
const OTHERS: std::ops::Range<TaskName> = 2..10;
const JOINER: TaskName = 10;
const NAMES: TaskName = 11;

/// What strikes where and when, and who is there.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    place: Place,
    policy: Policy,
    spawn: On,
    fate: Fate,
    happens: Happens,
    moment: usize,
}

/// Every combination: those of a task with each of the schedulers.
pub fn all(policies: &[Policy]) -> Vec<Case> {
    let of_task = PLACES.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    let of_scheduler = CALLS.into_iter().map(Place::Scheduler).chain([Place::SchedulerDrop]);
    let of_scheduler = of_scheduler.map(|place| (place, Policy::RunnableFifo));
    let mut cases = Vec::new();
    for (place, policy) in of_task.chain(of_scheduler) {
        for spawn in SPAWNS {
            for fate in FATES {
                for moment in 0..MOMENTS.len() {
                    cases.extend(HAPPENS.map(|happens| Case { place, policy, spawn, fate, happens, moment }));
                }
            }
        }
    }
    cases
}

fn script(name: TaskName, steps: Vec<Op>) -> Script {
    Script { name, steps, ..Script::default() }
}

impl Case {
    /// Plays it. Whether a panic of a task struck.
    ///
    /// # Panics
    ///
    /// If another task does not complete, or there is anything else to complain of.
    pub fn play(self) -> bool {
        // Only a free thread awaits.
        let threads = usize::from(self.fate == Fate::AwaitedElsewhere);
        let outcome = run(&self.program(), Host::Alone, threads);
        let has = |event: Event| outcome.trace.iter().any(|entry| entry.event == event);
        let survived = OTHERS.filter(|&other| has(Event::Finished(other))).count();
        let is_dropped = self.happens == Happens::DropExecutor;
        assert!(survived == OTHERS.len() || is_dropped, "{survived} others completed: {self:?}");
        let audit = outcome.audit(threads);
        assert!(audit.is_clean(), "{audit:?}: {self:?}");
        has(Event::Panics(VICTIM))
    }

    fn program(self) -> Program {
        let plan = self.plan();
        let mut ops = Vec::new();
        if plan.is_none() {
            let change = Change::Create { below: None, share: 1, policy: self.policy, idle: false };
            ops.push(Op::Queue(SLOT, change));
        }
        ops.push(Op::Group(0, GroupChange::Open { slot: SLOT, key: 1, weight: 1 }));
        ops.push(Op::Spawn(self.spawn, Arc::new(self.victim())));
        ops.push(Op::Group(0, GroupChange::Weight(2)));
        ops.push(Op::Group(0, GroupChange::Forget));
        ops.extend(OTHERS.map(|name| {
            let other = script(name, vec![Op::Yield(1), Op::Park, Op::Yield(1)]);
            Op::Spawn(On::Queue(SLOT * (name % 2) as u8), Arc::new(other))
        }));
        if let Place::Waker { in_wake } = self.place {
            ops.push(Op::TouchHandle { of: VICTIM, in_wake, in_drop: !in_wake });
        }
        match self.fate {
            Fate::AwaitedHere => {
                let joiner = script(JOINER, vec![Op::Join(VICTIM)]);
                ops.push(Op::Spawn(On::Queue(0), Arc::new(joiner)));
            }
            Fate::AwaitedElsewhere => ops.push(Op::DropHandle(VICTIM, Thread::Other)),
            Fate::Kept | Fate::Dropped => {}
        }
        for (moment, op) in MOMENTS.into_iter().enumerate() {
            ops.extend(op);
            if moment == self.moment && self.fate == Fate::Dropped {
                ops.push(Op::DropHandle(VICTIM, Thread::Owner));
            }
            match self.happens {
                Happens::Abort if moment == self.moment => ops.push(Op::Abort(VICTIM, Thread::Owner)),
                Happens::DropExecutor if moment == self.moment => break,
                _ => {}
            }
        }
        let mut ending = Ending::Dropped;
        if self.happens != Happens::DropExecutor {
            ending = Ending::Drained;
            ops.extend(OTHERS.map(|other| Op::Wake(other, Thread::Owner)));
            ops.push(Op::Park);
        }
        let only_in = if let Place::Scheduler(call) = self.place { Some(call) } else { None };
        Program { setup: Setup { plan, only_in, ending, ..Setup::default() }, ops, names: NAMES }
    }

    /// Is polled, waits to be woken, and gives an output at the second poll; unless it panics before.
    fn victim(self) -> Script {
        let mut victim = script(VICTIM, vec![Op::Park]);
        match self.place {
            Place::FirstPoll => victim.steps.insert(0, Op::Panic),
            Place::SecondPoll => victim.steps.push(Op::Panic),
            Place::FutureDrop => victim.at_drop.push(Op::Panic),
            Place::OutputDrop => victim.output_panics = true,
            Place::Waker { .. } | Place::Scheduler(..) | Place::SchedulerDrop => {}
        }
        victim
    }

    /// The plan of a scheduler that panics: whether it may be replaced, whether it panics in its drop, after how many calls it does what.
    fn plan(self) -> Option<Box<[u8]>> {
        match self.place {
            Place::Scheduler(call) => {
                // In calls that get a task or take one, the lower half of what can be done is no panic.
                let has_tasks = matches!(call, Call::Push | Call::Pop | Call::PushPop);
                Some(Box::new([u8::MAX, 0, self.moment as u8, if has_tasks { 128 } else { 0 }]))
            }
            Place::SchedulerDrop => Some(Box::new([u8::MAX, 1])),
            _ => None,
        }
    }
}
