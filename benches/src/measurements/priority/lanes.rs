//! What runs in the two lanes of an executor: foreground tasks as they arrive, and background tasks in an endless loop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::arrivals::{Arrival, Segment};
use crate::arms::Contender;
use crate::random::{Purpose, between, random};
use crate::stopwatch::now;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

const FOREGROUND: usize = 0;
const BACKGROUND: usize = 1;

/// Tasks of a background.
const TASKS: u64 = 8;

/// How long tasks may take to end once the last has arrived.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// When a task was first polled and when it ended, as far as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub started: Option<Instant>,
    pub completed: Option<Instant>,
}

/// What became of the foreground.
#[derive(Debug)]
pub struct Journal {
    /// In order of arrival.
    pub tasks: Box<[Cell<Times>]>,
    /// By how much pauses were too long.
    pub overslept: RefCell<Vec<Duration>>,
}

/// Takes arrivals, by number, until the other end is closed, and spawns a task for each on the thread of
/// `contender`; then waits until all have ended or the drain limit is over.
///
/// The taking itself is done by a dispatcher task in the foreground lane: it competes with the rest, as an
/// accept loop does. Must run inside [`Contender::run_until`].
pub async fn serve<C: Contender>(
    contender: &Rc<C>,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
) -> Rc<Journal> {
    let tasks = vec![Cell::default(); schedule.len()].into();
    let journal = Rc::new(Journal { tasks, overslept: RefCell::default() });
    let dispatcher = dispatch(contender.clone(), schedule, inbox, journal.clone());
    contender.spawn(FOREGROUND, dispatcher).await.expect("the dispatcher does not fail");
    journal
}

async fn dispatch<C: Contender>(
    contender: Rc<C>,
    schedule: Arc<[Arrival]>,
    mut inbox: UnboundedReceiver<usize>,
    journal: Rc<Journal>,
) {
    // Each task holds it until it has ended.
    let (held, all_ended) = oneshot::channel::<()>();
    let held = Rc::new(held);
    while let Some(number) = inbox.recv().await {
        let (schedule, journal, held) = (schedule.clone(), journal.clone(), held.clone());
        C::detach(contender.spawn(FOREGROUND, async move {
            work(&schedule[number], number, &journal).await;
            drop(held);
        }));
    }
    drop(held);
    // Which tasks have not ended by the limit is found in the journal.
    let _ = timeout(DRAIN_LIMIT, all_ended).await;
}

async fn work(arrival: &Arrival, number: usize, journal: &Journal) {
    let started = Some(now());
    journal.tasks[number].set(Times { started, completed: None });
    for &Segment { pause, cpu } in &arrival.segments {
        if !pause.is_zero() {
            let due = now() + pause;
            sleep(pause).await;
            journal.overslept.borrow_mut().push(now() - due);
        }
        burn(cpu);
    }
    journal.tasks[number].set(Times { started, completed: Some(now()) });
}

/// The shortest and the longest of times that are drawn.
pub type Range = (Duration, Duration);

/// Endless tasks.
#[derive(Clone, Copy, Debug)]
pub struct Background {
    /// The CPU time that a task uses up in one poll.
    pub poll: Range,
    /// How long it sleeps then; with `None` it is ready again at once.
    pub rest: Option<Range>,
}

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug)]
pub struct Loops {
    background: Background,
    seed: u64,
    done_ns: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    pub fn new(background: Background, seed: u64) -> Self {
        Loops { background, seed, done_ns: Arc::default(), stopped: Arc::default() }
    }

    /// Spawns the tasks, inside [`Contender::run_until`]. They run until they are stopped, or dropped with their executor.
    pub fn spawn<C: Contender>(&self, contender: &C) -> Vec<C::Handle> {
        let random = |task| random(self.seed, Purpose::Work, task);
        (0..TASKS).map(|task| contender.spawn(BACKGROUND, self.clone().repeat(random(task)))).collect()
    }

    /// The CPU time that they have used up, to a poll.
    pub fn done(&self) -> Duration {
        Duration::from_nanos(self.done_ns.load(Ordering::Relaxed))
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    async fn repeat(self, mut random: Rng) {
        let mut draw = |(shortest, longest): Range| between(&mut random, shortest, longest);
        while !self.stopped.load(Ordering::Relaxed) {
            let poll = draw(self.background.poll);
            burn(poll);
            // Counted before the rest: a poll may have been the only one of its task in a short window.
            self.done_ns.fetch_add(poll.as_nanos() as u64, Ordering::Relaxed);
            match self.background.rest {
                Some(rest) => sleep(draw(rest)).await,
                None => SelfWaking::new(1).await,
            }
        }
    }
}
