//! What a combination of events is played on: the executor, the task that meets a panic, and eight others.

use std::cell::Cell;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, Queue, yield_now};
use tokio::sync::Semaphore;

use super::case::{Case, Event, Fate, Outcome, Place, Spawn};
use super::victim::{Output, Strikes, Touchy, Traces, Victim};
use crate::failure::Failure;

/// Other tasks: half of them on the same queue.
const OTHERS: usize = 8;

/// A case under way.
pub(super) struct Stage {
    case: Case,
    /// None once it was dropped.
    ex: Option<Executor>,
    queue: Queue,
    strikes: Strikes,
    pub(super) traces: Traces,
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
    pub(super) fn set(case: Case) -> Result<Self, Failure> {
        let (ex, strikes, traces) = (Executor::new(), Strikes::default(), Traces::default());
        let queue = case.queue(&ex, &strikes).map_err(|error| Failure::run(error.to_string()))?;
        let victim =
            Victim { place: case.place, polled: false, strikes: strikes.clone(), traces: traces.clone() };
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
            strikes,
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
            let waker =
                Waker::from(Arc::new(Touchy { place: self.case.place, strikes: self.strikes.clone() }));
            drop(Pin::new(&mut victim).poll(&mut Context::from_waker(&waker)));
            quietly(move || drop(waker));
        }
        match self.case.fate {
            Fate::Kept | Fate::Dropped => self.victim = Some(victim),
            Fate::AwaitedHere => {
                let awaited = Rc::clone(&self.awaited);
                drop(ex.spawn(async move {
                    let result = victim.await;
                    awaited.set(true);
                    quietly(move || drop(result));
                }));
            }
            Fate::AwaitedElsewhere => {
                self.elsewhere = Some(thread::spawn(move || {
                    let result = smol::block_on(victim);
                    quietly(move || drop(result));
                }));
            }
        }
    }

    /// Runs the executor until it has nothing to do.
    pub(super) fn settle(&self) {
        let Some(ex) = &self.ex else { return };
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut run = pin!(ex.run_until(pending::<()>()));
        while woken.0.swap(false, Ordering::AcqRel) {
            if run.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                return;
            }
        }
    }

    /// The moment has come.
    pub(super) fn happen(&mut self) {
        if self.case.fate == Fate::Dropped {
            let victim = self.victim.take();
            // An output that nobody else has is dropped with it.
            quietly(move || drop(victim));
        }
        match self.case.event {
            Event::Nothing => {}
            Event::Abort => self.abort.abort(),
            Event::DropExecutor => {
                let ex = self.ex.take();
                quietly(move || drop(ex));
            }
        }
    }

    /// Lets the others end, and counts.
    pub(super) fn end(mut self) -> Result<Outcome, Failure> {
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
        outcome.panics = self.strikes.count();
        Ok(outcome)
    }

    /// Counts the task's own handle, where somebody is left to have it.
    fn resolve(&mut self, outcome: &mut Outcome) -> Result<(), Failure> {
        if let Some(mut victim) = self.victim.take() {
            outcome.handles += 1;
            if let Poll::Ready(result) = poll_once(&mut victim) {
                outcome.resolved += 1;
                quietly(move || drop(result));
            }
        }
        if let Some(thread) = self.elsewhere.take() {
            outcome.handles += 1;
            // It ends when the handle has resolved; if not, the watchdog says so.
            thread.join().map_err(|_| Failure::run("the thread that awaits panicked"))?;
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

fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Does what may panic, which is nobody's business.
fn quietly(then: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(then)));
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
