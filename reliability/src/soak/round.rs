//! One round: an executor is made, worked with, ended in one of several ways, and its books compared with the program's.

use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::{Executor, JoinHandle, ManualClock, Queue, yield_now};
use fastrand::Rng;

use super::ledger::{Ledger, Output};
use super::tasks;
use super::workers::{Workers, resolved};
use super::world::World;
use crate::failure::Failure;
use crate::host::Host;

/// How a round ends.
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
pub(super) struct Round {
    pub(super) host: Host,
    ending: Ending,
    /// Threads that wake, abort and spawn. Without any, a round runs the same each time.
    pub(super) threads: usize,
    /// Runs that are dropped midway, before the last.
    cuts: usize,
    seed: u64,
}

/// Tasks as somebody has counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Books {
    pub(super) spawned: u64,
    pub(super) completed: u64,
    pub(super) cancelled: u64,
    pub(super) panicked: u64,
}

/// What a round was, to be compared with its repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) books: Books,
    pub(super) polls: u64,
    pub(super) faults: u64,
    pub(super) queues: u64,
    trace: u64,
}

impl Round {
    /// The round of that number in a soak.
    pub(super) fn of(seed: u64, number: u64) -> Self {
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
    pub(super) fn play(self, ledger: &Arc<Ledger>) -> Result<Summary, Failure> {
        let (world, mut workers) = self.begin(ledger)?;
        tasks::receive_in(&world.me);
        for _ in 0..self.cuts {
            cut_short(&world);
        }
        self.host.run(&world.ex, main_part(&world))?;
        let trace = world.trace.get();
        let (queues, stats) = match self.ending {
            Ending::Drained => self.drain(&world, &mut workers)?,
            Ending::ShutDown => self.shut_down(&world, &mut workers)?,
            Ending::Dropped => (world.all_queues.take(), None),
        };
        let handles = world.handles.take();
        let only = Rc::into_inner(world).ok_or_else(|| Failure::run("a task still holds the world"))?;
        drop(only);
        workers.join()?;
        workers.join_awaiter()?;
        let unresolved = resolve_all(ledger, handles);
        let (books, polls) = stats.unwrap_or_else(|| of_queues(&queues));
        check(ledger, books, unresolved)?;
        let faults = queues.iter().filter(|queue| queue.stats().policy_fault.is_some()).count() as u64;
        Ok(Summary { books, polls, faults, queues: queues.len() as u64, trace })
    }

    fn begin(self, ledger: &Arc<Ledger>) -> Result<(Rc<World>, Workers), Failure> {
        let mut rng = Rng::with_seed(self.seed);
        let clock = (self.threads == 0).then(ManualClock::new);
        let mut builder = Executor::builder()
            .host_budget(Duration::from_micros(rng.u64(..300)))
            .poll_cap(if rng.bool() { rng.u32(1..100) } else { 8_192 });
        if let Some(clock) = &clock {
            builder = builder.clock(clock.clone());
        }
        let ex = builder.build().map_err(|error| Failure::run(error.to_string()))?;
        let world = World::new(ex, rng, ledger, clock, self.ending == Ending::Dropped);
        let (workers, jobs, awaiter) = Workers::start(self.threads, ledger);
        if self.threads > 0 {
            world.jobs.replace(jobs);
            world.awaiter.replace(Some(awaiter));
        }
        Ok((world, workers))
    }

    fn drain(self, world: &World, workers: &mut Workers) -> Result<Ended, Failure> {
        if self.threads > 0 {
            // The threads end all waits.
            self.host.run(&world.ex, world.ex.drained())?;
        }
        dismiss(world, workers)?;
        self.host.run(&world.ex, finish(world))?;
        Ok(books_of(world))
    }

    fn shut_down(self, world: &World, workers: &mut Workers) -> Result<Ended, Failure> {
        let yields = world.below(200);
        let deadline = async {
            for _ in 0..yields {
                yield_now().await;
            }
        };
        self.host.shut_down(&world.ex, deadline)?;
        dismiss(world, workers)?;
        // What other threads spawned at the last moment is answered by one more run.
        self.host.run(&world.ex, finish(world))?;
        Ok(books_of(world))
    }
}

/// The queues there were, and the executor's books if it is there to be asked.
type Ended = (Vec<Queue>, Option<(Books, u64)>);

fn books_of(world: &World) -> Ended {
    let stats = world.ex.stats();
    let books = Books {
        spawned: stats.spawned,
        completed: stats.completed,
        cancelled: stats.cancelled,
        panicked: stats.panicked,
    };
    (world.all_queues.take(), Some((books, stats.polls)))
}

/// What the queues of an executor that is gone have in their books.
fn of_queues(queues: &[Queue]) -> (Books, u64) {
    let (mut sum, mut polls) = (Books::default(), 0);
    for stats in queues.iter().map(Queue::stats) {
        sum.spawned += stats.spawned;
        sum.completed += stats.completed;
        sum.cancelled += stats.cancelled;
        sum.panicked += stats.panicked;
        polls += stats.polls;
    }
    (sum, polls)
}

/// The future that is run: acts as tasks do, and waits.
async fn main_part(world: &World) {
    for _ in 0..4 + world.below(60) {
        world.act();
        match world.below(8) {
            0 => tasks::wait_or_yield(world).await,
            1 | 2 => yield_now().await,
            _ => {}
        }
    }
}

/// A run that is polled a few times and dropped.
fn cut_short(world: &World) {
    let mut run = pin!(world.ex.run_until(main_part(world)));
    for _ in 0..1 + world.below(4) {
        world.ledger.polls_dropped.add();
        if run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
}

/// No thread is asked for anything any more.
fn dismiss(world: &World, workers: &mut Workers) -> Result<(), Failure> {
    world.jobs.take();
    world.awaiter.take();
    workers.join()
}

/// Ends all waits until no task is left.
async fn finish(world: &World) {
    loop {
        // What the threads did last is taken in.
        for _ in 0..3 {
            yield_now().await;
        }
        if !world.open_all() && world.ex.stats().live == 0 {
            return;
        }
    }
}

/// All handles that are left must give what they have, now that all tasks have ended; how many do not.
fn resolve_all(ledger: &Ledger, handles: Vec<(u64, JoinHandle<Output>)>) -> u64 {
    let mut unresolved = 0;
    for (_, mut handle) in handles {
        match Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => resolved(ledger, result),
            Poll::Pending => unresolved += 1,
        }
    }
    unresolved
}

fn check(ledger: &Ledger, books: Books, unresolved: u64) -> Result<(), Failure> {
    let own = Books {
        spawned: ledger.spawned(),
        completed: ledger.completed.get(),
        cancelled: ledger.cancelled.get(),
        panicked: ledger.panicked.get(),
    };
    let wrong = |what: String| Err(Failure::run(what));
    if books != own {
        return wrong(format!("the executor's books say {books:?}, the program's {own:?}"));
    }
    if own.spawned != ledger.ended() {
        return wrong(format!("{} tasks ended: {own:?}", ledger.ended()));
    }
    if unresolved > 0 {
        return wrong(format!("{unresolved} join handles did not resolve"));
    }
    let (made, dropped) = (ledger.outputs_made.get(), ledger.outputs_dropped.get());
    if made != dropped {
        return wrong(format!("{made} outputs were made, {dropped} dropped"));
    }
    let (waits, over) = (ledger.waits.get(), ledger.waits_over.get());
    if waits != over {
        return wrong(format!("{waits} waits began, {over} ended"));
    }
    Ok(())
}
