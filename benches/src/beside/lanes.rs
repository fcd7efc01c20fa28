//! What runs in the two lanes of an executor: foreground tasks as they arrive, and background tasks in an endless loop.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::arms::Contender;
use crate::stopwatch::now;
use crate::workload::arrivals::{Arrival, Segment};
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

const FOREGROUND: usize = 0;
pub(super) const BACKGROUND: usize = 1;

/// How long tasks may take to end once the last has arrived. What has not ended then is reported as unfinished.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// When a task was first polled and when it ended, as far as it came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) started: Option<Instant>,
    pub(super) completed: Option<Instant>,
}

type Journal = Rc<[Cell<Times>]>;

/// Takes arrivals, by number, until the other end is closed, and spawns a task for each on the thread of
/// `contender`; then waits until all have ended or the drain limit is over. Returns each task's times.
///
/// The taking itself is done by a dispatcher task in the foreground lane: it competes with the rest, as an
/// accept loop does. Must run inside [`Contender::run_until`].
pub(super) async fn serve<C: Contender>(
    contender: &Rc<C>,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
) -> Vec<Times> {
    let journal: Journal = vec![Cell::default(); schedule.len()].into();
    let dispatcher = dispatch(contender.clone(), schedule, inbox, journal.clone());
    contender.spawn(FOREGROUND, dispatcher).await.expect("the dispatcher does not fail");
    journal.iter().map(Cell::get).collect()
}

async fn dispatch<C: Contender>(
    contender: Rc<C>,
    schedule: Arc<[Arrival]>,
    mut inbox: UnboundedReceiver<usize>,
    journal: Journal,
) {
    // Each task holds it until it has ended.
    let (held, all_ended) = oneshot::channel::<()>();
    let held = Rc::new(held);
    while let Some(number) = inbox.recv().await {
        let (schedule, journal, held) = (schedule.clone(), journal.clone(), held.clone());
        // Its handle is dropped, which detaches the task: the journal hears of its end.
        drop(contender.spawn(FOREGROUND, async move {
            work(&schedule[number], &journal[number]).await;
            drop(held);
        }));
    }
    drop(held);
    // Which tasks have not ended by the limit is found in the journal.
    let _ = timeout(DRAIN_LIMIT, all_ended).await;
}

async fn work(arrival: &Arrival, times: &Cell<Times>) {
    let started = Some(now());
    times.set(Times { started, completed: None });
    for &Segment { pause, cpu } in &arrival.segments {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        burn(cpu);
    }
    times.set(Times { started, completed: Some(now()) });
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Background {
    pub(crate) tasks: usize,
    /// The CPU time that a task uses up in one iteration, which is one poll.
    pub(crate) poll: Duration,
    /// How long it sleeps then; with `None` it is ready again at once.
    pub(crate) rest: Option<Duration>,
}

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    background: Background,
    iterations: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    pub(crate) fn new(background: Background) -> Self {
        Loops { background, iterations: Arc::default(), stopped: Arc::default() }
    }

    /// Spawns the tasks in a lane. They run until they are stopped, or dropped with their executor.
    ///
    /// Must be called inside [`Contender::run_until`].
    pub(crate) fn spawn<C: Contender>(&self, contender: &C, lane: usize) -> Vec<C::Handle> {
        (0..self.background.tasks).map(|_| contender.spawn(lane, self.clone().repeat())).collect()
    }

    pub(crate) fn iterations(&self) -> u64 {
        self.iterations.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    async fn repeat(self) {
        while !self.stopped.load(Ordering::Relaxed) {
            burn(self.background.poll);
            // Counted before the rest: a poll may have been the only one of its task in a short window.
            self.iterations.fetch_add(1, Ordering::Relaxed);
            match self.background.rest {
                Some(pause) => sleep(pause).await,
                None => SelfWaking::new(1).await,
            }
        }
    }
}
