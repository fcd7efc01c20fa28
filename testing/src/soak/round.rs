//! One round: an executor is made, worked with, ended in one of several ways, and its books compared with the program's.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use clockworker::{Executor, JoinHandle, ManualClock, Queue, yield_now};
use fastrand::Rng;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::ledger::{Ledger, Output, Tally, resolved};
use super::shared::{Awaiter, Job, Shared};
use super::tasks::{self, Gate, Opener};
use crate::driving::poll_once;
use crate::host::Host;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// When no task is left.
    Drained,
    /// By a shutdown, after some yields.
    ShutDown,
    /// The executor is dropped while all are at it.
    Dropped,
}

/// What a round is made of; all of it from its seed.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    host: Host,
    ending: Ending,
    /// Threads that wake, abort and spawn. Without any, a round runs the same each time.
    pub threads: usize,
    /// Runs that are dropped midway, before the last.
    cuts: usize,
    seed: u64,
}

/// What a round was, to be compared with its repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    tasks: [u64; 4],
    /// Polls of tasks.
    pub polls: u64,
    /// Queues whose scheduler was reported.
    pub faults: u64,
    /// Queues that there were.
    pub queues: u64,
    trace: u64,
}

impl Round {
    /// The round of that number in a soak.
    pub fn of(seed: u64, number: u64) -> Self {
        let seed = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut rng = Rng::with_seed(seed);
        Round {
            host: Host::ALL[rng.usize(..Host::ALL.len())],
            ending: [Ending::Drained, Ending::ShutDown, Ending::Dropped][rng.usize(..3)],
            threads: [0, 1, 2, 3][rng.usize(..4)],
            cuts: if rng.bool() { rng.usize(1..8) } else { 0 },
            seed: rng.u64(..),
        }
    }

    /// Plays it. The ledger must be new.
    ///
    /// # Errors
    ///
    /// If the books do not balance, or a thread panicked.
    pub fn play(self, ledger: &Arc<Ledger>) -> anyhow::Result<Summary> {
        let (shared, mut workers) = self.begin(ledger)?;
        tasks::SHARED.replace(shared.me.clone());
        for _ in 0..self.cuts {
            cut_short(&shared);
        }
        self.host.run(&shared.ex, main_part(&shared))?;
        let trace = shared.trace.get();
        self.end(&shared, &mut workers)?;
        let stats = (self.ending != Ending::Dropped).then(|| shared.ex.stats());
        let (queues, handles) = (shared.all_queues.take(), shared.handles.take());
        drop(Rc::into_inner(shared).context("a task still holds what they share")?);
        workers.join()?;
        // All handles that it got have resolved then.
        ended(workers.awaiter)?;
        let unresolved = resolve_all(ledger, handles);
        let (tasks, polls) = match stats {
            Some(stats) => ([stats.spawned, stats.completed, stats.cancelled, stats.panicked], stats.polls),
            None => of_queues(&queues),
        };
        check(ledger, tasks, unresolved)?;
        let faults = queues.iter().filter(|queue| queue.stats().policy_fault.is_some()).count() as u64;
        Ok(Summary { tasks, polls, faults, queues: queues.len() as u64, trace })
    }

    fn begin(self, ledger: &Arc<Ledger>) -> anyhow::Result<(Rc<Shared>, Workers)> {
        let mut rng = Rng::with_seed(self.seed);
        let clock = (self.threads == 0).then(ManualClock::new);
        let mut builder = Executor::builder()
            .host_budget(Duration::from_micros(rng.u64(..300)))
            .poll_cap(if rng.bool() { rng.u32(1..100) } else { 8_192 });
        if let Some(clock) = &clock {
            builder = builder.clock(clock.clone());
        }
        let ex = builder.build()?;
        let (workers, jobs, awaiter) = Workers::start(self.threads, ledger);
        let queues = RefCell::new(vec![ex.default_queue().clone()]);
        let shared = Rc::new_cyclic(|me| Shared {
            ex,
            me: me.clone(),
            ledger: Arc::clone(ledger),
            clock,
            all_queues: queues.clone(),
            queues,
            groups: RefCell::default(),
            handles: RefCell::default(),
            aborts: RefCell::default(),
            wakers: RefCell::default(),
            openers: RefCell::default(),
            jobs: RefCell::new(jobs),
            awaiter: RefCell::new((self.threads > 0).then_some(awaiter)),
            remote_on_default: self.ending == Ending::Dropped,
            ids: Cell::new(0),
            budget: Cell::new(rng.u32(50..1_500)),
            rng: RefCell::new(rng),
            trace: Cell::new(0),
        });
        Ok((shared, workers))
    }

    /// Ends all tasks, unless the drop of the executor is to do that.
    fn end(self, shared: &Shared, workers: &mut Workers) -> anyhow::Result<()> {
        match self.ending {
            // The threads end all waits.
            Ending::Drained if self.threads > 0 => self.host.run(&shared.ex, shared.ex.drained())?,
            Ending::Drained => {}
            Ending::ShutDown => {
                let yields = shared.below(200);
                let deadline = async {
                    for _ in 0..yields {
                        yield_now().await;
                    }
                };
                self.host.shut_down(&shared.ex, deadline)?;
            }
            Ending::Dropped => return Ok(()),
        }
        // No thread is asked for anything any more.
        shared.jobs.take();
        shared.awaiter.take();
        workers.join()?;
        // What other threads spawned at the last moment is answered by one more run.
        Ok(self.host.run(&shared.ex, finish(shared))?)
    }
}

/// The tasks and polls that the queues of an executor that is gone have in their books.
fn of_queues(queues: &[Queue]) -> ([u64; 4], u64) {
    let (mut tasks, mut polls) = ([0; 4], 0);
    for stats in queues.iter().map(Queue::stats) {
        let counts = [stats.spawned, stats.completed, stats.cancelled, stats.panicked];
        tasks.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        polls += stats.polls;
    }
    (tasks, polls)
}

/// The future that is run: acts as tasks do, and waits.
async fn main_part(shared: &Shared) {
    for _ in 0..4 + shared.below(60) {
        shared.act();
        match shared.below(8) {
            // Without threads nothing would end the wait.
            0 if !shared.jobs.borrow().is_empty() => Gate::new(shared).await,
            0..=2 => yield_now().await,
            _ => {}
        }
    }
}

fn cut_short(shared: &Shared) {
    let mut run = pin!(shared.ex.run_until(main_part(shared)));
    for _ in 0..1 + shared.below(4) {
        shared.ledger.add(Tally::PollsDropped);
        if poll_once(&mut run).is_ready() {
            break;
        }
    }
}

/// Ends all waits until no task is left.
async fn finish(shared: &Shared) {
    loop {
        // What the threads did last is taken in.
        for _ in 0..3 {
            yield_now().await;
        }
        let openers = shared.openers.take();
        if openers.is_empty() && shared.ex.stats().live == 0 {
            return;
        }
        openers.into_iter().for_each(Opener::open);
    }
}

/// All handles that are left must give what they have, now that all tasks have ended; how many do not.
fn resolve_all(ledger: &Ledger, handles: Vec<(u64, JoinHandle<Output>)>) -> u64 {
    let mut unresolved = 0;
    for (_, mut handle) in handles {
        match poll_once(&mut handle) {
            Poll::Ready(result) => resolved(ledger, result),
            Poll::Pending => unresolved += 1,
        }
    }
    unresolved
}

fn check(ledger: &Ledger, tasks: [u64; 4], unresolved: u64) -> anyhow::Result<()> {
    let own = ledger.tasks();
    ensure!(
        tasks == own,
        "spawned, completed, cancelled, panicked: {tasks:?} for the executor, {own:?} here"
    );
    ensure!(own[0] == own[1..].iter().sum::<u64>(), "other tasks ended than were spawned: {own:?}");
    ensure!(unresolved == 0, "{unresolved} join handles did not resolve");
    let [made, dropped] = [Tally::OutputsMade, Tally::OutputsDropped].map(|of| ledger.get(of));
    ensure!(made == dropped, "{made} outputs were made, {dropped} dropped");
    let [waits, over] = [Tally::Waits, Tally::WaitsOver].map(|of| ledger.get(of));
    ensure!(waits == over, "{waits} waits began, {over} ended");
    Ok(())
}

/// The threads of a round. They end when the senders of jobs and handles are gone.
struct Workers {
    threads: Vec<thread::JoinHandle<()>>,
    awaiter: thread::JoinHandle<()>,
}

impl Workers {
    /// Starts so many, and the one that awaits.
    fn start(count: usize, ledger: &Arc<Ledger>) -> (Self, Vec<Sender<Job>>, Awaiter) {
        let (awaiter, handles) = unbounded_channel();
        let books = Arc::clone(ledger);
        let awaiting = thread::spawn(move || await_all(handles, &books));
        let start = |_| {
            let (send, receive) = channel::<Job>();
            (thread::spawn(move || receive.iter().for_each(|job| job())), send)
        };
        let (threads, jobs) = (0..count).map(start).unzip();
        (Workers { threads, awaiter: awaiting }, jobs, awaiter)
    }

    /// Waits for those that wake, abort and spawn.
    fn join(&mut self) -> anyhow::Result<()> {
        self.threads.drain(..).try_for_each(ended)
    }
}

fn ended(thread: thread::JoinHandle<()>) -> anyhow::Result<()> {
    thread.join().ok().context("a thread beside the executor panicked")
}

fn await_all(mut handles: UnboundedReceiver<JoinHandle<Output>>, ledger: &Arc<Ledger>) {
    let ex = Executor::new();
    ex.block_on(async {
        while let Some(handle) = handles.recv().await {
            let ledger = Arc::clone(ledger);
            ex.spawn(async move {
                resolved(&ledger, handle.await);
                ledger.add(Tally::JoinedElsewhere);
            });
        }
        ex.drained().await;
    });
}
