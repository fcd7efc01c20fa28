//! Promise 1: no wake is lost.
//!
//! Threads number their wakes and write each number, by a plain store, before they wake. A task that is polled notes the
//! number that it finds. After each burst a thread waits until the task has noted its last one: a wake that is lost, or
//! that does not bring its number along, is waited for in vain, and the watchdog says so.

mod waking;

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;

use anyhow::Context;
use clap::Args;
use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::host::Host;
use fastrand::Rng;
use tokio::sync::oneshot;

use crate::cases::bar;
use crate::figure::{Figure, none, told};
use crate::watchdog::{Patience, Pulse};
use waking::{Target, Waking};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    wakes: u64,
    /// 10 million wakes: some seconds. A billion take some minutes on two idle cores.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    /// What the lengths of bursts and the choice of tasks are made of.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    patience: Patience,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let wakes = if options.quick { 10_000_000 } else { options.wakes };
    let scenes = plan(wakes, &[1, 2, 3, 4, 8], options.seed);
    let bar = bar(scenes.iter().map(|scene| scene.wakes).sum());
    let mut sum = Outcome::default();
    let mut done = 0;
    for &scene in &scenes {
        bar.set_message(scene.to_string());
        sum = play(scene, sum, options.patience, |wakes| bar.set_position(done + wakes))?;
        done += scene.wakes;
    }
    Ok(vec![
        told(1, "scenes (kind × host × threads)", scenes.len()),
        told(1, "wakes from other threads", sum.wakes),
        told(1, "times a thread waited for its last wake to be seen", sum.checks),
        told(1, "polls that the wakes caused", sum.polls),
        told(1, "times the executor was asleep and was woken", sum.parks),
        // One that is waited for in vain ends the program before this.
        none(1, "wakes lost", sum.lost),
        none(1, "polls without a wake", sum.unexplained_polls),
        none(1, "tasks neither completed nor cancelled", sum.unaccounted),
    ])
}

/// Ping-pong first, on each host: 1 % of the wakes on the one that does not sleep, where they take least, and 0.1 % on each
/// of the others. The rest in equal parts for each kind of scene, host and number of threads.
fn plan(wakes: u64, threads: &[usize], seed: u64) -> Vec<Scene> {
    let mut scenes = Vec::new();
    let mut add = |kind, host, threads, wakes: u64| {
        let wakes = wakes.next_multiple_of(threads as u64);
        scenes.push(Scene { kind, host, threads, wakes, seed: seed.wrapping_add(scenes.len() as u64) });
    };
    for &host in Host::ALL {
        let share = if host == Host::Spinning { wakes / 100 } else { wakes / 1_000 };
        add(Kind::PingPong, host, 1, share.max(1));
    }
    let left = wakes - wakes / 100 - wakes / 1_000 * (Host::ALL.len() as u64 - 1);
    let share = left.div_ceil((Host::ALL.len() * threads.len() * Kind::SHARED.len()) as u64);
    for &host in Host::ALL {
        for &threads in threads {
            for kind in Kind::SHARED {
                add(kind, host, threads, share.max(1));
            }
        }
    }
    scenes
}

/// Plays a scene, and adds what came of it to the sum.
fn play(scene: Scene, sum: Outcome, patience: Patience, look: impl Fn(u64)) -> anyhow::Result<Outcome> {
    let shown = Arc::new(Shown::default());
    let shows = Arc::clone(&shown);
    let work = move |pulse| scene.play(&pulse, &shows, sum);
    patience.watch(look, work, |_| format!("{scene}, seed {}{}", scene.seed, lost(&shown)))
}

/// Which wakes no poll has followed.
fn lost(shown: &Shown) -> String {
    let targets = shown.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::new();
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| !target.is_gone()) {
        for (thread, sent, seen) in target.unseen() {
            text += &format!("; task {at}: thread {thread} sent wake {sent}, the last seen is {seen}");
        }
    }
    if text.is_empty() { "; all wakes were seen, something else hangs".into() } else { text }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
    const SHARED: [Kind; 5] = [Kind::Storm, Kind::BesideWork, Kind::Many, Kind::Clones, Kind::Lives];

    fn tasks(self) -> usize {
        match self {
            Kind::Many => 1_000,
            Kind::Lives => 64,
            _ => 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Scene {
    kind: Kind,
    host: Host,
    threads: usize,
    wakes: u64,
    seed: u64,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {}, {} waking threads", self.kind, self.host, self.threads)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    wakes: u64,
    /// How often a thread waited for its last wake to be seen.
    checks: u64,
    polls: u64,
    /// Threads' last wakes that no poll has followed.
    lost: u64,
    /// Polls more than wakes and spawns. In ping-pong also polls fewer.
    unexplained_polls: u64,
    /// Times the executor slept and was woken.
    parks: u64,
    /// Tasks that neither completed nor were cancelled.
    unaccounted: u64,
}

/// The tasks that are being woken, for the watchdog.
type Shown = Mutex<Vec<Arc<Target>>>;

/// Looks at what was sent whenever it is woken, and completes after `until` wakes.
async fn look(target: Arc<Target>, polls: Rc<Cell<u64>>, until: u64) {
    let gone = Gone(target);
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        if gone.0.look(cx) >= until { Poll::Ready(()) } else { Poll::Pending }
    })
    .await
}

/// Tells the threads when it is dropped, with the future that it is in.
struct Gone(Arc<Target>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.gone.store(true, Ordering::Release);
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

    /// Plays it, and adds what came of it.
    fn play(self, pulse: &Arc<Pulse>, shown: &Shown, mut outcome: Outcome) -> anyhow::Result<Outcome> {
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
        while !targets.iter().all(|target| target.waker.get().is_some()) {
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
        self.ex.spawn(look(Arc::clone(target), Rc::clone(&self.polls), until))
    }
}

async fn yield_always() {
    loop {
        yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_as_many_wakes_as_asked_for_and_every_scene() {
        let scenes = plan(1_000_000_000, &[1, 2, 8], 1);
        assert!(scenes.iter().map(|scene| scene.wakes).sum::<u64>() >= 1_000_000_000);
        assert_eq!(scenes.len(), Host::ALL.len() * (1 + 3 * Kind::SHARED.len()));
    }

    #[test]
    fn each_scene_accounts_for_its_wakes() {
        for scene in plan(200_000, &[2], 1) {
            let outcome = play(scene, Outcome::default(), Patience { patience: 60 }, |_| {}).unwrap();
            let wrong = (outcome.lost, outcome.unexplained_polls, outcome.unaccounted);
            assert_eq!(wrong, (0, 0, 0), "{scene}");
            assert!(outcome.checks > 0 && outcome.wakes >= scene.wakes, "{scene}");
        }
    }
}
