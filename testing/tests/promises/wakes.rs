//! Promise 1: no wake is lost.
//!
//! Threads number their wakes, and write each number, by a plain store, before they wake. A task that is polled notes the
//! numbers that it finds. After each burst of wakes a thread waits until each task that it woke has noted its last number:
//! that is one check. A wake that is lost, or that does not bring its number along, is waited for in vain, and the watchdog
//! says so.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::effort::{each_seed, pick};
use clockworker_testing::host::{Host, spin_until};
use clockworker_testing::watchdog::{Pulse, watch};
use fastrand::Rng;
use tokio::sync::oneshot;

/// Bursts that each thread of a scene makes, at least.
const BURSTS: u64 = 32;

#[test]
fn the_last_wake_of_each_burst_is_followed_by_a_poll() {
    let wakes = pick(1_000, 8_000_000);
    let mut sum = Count::default();
    each_seed(1, 1, |seed| {
        for scene in scenes(wakes, seed) {
            let before = sum.checks;
            sum = watch(move |pulse| scene.play(pulse, sum), |_| format!("a wake is lost: {scene:?}"));
            let checks = sum.checks - before;
            // Tasks that are gone are not checked.
            let least = if scene.kind == Kind::Lives { 1 } else { BURSTS * scene.threads as u64 };
            assert!(checks >= least, "{checks} checks: {scene:?}");
        }
    });
    println!("{sum:?}");
    assert!(sum.parks > 0, "the executor never slept");
}

/// What came of scenes.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// How often a thread saw that its last wake of a task was followed by a poll.
    checks: u64,
    /// Times the executor slept and was woken.
    parks: u64,
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
    /// One task, also by clones of its waker that go from thread to thread.
    Clones,
    /// Tasks that complete and are aborted meanwhile; the wakes go on when they are gone.
    Lives,
}

#[derive(Clone, Copy, Debug)]
struct Scene {
    kind: Kind,
    host: Host,
    threads: usize,
    /// By each thread.
    wakes: u64,
    seed: u64,
}

/// Of more wakes than these most would be of tasks that have ended.
const MOST_OF_LIVES: u64 = 10_000;

/// Of each kind, host and number of threads, about so many wakes.
fn scenes(wakes: u64, seed: u64) -> Vec<Scene> {
    use Kind::{BesideWork, Clones, Lives, Many, PingPong, Storm};
    let mut scenes = Vec::new();
    for &host in Host::ALL {
        // On a host that sleeps, a wake that has to be seen before the next takes longest.
        let slow = if host == Host::Spinning { wakes } else { wakes / 10 };
        scenes.push(Scene { kind: PingPong, host, threads: 1, wakes: slow, seed });
        for threads in [1, 2, 3, 4, 8] {
            let wakes = wakes / threads as u64;
            for kind in [Storm, BesideWork, Many, Clones] {
                scenes.push(Scene { kind, host, threads, wakes, seed });
            }
            let (lives, wakes) = (wakes.div_ceil(MOST_OF_LIVES), wakes.min(MOST_OF_LIVES));
            scenes.extend((0..lives).map(|life| Scene {
                kind: Lives,
                host,
                threads,
                wakes,
                seed: seed + life,
            }));
        }
    }
    scenes
}

impl Scene {
    /// Plays it, and adds what came of it.
    fn play(self, pulse: &Arc<Pulse>, sum: Count) -> Count {
        let ex = Executor::new();
        let beside = if self.kind == Kind::BesideWork { 2 } else { 0 };
        (0..beside).for_each(|_| drop(ex.spawn(yield_always())));
        let polls = Rc::new(Cell::new(0));
        let checks = self.host.run(&ex, self.wake_tasks(&ex, &polls, pulse));
        let (stats, polls) = (ex.stats(), polls.get());
        let tasks = stats.spawned - beside;
        let most = self.wakes * self.threads as u64 + tasks;
        assert!(
            polls == most || (polls < most && self.kind != Kind::PingPong),
            "{polls} polls of {most}: {self:?}"
        );
        assert_eq!(stats.completed + stats.cancelled, tasks, "tasks that ended: {self:?}");
        // Its host came back, and not because it was asked to. The first poll is the run's own.
        let parks = (stats.host_polls - stats.host_yields).saturating_sub(1);
        Count { checks: sum.checks + checks, parks: sum.parks + parks }
    }

    /// Spawns tasks, has them woken by threads, and aborts those that are left. How many checks there were.
    async fn wake_tasks(self, ex: &Executor, polls: &Rc<Cell<u64>>, pulse: &Arc<Pulse>) -> u64 {
        let mut rng = Rng::with_seed(self.seed);
        let count = match self.kind {
            Kind::Many => 1_000,
            Kind::Lives => 64,
            _ => 1,
        };
        let targets: Vec<_> = (0..count).map(|_| Target::new(self.threads)).collect();
        let mut tasks = Vec::new();
        for target in &targets {
            // Half of those that live complete after some wakes.
            let completes = self.kind == Kind::Lives && rng.bool();
            let until = if completes { rng.u64(1..=self.wakes / 32) } else { u64::MAX };
            tasks.push(ex.spawn(look(Arc::clone(target), Rc::clone(polls), until)));
        }
        while !targets.iter().all(|target| target.waker.get().is_some()) {
            yield_now().await;
        }
        let aborts: Vec<AbortHandle> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let mut running = Vec::new();
        for thread in 0..self.threads {
            let (rng, targets, aborts) = (rng.fork(), targets.clone(), aborts.clone());
            let mut waking = Waking { scene: self, thread, rng, targets, aborts, pulse: Arc::clone(pulse) };
            let (done, checks) = oneshot::channel();
            thread::spawn(move || done.send(waking.wake_all()));
            running.push(checks);
        }
        let mut checks = 0;
        for thread in running {
            checks += thread.await.expect("a thread that wakes panicked");
        }
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            assert!(task.await.map_or_else(|error| error.is_cancelled(), |()| true), "a task panicked");
        }
        checks
    }
}

async fn yield_always() {
    loop {
        yield_now().await;
    }
}

/// Notes what was sent whenever it is woken, and completes after `until` wakes.
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

/// One waking thread's side of one task. Apart from the others in memory, so that nothing but the wake orders them.
#[derive(Default)]
#[repr(align(128))]
struct Lane {
    /// The number of the last wake, written before it.
    sent: AtomicU64,
    /// The greatest number that a poll of the task has found.
    seen: AtomicU64,
}

/// A task, as the threads that wake it see it.
#[derive(Default)]
struct Target {
    lanes: Vec<Lane>,
    /// From the first poll on.
    waker: OnceLock<Waker>,
    /// A clone that a thread leaves for another.
    left: Mutex<Option<Waker>>,
    /// The future was dropped: nothing more is seen.
    gone: AtomicBool,
}

impl Target {
    fn new(threads: usize) -> Arc<Self> {
        let lanes = (0..threads).map(|_| Lane::default()).collect();
        Arc::new(Target { lanes, ..Target::default() })
    }

    /// A poll of the task: notes what has been sent. The sum of all numbers.
    fn look(&self, cx: &Context<'_>) -> u64 {
        self.waker.get_or_init(|| cx.waker().clone());
        let mut sum = 0;
        for lane in &self.lanes {
            // Ordering: Relaxed on purpose, here and in `send`: it is the wake that has to publish the number.
            let sent = lane.sent.load(Ordering::Relaxed);
            if sent != lane.seen.load(Ordering::Relaxed) {
                lane.seen.store(sent, Ordering::Relaxed);
            }
            sum += sent;
        }
        sum
    }

    /// Numbers the next wake of that thread.
    fn send(&self, thread: usize) -> &Waker {
        let lane = &self.lanes[thread];
        lane.sent.store(lane.sent.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.waker.get().expect("it was polled")
    }

    /// Waits until the last wake of that thread was followed by a poll. False if the task is gone: nothing is known then.
    fn is_seen(&self, thread: usize) -> bool {
        let lane = &self.lanes[thread];
        let is_seen = || lane.seen.load(Ordering::Relaxed) == lane.sent.load(Ordering::Relaxed);
        spin_until(|| is_seen() || self.gone.load(Ordering::Acquire));
        is_seen()
    }
}

/// A thread that wakes tasks, in bursts, and waits after each until the tasks have seen the last of it.
struct Waking {
    scene: Scene,
    thread: usize,
    rng: Rng,
    targets: Vec<Arc<Target>>,
    aborts: Vec<AbortHandle>,
    pulse: Arc<Pulse>,
}

impl Waking {
    /// Does its wakes; how many checks there were.
    fn wake_all(&mut self) -> u64 {
        let (mut left, mut checks) = (self.scene.wakes, 0);
        // As many bursts are as likely as half of them, a quarter and so on.
        let longest = (self.scene.wakes / BURSTS).clamp(1, 16_384).ilog2();
        while left > 0 {
            let burst = if self.scene.kind == Kind::PingPong { 1 } else { 1 << self.rng.u32(..=longest) };
            let burst = left.min(burst);
            checks += self.wake_burst(burst);
            left -= burst;
            self.pulse.beat(burst);
            // One is aborted now and then where they complete too.
            if self.scene.kind == Kind::Lives && self.rng.u8(..16) == 0 {
                self.aborts[self.rng.usize(..self.aborts.len())].abort();
            }
            // Some nanoseconds, so that wakes fall into every moment of going to sleep.
            (0..self.rng.u32(..100)).for_each(|_| std::hint::spin_loop());
        }
        checks
    }

    fn wake_burst(&mut self, burst: u64) -> u64 {
        let mut woken = Vec::new();
        for _ in 0..burst {
            let at = if self.targets.len() == 1 { 0 } else { self.rng.usize(..self.targets.len()) };
            self.wake(at);
            if woken.last() != Some(&at) {
                woken.push(at);
            }
        }
        woken.sort_unstable();
        woken.dedup();
        woken.iter().filter(|&&at| self.targets[at].is_seen(self.thread)).count() as u64
    }

    /// Not only by reference, but also by a clone, beside clones that are dropped, or by the clone of another thread.
    #[allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]
    fn wake(&mut self, at: usize) {
        let target = &self.targets[at];
        let waker = target.send(self.thread);
        let by_clones = matches!(self.scene.kind, Kind::Clones | Kind::Lives);
        match if by_clones { self.rng.u8(..4) } else { 0 } {
            0 => waker.wake_by_ref(),
            1 => waker.clone().wake(),
            2 => {
                let left = target.left.lock().unwrap().replace(waker.clone());
                left.unwrap_or_else(|| waker.clone()).wake();
            }
            _ => {
                let clones = [waker.clone(), waker.clone()];
                clones[0].wake_by_ref();
            }
        }
    }
}
