//! A panic stays where it belongs, wherever it strikes: a program for each combination.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of what awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor, half of them in its queue. They must complete, whatever becomes
//! of its handle, and whenever it is aborted or the executor dropped; and the audit must be clean.

use std::sync::Arc;

use super::event::Event;
use super::op::{Change, GroupChange, On, Op, Script, TaskName, Thread};
use super::pair::run;
use super::plan::HOSTILE_SLOT;
use super::program::{Ending, Program, Setup};
use crate::host::Host;
use crate::policy::Policy;

/// Where the panic strikes.
#[derive(Clone, Copy, Debug)]
enum Place {
    FirstPoll,
    SecondPoll,
    FutureDrop,
    OutputDrop,
    WakerWake,
    WakerDrop,
    /// After so many calls, of those that get a task or take one, or of the others.
    Scheduler(u8, bool),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    BeforeFirstPoll,
    Asleep,
    Woken,
    AfterTheEnd,
}

const PLACES: [Place; 6] = [
    Place::FirstPoll,
    Place::SecondPoll,
    Place::FutureDrop,
    Place::OutputDrop,
    Place::WakerWake,
    Place::WakerDrop,
];
const CALLS: u8 = 8;
const SPAWNS: [On; 3] = [On::Queue(SLOT), On::Group(0), On::Elsewhere(SLOT, None)];
const FATES: [Fate; 4] = [Fate::Kept, Fate::AwaitedHere, Fate::AwaitedElsewhere, Fate::Dropped];
const HAPPENS: [Happens; 3] = [Happens::Nothing, Happens::Abort, Happens::DropExecutor];
const MOMENTS: [Moment; 4] = [Moment::BeforeFirstPoll, Moment::Asleep, Moment::Woken, Moment::AfterTheEnd];

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
    moment: Moment,
}

/// Every combination: those of a task with each of the schedulers.
pub fn all(policies: &[Policy]) -> Vec<Case> {
    let of_task = PLACES.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    let calls = (0..CALLS).flat_map(|call| [Place::Scheduler(call, true), Place::Scheduler(call, false)]);
    let of_scheduler = calls.chain([Place::SchedulerDrop]).map(|place| (place, Policy::RunnableFifo));
    let mut cases = Vec::new();
    for (place, policy) in of_task.chain(of_scheduler) {
        for spawn in SPAWNS {
            for fate in FATES {
                for moment in MOMENTS {
                    cases.extend(HAPPENS.map(|happens| Case { place, policy, spawn, fate, happens, moment }));
                }
            }
        }
    }
    cases
}

impl Case {
    /// Plays it. Whether a panic of a task struck.
    ///
    /// # Errors
    ///
    /// If another task does not complete, or there is anything else to complain of.
    pub fn play(self) -> anyhow::Result<bool> {
        // Only a free thread awaits.
        let threads = usize::from(self.fate == Fate::AwaitedElsewhere);
        let outcome = run(&self.program(), Host::Alone, threads)?;
        let audit = outcome.audit_beside(threads);
        let has = |event: Event| outcome.trace.iter().any(|entry| entry.event == event);
        let survived = OTHERS.filter(|&other| has(Event::Finished(other))).count();
        let lives = self.happens != Happens::DropExecutor;
        anyhow::ensure!(survived == OTHERS.len() || !lives, "{survived} others completed");
        anyhow::ensure!(audit.is_clean(), "{audit:?}");
        Ok(has(Event::Panics(VICTIM)))
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
        for name in OTHERS {
            let steps = vec![Op::Yield(1), Op::Park, Op::Yield(1)];
            let other = Script { name, steps, ..Script::default() };
            ops.push(Op::Spawn(On::Queue(SLOT * (name % 2) as u8), Arc::new(other)));
        }
        match self.place {
            Place::WakerWake => ops.push(Op::TouchHandle { of: VICTIM, in_wake: true, in_drop: false }),
            Place::WakerDrop => ops.push(Op::TouchHandle { of: VICTIM, in_wake: false, in_drop: true }),
            _ => {}
        }
        match self.fate {
            Fate::AwaitedHere => {
                let joiner = Script { name: JOINER, steps: vec![Op::Join(VICTIM)], ..Script::default() };
                ops.push(Op::Spawn(On::Queue(0), Arc::new(joiner)));
            }
            Fate::AwaitedElsewhere => ops.push(Op::DropHandle(VICTIM, Thread::Other)),
            Fate::Kept | Fate::Dropped => {}
        }
        let dropped = self.happens == Happens::DropExecutor;
        for moment in MOMENTS {
            ops.extend(match moment {
                Moment::BeforeFirstPoll => None,
                Moment::Asleep | Moment::AfterTheEnd => Some(Op::Park),
                Moment::Woken => Some(Op::Wake(VICTIM, Thread::Owner)),
            });
            if moment != self.moment {
                continue;
            }
            if self.fate == Fate::Dropped {
                ops.push(Op::DropHandle(VICTIM, Thread::Owner));
            }
            match self.happens {
                Happens::Nothing => {}
                Happens::Abort => ops.push(Op::Abort(VICTIM, Thread::Owner)),
                Happens::DropExecutor => break,
            }
        }
        if !dropped {
            ops.extend(OTHERS.map(|other| Op::Wake(other, Thread::Owner)));
            ops.push(Op::Park);
        }
        let ending = if dropped { Ending::Dropped } else { Ending::Drained };
        Program { setup: Setup { plan, ending, ..Setup::default() }, ops, names: NAMES }
    }

    /// Is polled, waits to be woken, and gives an output at the second poll; unless it panics before.
    fn victim(self) -> Script {
        let mut victim = Script { name: VICTIM, steps: vec![Op::Park], ..Script::default() };
        match self.place {
            Place::FirstPoll => victim.steps.insert(0, Op::Panic),
            Place::SecondPoll => victim.steps.push(Op::Panic),
            Place::FutureDrop => victim.at_drop.push(Op::Panic),
            Place::OutputDrop => victim.output_panics = true,
            _ => {}
        }
        victim
    }

    /// The plan of the scheduler that panics: its patience, whether it panics in its drop, after how many calls it does what.
    fn plan(self) -> Option<Box<[u8]>> {
        match self.place {
            Place::Scheduler(call, of_tasks) => {
                Some(Box::new([u8::MAX, 0, call, if of_tasks { 128 } else { 0 }]))
            }
            Place::SchedulerDrop => Some(Box::new([u8::MAX, 1])),
            _ => None,
        }
    }
}
