//! A scene: an executor on a host, tasks on it, and threads that wake them.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use anyhow::Context as _;
use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::host::Host;
use fastrand::Rng;
use tokio::sync::oneshot;

use super::waking::{Target, Waking};
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
}

/// A kind of wakes, and its size.
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

/// The tasks that are being woken, for the watchdog.
pub(super) type Shown = Mutex<Vec<Arc<Target>>>;

/// Looks at what was sent whenever it is woken, and never ends by itself, unless it was told when.
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

    /// What a thread wakes in one generation of tasks.
    fn share(self) -> u64 {
        if self.kind == Kind::Lives { LIVES_WAKES } else { self.wakes / self.threads as u64 }
    }

    /// Plays it, and counts it too.
    pub(super) fn play(
        self,
        pulse: &Arc<Pulse>,
        shown: &Shown,
        mut outcome: Outcome,
    ) -> anyhow::Result<Outcome> {
        let ex = Executor::new();
        let beside = if self.kind == Kind::BesideWork { 2 } else { 0 };
        (0..beside).for_each(|_| drop(ex.spawn(yield_always())));
        let generations = self.wakes.div_ceil(self.share() * self.threads as u64);
        let (rng, polls) = (Rng::with_seed(self.seed), Rc::default());
        let mut play = Play { scene: self, pulse, shown, ex: &ex, rng, polls, outcome: &mut outcome };
        self.host.run(&ex, async {
            for _ in 0..generations {
                play.generation().await?;
            }
            anyhow::Ok(())
        })??;
        let (stats, polls) = (ex.stats(), play.polls.get());
        let wakes = generations * self.share() * self.threads as u64;
        let tasks = stats.spawned - beside;
        outcome.wakes += wakes;
        outcome.polls += polls;
        outcome.unexplained_polls += match self.kind {
            Kind::PingPong => polls.abs_diff(wakes + tasks),
            _ => polls.saturating_sub(wakes + tasks),
        };
        outcome.unaccounted += tasks.abs_diff(stats.completed + stats.cancelled);
        // Its host came back, and not because it was asked to. The first poll is the run's own.
        outcome.parks += (stats.host_polls - stats.host_yields).saturating_sub(1);
        Ok(outcome)
    }

    /// What a thread does with a generation of tasks: it wakes them, and may abort one now and then where they complete too.
    /// How often it waited for its last wake.
    fn wake(self, mut waking: Waking, targets: &[Arc<Target>], aborts: &[AbortHandle]) -> u64 {
        let chunk = if self.kind == Kind::Lives { LIVES_CHUNK } else { self.share() };
        let mut checks = 0;
        for _ in 0..self.share() / chunk {
            checks += waking.wake_all(targets, chunk);
            if self.kind == Kind::Lives && waking.rng.bool() {
                aborts[waking.rng.usize(..aborts.len())].abort();
            }
        }
        checks
    }
}

/// What a thread wakes in one generation of tasks that complete and are aborted; the wakes go on when they are gone.
const LIVES_WAKES: u64 = 16_384;
/// After so many of them it may abort one.
const LIVES_CHUNK: u64 = 1_024;

/// A scene under way.
struct Play<'a> {
    scene: Scene,
    pulse: &'a Arc<Pulse>,
    shown: &'a Shown,
    ex: &'a Executor,
    rng: Rng,
    polls: Rc<Cell<u64>>,
    outcome: &'a mut Outcome,
}

impl Play<'_> {
    /// Spawns tasks, has them woken, and aborts those that are left.
    async fn generation(&mut self) -> anyhow::Result<()> {
        let scene = self.scene;
        let targets: Vec<_> = (0..scene.kind.tasks()).map(|_| Target::new(scene.threads)).collect();
        let tasks: Vec<JoinHandle<()>> = targets.iter().map(|target| self.spawn(target)).collect();
        while !targets.iter().all(|target| target.is_known()) {
            yield_now().await;
        }
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&targets);
        let aborts: Vec<AbortHandle> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let mut threads = Vec::new();
        for thread in 0..scene.threads {
            let (targets, aborts, waking) = (targets.clone(), aborts.clone(), self.waking(thread));
            let (done, checks) = oneshot::channel();
            thread::spawn(move || done.send(scene.wake(waking, &targets, &aborts)));
            threads.push(checks);
        }
        for checks in threads {
            self.outcome.checks += checks.await.context("a thread that wakes panicked")?;
        }
        let there = targets.iter().filter(|target| !target.is_gone());
        self.outcome.lost += there.map(|target| target.unseen().len() as u64).sum::<u64>();
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            let ended = task.await.map_or_else(|error| error.is_cancelled(), |()| true);
            self.outcome.unaccounted += u64::from(!ended);
        }
        Ok(())
    }

    fn waking(&mut self, thread: usize) -> Waking {
        let by_clones = matches!(self.scene.kind, Kind::Clones | Kind::Lives);
        let (rng, pulse) = (self.rng.fork(), Arc::clone(self.pulse));
        Waking { thread, rng, by_clones, burst: self.scene.burst(), pulse }
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
