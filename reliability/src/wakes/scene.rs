//! A scene: an executor on a host, tasks on it, and threads that wake them.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use clockworker::{Executor, ExecutorStats, yield_now};
use clockworker_testing::host::Host;
use fastrand::Rng;
use tokio::sync::mpsc;

use super::lanes::Target;
use super::lives;
use super::waking::{Waking, Way};
use crate::watchdog::Pulse;

/// What is woken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One thread, one task, and the next wake only when the last was seen: one poll for each.
    PingPong,
    /// One task, in bursts.
    Storm,
    /// The same, beside tasks that are always ready, so that the executor never sleeps.
    BesideWork,
    /// A thousand tasks at random.
    Many,
    /// One task, by clones of its waker that go from thread to thread.
    Clones,
    /// Tasks that complete and are aborted meanwhile.
    Lives,
}

impl Kind {
    pub(super) const SHARED: [Kind; 5] =
        [Kind::Storm, Kind::BesideWork, Kind::Many, Kind::Clones, Kind::Lives];

    fn tasks(self) -> usize {
        if self == Kind::Many { 1_000 } else { 1 }
    }

    fn way(self) -> Way {
        if matches!(self, Kind::Clones | Kind::Lives) { Way::Any } else { Way::ByRef }
    }
}

/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub(super) kind: Kind,
    pub(super) host: Host,
    pub(super) threads: usize,
    pub(super) wakes: u64,
    pub(super) seed: u64,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {}, {} waking threads", self.kind, self.host, self.threads)
    }
}

/// What a scene has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) wakes: u64,
    /// How often a thread waited for its last wake to be seen.
    pub(super) checks: u64,
    pub(super) polls: u64,
    /// Threads' last wakes that no poll has followed.
    pub(super) lost: u64,
    /// Polls more than wakes and spawns. In ping-pong also polls fewer.
    pub(super) unexplained_polls: u64,
    /// Times the executor slept and was woken.
    pub(super) parks: u64,
    /// Tasks that neither completed nor were cancelled.
    pub(super) unaccounted: u64,
}

/// What the watchdog looks at.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) pulse: Arc<Pulse>,
    pub(super) targets: Arc<Shown>,
}

/// The tasks that are being woken.
#[derive(Debug, Default)]
pub(super) struct Shown(Mutex<Vec<Arc<Target>>>);

impl Shown {
    pub(super) fn show(&self, targets: &[Arc<Target>]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = targets.to_vec();
    }

    /// Which wakes no poll has followed.
    pub(super) fn lost(&self) -> String {
        let targets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for (at, target) in targets.iter().enumerate().filter(|(_, target)| !target.is_gone()) {
            for (thread, sent, seen) in target.unseen() {
                text += &format!("; task {at}: thread {thread} sent wake {sent}, the last seen is {seen}");
            }
        }
        if text.is_empty() { "; all wakes were seen, something else hangs".into() } else { text }
    }
}

/// Reads the board whenever it is woken, and never ends by itself, unless it was told when.
pub(super) struct Watching {
    pub(super) target: Arc<Target>,
    pub(super) polls: Rc<Cell<u64>>,
    /// After how many wakes it completes.
    pub(super) until: u64,
}

impl Future for Watching {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.polls.set(self.polls.get() + 1);
        if self.target.look(cx) >= self.until { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.target.leave();
    }
}

impl Scene {
    pub(super) fn play(self, board: &Board) -> anyhow::Result<Outcome> {
        match self.kind {
            Kind::Lives => lives::play(self, board),
            _ => self.play_steadily(board),
        }
    }

    /// The most wakes of a burst: so many that there are hundreds of bursts, and no more than the numbers need.
    fn burst(self) -> u64 {
        if self.kind == Kind::PingPong { 1 } else { (self.wakes / 32).clamp(1, 16_384) }
    }

    pub(super) fn waking(self, thread: usize, board: &Board) -> Waking {
        Waking {
            thread,
            rng: Rng::with_seed(self.seed ^ thread as u64),
            way: self.kind.way(),
            burst: self.burst(),
            pulse: Arc::clone(&board.pulse),
        }
    }

    /// The tasks stay until all wakes are done.
    fn play_steadily(self, board: &Board) -> anyhow::Result<Outcome> {
        let ex = Executor::new();
        let (polls, targets) = (Rc::new(Cell::new(0)), self.targets());
        let tasks: Vec<_> = targets.iter().map(|target| watch(&ex, target, &polls, u64::MAX)).collect();
        if self.kind == Kind::BesideWork {
            (0..2).for_each(|_| drop(ex.spawn(yield_always())));
        }
        ex.block_on(known(&targets));
        board.targets.show(&targets);
        let before = ex.stats();
        let (done, mut all_done) = mpsc::unbounded_channel::<()>();
        let share = self.wakes / self.threads as u64;
        let threads: Vec<_> = (0..self.threads)
            .map(|thread| {
                let (mut waking, targets, done) = (self.waking(thread, board), targets.clone(), done.clone());
                thread::spawn(move || {
                    let checks = waking.wake_all(&targets, share);
                    drop(done);
                    checks
                })
            })
            .collect();
        drop(done);
        self.host.run(&ex, async { while all_done.recv().await.is_some() {} })?;
        let checks = threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum();
        let (wakes, polls) = (share * self.threads as u64, polls.get());
        let explained = wakes + tasks.len() as u64;
        let unexplained_polls = match self.kind {
            Kind::PingPong => polls.abs_diff(explained),
            _ => polls.saturating_sub(explained),
        };
        let (lost, parks) = (lost(&targets), parks_between(&before, &ex.stats()));
        Ok(Outcome { wakes, checks, polls, lost, unexplained_polls, parks, unaccounted: 0 })
    }

    fn targets(self) -> Vec<Arc<Target>> {
        (0..self.kind.tasks()).map(|_| Target::new(self.threads)).collect()
    }
}

pub(super) fn watch(
    ex: &Executor,
    target: &Arc<Target>,
    polls: &Rc<Cell<u64>>,
    until: u64,
) -> clockworker::JoinHandle<()> {
    ex.spawn(Watching { target: Arc::clone(target), polls: Rc::clone(polls), until })
}

/// What was sent to tasks that are still there, and not seen.
pub(super) fn lost(targets: &[Arc<Target>]) -> u64 {
    targets.iter().filter(|target| !target.is_gone()).map(|target| target.unseen().len() as u64).sum()
}

/// Yields, without end.
async fn yield_always() {
    loop {
        yield_now().await;
    }
}

/// Waits until each task can be woken.
pub(super) async fn known(targets: &[Arc<Target>]) {
    while !targets.iter().all(|target| target.is_known()) {
        yield_now().await;
    }
}

/// How often the executor slept: its host came back, and not because it was asked to.
pub(super) fn parks_between(before: &ExecutorStats, after: &ExecutorStats) -> u64 {
    let polls = after.host_polls - before.host_polls;
    // The first is the run's own.
    polls.saturating_sub(after.host_yields - before.host_yields).saturating_sub(1)
}
