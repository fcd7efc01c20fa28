//! What a combination of events is played on: the executor, the task that meets a panic, and eight others.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{self, Poll, Waker};
use std::thread;

use anyhow::Context;
use clockworker::{AbortHandle, Executor, JoinHandle, Queue, yield_now};
use clockworker_testing::driving::{poll_once, settle};
use clockworker_testing::panics::drop_contained;
use tokio::sync::Semaphore;

use super::victim::{Output, Place, Touchy, Traces, Victim};
use super::{Case, Event, Fate, Outcome, Spawn};

/// Other tasks: half of them on the same queue.
const OTHERS: usize = 8;

/// A case under way.
pub(super) struct Stage {
    /// None once it was dropped.
    ex: Option<Executor>,
    queue: Queue,
    /// The panics of its scheduler.
    struck: Rc<Cell<u32>>,
    pub(super) traces: Arc<Traces>,
    holder: Holder,
    abort: AbortHandle,
    others: Vec<JoinHandle<usize>>,
    /// Lets the others end.
    gate: Rc<Semaphore>,
}

/// What has the victim's handle.
enum Holder {
    Stage(JoinHandle<Output>),
    /// A task of the executor, which awaits it.
    Task(JoinHandle<()>),
    /// Another thread, which awaits it.
    Thread(thread::JoinHandle<()>),
    Dropped,
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
        let holder = hand_over(victim, case, &ex, &traces);
        Ok(Stage { ex: Some(ex), queue, struck, traces, holder, abort, others, gate })
    }

    /// Runs the executor until it has nothing to do.
    pub(super) fn settle(&self) {
        self.ex.iter().for_each(settle);
    }

    /// The moment has come.
    pub(super) fn happen(&mut self, case: Case) {
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

    /// Lets the others end, and counts.
    pub(super) fn end(mut self, sum: &mut Outcome) -> anyhow::Result<()> {
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
                thread.join().ok().context("the thread that awaits panicked")?;
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
        Fate::AwaitedElsewhere => Holder::Thread(thread::spawn(move || smol::block_on(wait_for(victim)))),
    }
}

async fn wait_for(victim: JoinHandle<Output>) {
    drop_contained(victim.await);
}

/// A task that is there beside: yields, waits, and gives its number.
async fn other(n: usize, gate: Rc<Semaphore>) -> usize {
    yield_now().await;
    drop(gate.acquire().await);
    yield_now().await;
    n
}
