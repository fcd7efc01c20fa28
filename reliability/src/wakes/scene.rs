//! A scene: an executor on a host, tasks on it, and threads that wake them.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::host::Host;
use fastrand::Rng;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::lanes::Target;
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
        match self {
            Kind::Many => 1_000,
            Kind::Lives => 64,
            _ => 1,
        }
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
struct Watching {
    target: Arc<Target>,
    polls: Rc<Cell<u64>>,
    /// After how many wakes it completes.
    until: u64,
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
    /// The most wakes of a burst: so many that there are hundreds of bursts, and no more than the numbers need.
    fn burst(self) -> u64 {
        if self.kind == Kind::PingPong { 1 } else { (self.wakes / 32).clamp(1, 16_384) }
    }

    fn waking(self, thread: usize, board: &Board) -> Waking {
        Waking {
            thread,
            rng: Rng::with_seed(self.seed ^ thread as u64),
            way: self.kind.way(),
            burst: self.burst(),
            pulse: Arc::clone(&board.pulse),
        }
    }

    /// What a thread wakes in one generation of tasks.
    fn share(self) -> u64 {
        if self.kind == Kind::Lives { LIVES_WAKES } else { self.wakes / self.threads as u64 }
    }

    pub(super) fn play(self, board: &Board) -> anyhow::Result<Outcome> {
        let ex = Executor::new();
        let beside = if self.kind == Kind::BesideWork { 2 } else { 0 };
        (0..beside).for_each(|_| drop(ex.spawn(yield_always())));
        let (done, all_done) = unbounded_channel();
        let threads = (0..self.threads).map(|thread| self.start(self.waking(thread, board), done.clone()));
        let threads: Vec<Thread> = threads.collect();
        let generations = self.wakes.div_ceil(self.share() * self.threads as u64);
        let (rng, polls, outcome) = (Rng::with_seed(!self.seed), Rc::default(), Outcome::default());
        let mut play = Play { scene: self, board, ex: &ex, rng, threads, all_done, polls, outcome };
        let run = async {
            for _ in 0..generations {
                play.generation().await;
            }
        };
        self.host.run(&ex, run)?;
        let (stats, Play { mut outcome, polls, .. }) = (ex.stats(), play);
        outcome.wakes = generations * self.share() * self.threads as u64;
        outcome.polls = polls.get();
        let tasks = stats.spawned - beside;
        let explained = outcome.wakes + tasks;
        outcome.unexplained_polls = match self.kind {
            Kind::PingPong => outcome.polls.abs_diff(explained),
            _ => outcome.polls.saturating_sub(explained),
        };
        outcome.unaccounted += tasks.abs_diff(stats.completed + stats.cancelled);
        // Its host came back, and not because it was asked to. The first poll is the run's own.
        outcome.parks = (stats.host_polls - stats.host_yields).saturating_sub(1);
        Ok(outcome)
    }

    /// A thread that wakes the tasks of each generation that it is given, and says how often it waited for its last wake.
    fn start(self, mut waking: Waking, done: UnboundedSender<u64>) -> Thread {
        let (send, generations): (Thread, Receiver<Arc<Generation>>) = channel();
        thread::spawn(move || {
            for generation in generations {
                let mut checks = 0;
                let mut left = self.share();
                while left > 0 {
                    let chunk = if self.kind == Kind::Lives { LIVES_CHUNK.min(left) } else { left };
                    checks += waking.wake_all(&generation.targets, chunk);
                    left -= chunk;
                    if self.kind == Kind::Lives && waking.rng.bool() {
                        generation.aborts[waking.rng.usize(..generation.aborts.len())].abort();
                    }
                }
                drop(generation);
                if done.send(checks).is_err() {
                    return;
                }
            }
        });
        send
    }
}

/// What a thread wakes in one generation of tasks that complete and are aborted; the wakes go on when they are gone.
const LIVES_WAKES: u64 = 16_384;
/// After so many of them it may abort one.
const LIVES_CHUNK: u64 = 1_024;

type Thread = Sender<Arc<Generation>>;

/// What the threads get.
struct Generation {
    targets: Vec<Arc<Target>>,
    aborts: Vec<AbortHandle>,
}

/// A scene under way.
struct Play<'a> {
    scene: Scene,
    board: &'a Board,
    ex: &'a Executor,
    rng: Rng,
    threads: Vec<Thread>,
    all_done: UnboundedReceiver<u64>,
    polls: Rc<Cell<u64>>,
    outcome: Outcome,
}

impl Play<'_> {
    /// Spawns tasks, has them woken, and aborts those that are left.
    async fn generation(&mut self) {
        let targets: Vec<_> = (0..self.scene.kind.tasks()).map(|_| Target::new(self.scene.threads)).collect();
        let tasks: Vec<JoinHandle<()>> = targets.iter().map(|target| self.spawn(target)).collect();
        while !targets.iter().all(|target| target.is_known()) {
            yield_now().await;
        }
        self.board.targets.show(&targets);
        let aborts = tasks.iter().map(JoinHandle::abort_handle).collect();
        let generation = Arc::new(Generation { targets, aborts });
        for thread in &self.threads {
            // A thread that is gone has panicked: it is waited for in vain, which the watchdog sees.
            drop(thread.send(Arc::clone(&generation)));
        }
        for _ in 0..self.threads.len() {
            self.outcome.checks += self.all_done.recv().await.unwrap_or(0);
        }
        let there = generation.targets.iter().filter(|target| !target.is_gone());
        self.outcome.lost += there.map(|target| target.unseen().len() as u64).sum::<u64>();
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            let ended = task.await.map_or_else(|error| error.is_cancelled(), |()| true);
            self.outcome.unaccounted += u64::from(!ended);
        }
    }

    /// Half of those that live complete after some wakes.
    fn spawn(&mut self, target: &Arc<Target>) -> JoinHandle<()> {
        let completes = self.scene.kind == Kind::Lives && self.rng.bool();
        let until = if completes { self.rng.u64(1..LIVES_WAKES / 32) } else { u64::MAX };
        self.ex.spawn(Watching { target: Arc::clone(target), polls: Rc::clone(&self.polls), until })
    }
}

/// Yields, without end.
async fn yield_always() {
    loop {
        yield_now().await;
    }
}
