//! A panic stays where it belongs, wherever it strikes.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of who awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor. They must complete, and every join handle must resolve,
//! whatever becomes of the handle, and whenever the task is aborted or the executor dropped.

mod victim;

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{self, Poll, Waker};
use std::{io, thread};

use anyhow::Context;
use clockworker::{AbortHandle, Executor, JoinHandle, Queue, QueueError, yield_now};
use tokio::sync::Semaphore;

use crate::driving::{poll_once, settle};
use crate::host::Host;
use crate::hostile::{Call, Fault, Faulty, Hostile};
use crate::panics::drop_contained;
use crate::policy::Policy;
use victim::{Output, Place, Touchy, Traces, Victim};

#[derive(Clone, Copy, Debug)]
enum Spawn {
    Here,
    InGroup,
    FromElsewhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is polled at the end.
    Kept,
    AwaitedHere,
    AwaitedElsewhere,
    /// It is dropped at the moment.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
enum Event {
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
const CALLS: [Call; 5] = [Call::Push, Call::Pop, Call::Served, Call::Finished, Call::GroupClosed];
const SPAWNS: [Spawn; 3] = [Spawn::Here, Spawn::InGroup, Spawn::FromElsewhere];
const FATES: [Fate; 4] = [Fate::Kept, Fate::AwaitedHere, Fate::AwaitedElsewhere, Fate::Dropped];
const EVENTS: [Event; 3] = [Event::Nothing, Event::Abort, Event::DropExecutor];
const MOMENTS: [Moment; 4] = [Moment::BeforeFirstPoll, Moment::Asleep, Moment::Woken, Moment::AfterTheEnd];

/// What strikes where and when, and who is there.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    place: Place,
    /// The scheduler of its queue, unless that is to panic.
    policy: Policy,
    spawn: Spawn,
    fate: Fate,
    event: Event,
    moment: Moment,
}

/// What came of cases, summed up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Panics that struck.
    pub panics: u64,
    /// Other tasks that were to complete.
    pub survivors: u64,
    /// Those of them that did.
    pub survived: u64,
    /// Join handles.
    pub handles: u64,
    /// Those of them that resolved.
    pub resolved: u64,
    /// Cases in which the executor's books do not balance, or an output was not dropped once.
    pub unbalanced: u64,
}

impl Outcome {
    /// Whether all survived, resolved and balanced.
    pub fn is_whole(&self) -> bool {
        self.survived == self.survivors && self.resolved == self.handles && self.unbalanced == 0
    }
}

/// Every combination. A place in a scheduler goes with the scheduler that panics there, the others with each of those that
/// come with the crate.
pub fn all(policies: &[Policy]) -> Vec<Case> {
    let of_task = PLACES.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    let faults = CALLS.into_iter().map(Fault::Panics).chain([Fault::PanicsInDrop]);
    let of_scheduler = faults.map(|fault| (Place::Scheduler(fault), policies[0]));
    let mut cases = Vec::new();
    for (place, policy) in of_task.chain(of_scheduler) {
        for spawn in SPAWNS {
            for fate in FATES {
                for moment in MOMENTS {
                    cases.extend(EVENTS.map(|event| Case { place, policy, spawn, fate, event, moment }));
                }
            }
        }
    }
    cases
}

impl Case {
    /// Plays it, and adds what came of it to `sum`.
    ///
    /// # Errors
    ///
    /// If a queue cannot be created, or a thread beside the executor panicked.
    pub fn play(self, sum: &mut Outcome) -> anyhow::Result<()> {
        let mut stage = Stage::set(self)?;
        for moment in MOMENTS {
            match moment {
                Moment::BeforeFirstPoll => {}
                Moment::Asleep | Moment::AfterTheEnd => stage.settle(),
                Moment::Woken => stage.traces.wake(),
            }
            if moment == self.moment {
                stage.happen(self);
            }
        }
        stage.end(sum)
    }

    /// Its queue, and a count of its scheduler's panics.
    fn queue(self, ex: &Executor) -> Result<(Queue, Rc<Cell<u32>>), QueueError> {
        let queue = ex.new_queue("queue");
        let Place::Scheduler(fault) = self.place else {
            return Ok((self.policy.create(queue)?, Rc::default()));
        };
        // Sooner or later, as everything else happens sooner or later.
        let faulty = Faulty::for_ever(fault, 2 * self.moment as u32);
        let struck = faulty.struck();
        Ok((queue.scheduler(Hostile::<Faulty>::new(faulty)).create()?, struck))
    }
}

/// Other tasks: half of them on the same queue.
const OTHERS: usize = 8;

struct Stage {
    /// None once it was dropped.
    ex: Option<Executor>,
    queue: Queue,
    /// The panics of its scheduler.
    struck: Rc<Cell<u32>>,
    traces: Arc<Traces>,
    holder: Holder,
    abort: AbortHandle,
    others: Vec<JoinHandle<usize>>,
    gate: Rc<Semaphore>,
}

/// What has the victim's handle.
enum Holder {
    Stage(JoinHandle<Output>),
    Task(JoinHandle<()>),
    Thread(thread::JoinHandle<io::Result<()>>),
    Dropped,
}

impl Stage {
    fn set(case: Case) -> anyhow::Result<Self> {
        let ex = Executor::new();
        let traces = Traces { place: case.place, panics: 0.into(), waker: None.into(), outputs: 0.into() };
        let traces = Arc::new(traces);
        let (queue, struck) = case.queue(&ex)?;
        let victim = Victim { traces: Arc::clone(&traces), polled: false };
        let victim = match case.spawn {
            Spawn::Here => queue.spawn(victim),
            Spawn::InGroup => queue.group(1).spawn(victim),
            Spawn::FromElsewhere => ex.handle().spawn_on("queue", move || victim),
        };
        let gate = Rc::new(Semaphore::new(0));
        let on = [&queue, ex.default_queue()];
        let others = (0..OTHERS).map(|n| on[n % 2].spawn(other(n, Rc::clone(&gate)))).collect();
        let abort = victim.abort_handle();
        let holder = hand_over(victim, case, &ex, &traces);
        Ok(Stage { ex: Some(ex), queue, struck, traces, holder, abort, others, gate })
    }

    fn settle(&self) {
        self.ex.iter().for_each(settle);
    }

    fn happen(&mut self, case: Case) {
        if case.fate == Fate::Dropped {
            // An output that has no other owner is dropped with it.
            drop_contained(std::mem::replace(&mut self.holder, Holder::Dropped));
        }
        match case.event {
            Event::Nothing => {}
            Event::Abort => self.abort.abort(),
            Event::DropExecutor => {
                drop_contained(self.ex.take());
            }
        }
    }

    fn end(mut self, sum: &mut Outcome) -> anyhow::Result<()> {
        self.gate.add_permits(OTHERS);
        self.settle();
        if let Some(ex) = &self.ex {
            sum.survivors += OTHERS as u64 + 1;
            // It still takes tasks.
            sum.survived += u64::from(ex.block_on(ex.spawn(async { 1 })).is_ok());
        }
        for (n, mut task) in self.others.drain(..).enumerate() {
            sum.handles += 1;
            if let Poll::Ready(result) = poll_once(&mut task) {
                sum.resolved += 1;
                sum.survived += u64::from(result.is_ok_and(|output| output == n));
            }
        }
        let is_resolved = match self.holder {
            Holder::Stage(mut victim) => Some(poll_once(&mut victim).map(drop_contained).is_ready()),
            // It goes with its executor.
            Holder::Task(mut task) => {
                self.ex.is_some().then(|| matches!(poll_once(&mut task), Poll::Ready(Ok(()))))
            }
            // It ends when the handle has resolved; if not, the watchdog says so.
            Holder::Thread(thread) => {
                thread.join().ok().context("the thread that awaits panicked")??;
                Some(true)
            }
            Holder::Dropped => None,
        };
        sum.handles += u64::from(is_resolved.is_some());
        sum.resolved += u64::from(is_resolved == Some(true));
        let stats = self.queue.stats();
        let ended = stats.completed + stats.cancelled + stats.panicked;
        let outputs = self.traces.outputs.load(Ordering::Relaxed);
        sum.unbalanced += u64::from(stats.live != 0 || stats.spawned != ended || outputs != 0);
        sum.panics += self.traces.panics.load(Ordering::Relaxed) + u64::from(self.struck.get());
        Ok(())
    }
}

/// Gives the handle to what is to have it; before, it is polled with the waker that panics.
fn hand_over(mut victim: JoinHandle<Output>, case: Case, ex: &Executor, traces: &Arc<Traces>) -> Holder {
    if matches!(case.place, Place::WakerWake | Place::WakerDrop) && case.fate != Fate::AwaitedElsewhere {
        let waker = Waker::from(Arc::new(Touchy(Arc::clone(traces))));
        drop(Pin::new(&mut victim).poll(&mut task::Context::from_waker(&waker)));
        drop_contained(waker);
    }
    match case.fate {
        Fate::Kept | Fate::Dropped => Holder::Stage(victim),
        Fate::AwaitedHere => Holder::Task(ex.spawn(wait_for(victim))),
        Fate::AwaitedElsewhere => {
            Holder::Thread(thread::spawn(move || Host::Alone.block_on(wait_for(victim))))
        }
    }
}

async fn wait_for(victim: JoinHandle<Output>) {
    drop_contained(victim.await);
}

async fn other(n: usize, gate: Rc<Semaphore>) -> usize {
    yield_now().await;
    drop(gate.acquire().await);
    yield_now().await;
    n
}
