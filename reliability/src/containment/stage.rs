//! What a combination of events is played on: the executor, the task that meets a panic, and eight others.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::thread;

use anyhow::Context;
use clockworker::{AbortHandle, Executor, JoinHandle, Queue, yield_now};
use clockworker_testing::driving::{poll_once, settle};
use clockworker_testing::panics::drop_contained;
use tokio::sync::Semaphore;

use super::case::{Case, Event, Fate, Outcome, Place, Spawn};
use super::victim::{Output, Touchy, Traces, Victim};

/// Other tasks: half of them on the same queue.
const OTHERS: usize = 8;

/// A case under way.
pub(super) struct Stage {
    case: Case,
    /// None once it was dropped.
    ex: Option<Executor>,
    queue: Queue,
    /// The panics of its scheduler.
    struck: Rc<Cell<u32>>,
    pub(super) traces: Arc<Traces>,
    victim: Option<JoinHandle<Output>>,
    abort: AbortHandle,
    /// Set when a task of the executor has awaited the victim.
    awaited: Rc<Cell<bool>>,
    elsewhere: Option<thread::JoinHandle<()>>,
    others: Vec<JoinHandle<usize>>,
    /// Lets the others end.
    gate: Rc<Semaphore>,
}

impl Stage {
    pub(super) fn set(case: Case) -> anyhow::Result<Self> {
        let (ex, traces) = (Executor::new(), Traces::new(case.place));
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
        let mut stage = Stage {
            case,
            ex: Some(ex),
            queue,
            struck,
            traces,
            victim: Some(victim),
            abort,
            awaited: Rc::default(),
            elsewhere: None,
            others,
            gate,
        };
        stage.hand_over();
        Ok(stage)
    }

    /// Gives the handle to whoever is to have it; before, it is polled with the waker that panics.
    fn hand_over(&mut self) {
        let (Some(mut victim), Some(ex)) = (self.victim.take(), &self.ex) else { return };
        if matches!(self.case.place, Place::WakerWake | Place::WakerDrop)
            && self.case.fate != Fate::AwaitedElsewhere
        {
            let waker = Waker::from(Arc::new(Touchy(Arc::clone(&self.traces))));
            drop(Pin::new(&mut victim).poll(&mut task::Context::from_waker(&waker)));
            drop_contained(waker);
        }
        match self.case.fate {
            Fate::Kept | Fate::Dropped => self.victim = Some(victim),
            Fate::AwaitedHere => {
                let awaited = Rc::clone(&self.awaited);
                drop(ex.spawn(async move {
                    let result = victim.await;
                    awaited.set(true);
                    drop_contained(result);
                }));
            }
            Fate::AwaitedElsewhere => {
                self.elsewhere = Some(thread::spawn(move || {
                    let result = smol::block_on(victim);
                    drop_contained(result);
                }));
            }
        }
    }

    /// Runs the executor until it has nothing to do.
    pub(super) fn settle(&self) {
        self.ex.iter().for_each(settle);
    }

    /// The moment has come.
    pub(super) fn happen(&mut self) {
        if self.case.fate == Fate::Dropped {
            let victim = self.victim.take();
            // An output that nobody else has is dropped with it.
            drop_contained(victim);
        }
        match self.case.event {
            Event::Nothing => {}
            Event::Abort => self.abort.abort(),
            Event::DropExecutor => {
                let ex = self.ex.take();
                drop_contained(ex);
            }
        }
    }

    /// Lets the others end, and counts.
    pub(super) fn end(mut self) -> anyhow::Result<Outcome> {
        self.gate.add_permits(OTHERS);
        self.settle();
        let mut outcome = Outcome::default();
        if let Some(ex) = &self.ex {
            outcome.survivors = OTHERS as u64 + 1;
            // It still takes tasks.
            outcome.survived += u64::from(ex.block_on(ex.spawn(async { 1 })).is_ok());
        }
        for (n, mut task) in self.others.drain(..).enumerate() {
            outcome.handles += 1;
            if let Poll::Ready(result) = poll_once(&mut task) {
                outcome.resolved += 1;
                outcome.survived += u64::from(result.is_ok_and(|output| output == n));
            }
        }
        self.resolve(&mut outcome)?;
        outcome.unbalanced = u64::from(!self.is_balanced());
        outcome.panics = self.traces.panics() + u64::from(self.struck.get());
        Ok(outcome)
    }

    /// Counts the task's own handle, where somebody is left to have it.
    fn resolve(&mut self, outcome: &mut Outcome) -> anyhow::Result<()> {
        if let Some(mut victim) = self.victim.take() {
            outcome.handles += 1;
            if let Poll::Ready(result) = poll_once(&mut victim) {
                outcome.resolved += 1;
                drop_contained(result);
            }
        }
        if let Some(thread) = self.elsewhere.take() {
            outcome.handles += 1;
            // It ends when the handle has resolved; if not, the watchdog says so.
            thread.join().ok().context("the thread that awaits panicked")?;
            outcome.resolved += 1;
        }
        if self.case.fate == Fate::AwaitedHere && self.ex.is_some() {
            outcome.handles += 1;
            outcome.resolved += u64::from(self.awaited.get());
        }
        Ok(())
    }

    fn is_balanced(&self) -> bool {
        let stats = self.queue.stats();
        let ended = stats.completed + stats.cancelled + stats.panicked;
        stats.live == 0 && stats.spawned == ended && self.traces.balance()
    }
}

/// A task that is there beside: yields, waits, and gives its number.
async fn other(n: usize, gate: Rc<Semaphore>) -> usize {
    yield_now().await;
    drop(gate.acquire().await);
    yield_now().await;
    n
}
