//! Promise 1: no wake is lost.
//!
//! Threads number their wakes, and write each number, by a plain store, before they wake. A task that is polled notes the
//! numbers that it finds. After each burst of wakes a thread waits until each task that it woke has noted its last number:
//! that is one check. A wake that is lost, or that does not bring its number along, is waited for in vain, and the watchdog
//! says which.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::effort::{each_seed, pick};
use clockworker_testing::host::{Host, spin_until};
use clockworker_testing::pulse::Pulse;
use clockworker_testing::watchdog::{PATIENCE, watch};
use fastrand::Rng;
use tokio::sync::oneshot;

const THREADS: [usize; 5] = [1, 2, 3, 4, 8];

/// Bursts that each thread of a scene makes, at least.
const BURSTS: u64 = 32;

#[test]
fn the_last_wake_of_each_burst_is_followed_by_a_poll() {
    let wakes = pick(4_000, 8_000_000);
    let mut sum = Count::default();
    each_seed(1, 1, |seed| {
        for scene in scenes(wakes, seed) {
            let count = scene.play_watched();
            assert!(count.checks >= scene.least_checks(), "{scene:?}: {count:?}");
            sum.add(&count);
        }
    });
    println!("{sum:?}");
    assert!(sum.parks > 0, "the executor never slept");
}

/// What came of scenes.
#[derive(Debug, Default)]
struct Count {
    /// How often a thread saw that its last wake of a task was followed by a poll.
    checks: u64,
    wakes: u64,
    /// Polls that the wakes caused.
    polls: u64,
    /// Times the executor slept and was woken.
    parks: u64,
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.checks += other.checks;
        self.wakes += other.wakes;
        self.polls += other.polls;
        self.parks += other.parks;
    }
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

#[derive(Clone, Copy, Debug)]
struct Scene {
    kind: Kind,
    host: Host,
    threads: usize,
    /// By each thread and generation of tasks.
    wakes: u64,
    generations: u64,
    seed: u64,
}

/// What a thread wakes in one generation of tasks that complete and are aborted; the wakes go on when they are gone.
const LIVES_WAKES: u64 = 16_384;
/// After so many of them it may abort one.
const LIVES_CHUNK: u64 = 1_024;

/// One of each kind, host and number of threads, of about so many wakes.
fn scenes(wakes: u64, seed: u64) -> Vec<Scene> {
    use Kind::{BesideWork, Clones, Lives, Many, PingPong, Storm};
    let mut scenes = Vec::new();
    for &host in Host::ALL {
        // On a host that sleeps, a wake that has to be seen before the next takes longest.
        let slow = if host == Host::Spinning { wakes } else { wakes / 10 };
        scenes.push(Scene { kind: PingPong, host, threads: 1, wakes: slow, generations: 1, seed });
        for threads in THREADS {
            let each = wakes / threads as u64;
            for kind in [Storm, BesideWork, Many, Clones] {
                scenes.push(Scene { kind, host, threads, wakes: each, generations: 1, seed });
            }
            let generations = each.div_ceil(LIVES_WAKES);
            scenes.push(Scene { kind: Lives, host, threads, wakes: LIVES_WAKES, generations, seed });
        }
    }
    scenes
}

impl Scene {
    fn play_watched(self) -> Count {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let shows = Arc::clone(&shown);
        watch(PATIENCE, move |pulse| self.play(pulse, &shows), |_| format!("{self:?}{}", unseen(&shown)))
    }

    /// The most wakes of a burst.
    fn burst(self) -> u64 {
        if self.kind == Kind::PingPong { 1 } else { (self.wakes / BURSTS).clamp(1, 16_384) }
    }

    /// Tasks that are gone are not checked.
    fn least_checks(self) -> u64 {
        if self.kind == Kind::Lives { 1 } else { BURSTS * self.threads as u64 }
    }

    fn play(self, pulse: &Arc<Pulse>, shown: &Shown) -> Count {
        let ex = Executor::new();
        let beside = if self.kind == Kind::BesideWork { 2 } else { 0 };
        (0..beside).for_each(|_| drop(ex.spawn(yield_always())));
        let mut rng = Rng::with_seed(self.seed);
        let polls = Rc::new(Cell::new(0));
        let generations = async {
            let mut checks = 0;
            for _ in 0..self.generations {
                checks += self.generation(&ex, &mut rng, &polls, pulse, shown).await;
            }
            checks
        };
        let checks = self.host.run(&ex, generations).unwrap();
        let (stats, polls) = (ex.stats(), polls.get());
        let wakes = self.generations * self.wakes * self.threads as u64;
        let tasks = stats.spawned - beside;
        let is_explained =
            if self.kind == Kind::PingPong { polls == wakes + tasks } else { polls <= wakes + tasks };
        assert!(is_explained, "{self:?}: {polls} polls of {tasks} tasks after {wakes} wakes");
        assert_eq!(stats.completed + stats.cancelled, tasks, "{self:?}: tasks that ended");
        // Its host came back, and not because it was asked to. The first poll is the run's own.
        let parks = (stats.host_polls - stats.host_yields).saturating_sub(1);
        Count { checks, wakes, polls, parks }
    }

    /// Spawns tasks, has them woken, and aborts those that are left. How many checks there were.
    async fn generation(
        self,
        ex: &Executor,
        rng: &mut Rng,
        polls: &Rc<Cell<u64>>,
        pulse: &Arc<Pulse>,
        shown: &Shown,
    ) -> u64 {
        let count = match self.kind {
            Kind::Many => 1_000,
            Kind::Lives => 64,
            _ => 1,
        };
        let targets: Vec<_> = (0..count).map(|_| Target::new(self.threads)).collect();
        let mut spawn = |target: &Arc<Target>| {
            // Half of those that live complete after some wakes.
            let completes = self.kind == Kind::Lives && rng.bool();
            let until = if completes { rng.u64(1..LIVES_WAKES / 32) } else { u64::MAX };
            ex.spawn(look(Arc::clone(target), Rc::clone(polls), until))
        };
        let tasks: Vec<JoinHandle<()>> = targets.iter().map(&mut spawn).collect();
        while !targets.iter().all(|target| target.waker.get().is_some()) {
            yield_now().await;
        }
        lock(shown).clone_from(&targets);
        let aborts: Vec<AbortHandle> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let threads: Vec<_> = (0..self.threads)
            .map(|thread| {
                let by_clones = matches!(self.kind, Kind::Clones | Kind::Lives);
                let (rng, pulse) = (rng.fork(), Arc::clone(pulse));
                let mut waking = Waking { thread, rng, by_clones, burst: self.burst(), pulse };
                let (targets, aborts) = (targets.clone(), aborts.clone());
                let (done, checks) = oneshot::channel();
                thread::spawn(move || done.send(self.wake(&mut waking, &targets, &aborts)));
                checks
            })
            .collect();
        let mut checks = 0;
        for thread in threads {
            checks += thread.await.expect("a thread that wakes panicked");
        }
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            assert!(
                task.await.map_or_else(|error| error.is_cancelled(), |()| true),
                "{self:?}: a task panicked"
            );
        }
        checks
    }

    /// What a thread does with a generation of tasks: it wakes them, and may abort one now and then where they complete too.
    fn wake(self, waking: &mut Waking, targets: &[Arc<Target>], aborts: &[AbortHandle]) -> u64 {
        if self.kind != Kind::Lives {
            return waking.wake_all(targets, self.wakes);
        }
        let mut checks = 0;
        for _ in 0..self.wakes / LIVES_CHUNK {
            checks += waking.wake_all(targets, LIVES_CHUNK);
            if waking.rng.bool() {
                aborts[waking.rng.usize(..aborts.len())].abort();
            }
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

/// The tasks that are being woken, for the watchdog.
type Shown = Mutex<Vec<Arc<Target>>>;

/// Which wakes no poll has followed.
fn unseen(shown: &Shown) -> String {
    let mut text = String::new();
    for (at, target) in lock(shown).iter().enumerate().filter(|(_, target)| !target.is_gone()) {
        for (thread, lane) in target.lanes.iter().enumerate().filter(|(_, lane)| !lane.is_settled()) {
            text += &format!("; task {at}, thread {thread}: {lane:?}");
        }
    }
    if text.is_empty() { "; all wakes were seen, something else hangs".into() } else { text }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One waking thread's side of one task. Apart from the others in memory, so that nothing but the wake orders them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Lane {
    /// The number of the last wake, written before it.
    sent: AtomicU64,
    /// The greatest number that a poll of the task has found.
    seen: AtomicU64,
}

impl Lane {
    /// Whether a poll has found what was sent last.
    fn is_settled(&self) -> bool {
        self.seen.load(Ordering::Relaxed) == self.sent.load(Ordering::Relaxed)
    }
}

/// A task, as the threads that wake it see it.
#[derive(Debug, Default)]
struct Target {
    lanes: Vec<Lane>,
    /// From the first poll on.
    waker: OnceLock<Waker>,
    /// Clones of its waker, on their way from one thread to another.
    exchange: Mutex<Vec<Waker>>,
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

    /// Leaves a waker of this task there and takes one that another thread left.
    fn exchange(&self, rng: &mut Rng, waker: Waker) -> Waker {
        const KEPT: usize = 64;
        let mut kept = lock(&self.exchange);
        if kept.len() < KEPT {
            kept.push(waker.clone());
            return waker;
        }
        let at = rng.usize(..kept.len());
        std::mem::replace(&mut kept[at], waker)
    }

    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }
}

/// A thread that wakes tasks, in bursts, and waits after each until the tasks have seen the last of it.
struct Waking {
    thread: usize,
    rng: Rng,
    /// Not only by reference, but also by a clone, or by a clone that another thread made; clones are dropped elsewhere too.
    by_clones: bool,
    /// The most wakes of a burst; as many are as likely as half of it, a quarter and so on.
    burst: u64,
    pulse: Arc<Pulse>,
}

impl Waking {
    /// Wakes so often; how many checks there were.
    fn wake_all(&mut self, targets: &[Arc<Target>], wakes: u64) -> u64 {
        let (mut left, mut checks) = (wakes, 0);
        let mut woken = Vec::new();
        while left > 0 {
            let burst = (1 << self.rng.u64(..=u64::from(self.burst.ilog2()))).min(left);
            woken.clear();
            for _ in 0..burst {
                let at = if targets.len() == 1 { 0 } else { self.rng.usize(..targets.len()) };
                self.wake(&targets[at]);
                if woken.last() != Some(&at) {
                    woken.push(at);
                }
            }
            woken.sort_unstable();
            woken.dedup();
            checks += woken.iter().filter(|&&at| self.is_seen(&targets[at])).count() as u64;
            left -= burst;
            self.pulse.beat(burst);
            // Some nanoseconds, so that wakes fall into every moment of going to sleep.
            (0..self.rng.u32(..100)).for_each(|_| std::hint::spin_loop());
        }
        checks
    }

    /// Waits until the last wake of a task was followed by a poll. False if the task is gone: nothing is known then.
    fn is_seen(&self, target: &Target) -> bool {
        let lane = &target.lanes[self.thread];
        spin_until(|| lane.is_settled() || target.is_gone());
        lane.is_settled()
    }

    #[allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]
    fn wake(&mut self, target: &Target) {
        let waker = target.send(self.thread);
        match if self.by_clones { self.rng.u8(..4) } else { 0 } {
            0 => waker.wake_by_ref(),
            1 => waker.clone().wake(),
            2 => {
                let clones = [waker.clone(), waker.clone()];
                clones[0].wake_by_ref();
            }
            _ => target.exchange(&mut self.rng, waker.clone()).wake(),
        }
    }
}
