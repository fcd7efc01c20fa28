//! One window of an arm: the load of its round, on threads of their own.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clockworker::Executor;
use fastrand::Rng;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::arrivals::{Arrival, Segment};
use crate::arms::Runner;
use crate::arms::clockworker::Clockworker;
#[cfg(feature = "rivals")]
use crate::arms::published::Published;
use crate::arms::tokio::LocalSet;
use crate::harness::{Pinning, Sample, Side};
use crate::random::{Purpose, between, random};
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

/// Which tasks share a thread or a core.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    Alone,
    LocalSet,
    /// With two queues of these shares. The background's asks for so much at a time.
    Clockworker {
        shares: [u32; 2],
        request: Duration,
    },
    /// Clockworker 0.2.6, with two queues of these shares.
    #[cfg(feature = "rivals")]
    Published([u32; 2]),
    /// Each on a LocalSet in a runtime, on two threads that share a core. The background's is as nice as can be.
    TwoRuntimes,
}

/// The lanes of foreground and background.
const FOREGROUND: usize = 0;
const BACKGROUND: usize = 1;

#[derive(Debug)]
pub struct Trial<'a> {
    pub schedule: Arc<[Arrival]>,
    pub background: Background,
    /// For what the background draws.
    pub seed: u64,
    /// For how long arrivals come that do not count, and for how long those that do.
    pub times: (Duration, Duration),
    pub pinning: &'a Pinning,
}

/// Intended arrival until the start of the first poll. One that was never polled counts as the worst.
pub const QUEUEING: &str = "queueing_delay_ns";
/// Intended arrival until the end of the last segment. One that did not end counts as the worst.
pub const LATENCY: &str = "total_latency_ns";
/// CPU time of the background, as a part of one core's.
pub const BACKGROUND_CPU: &str = "background_cpu";
/// By how much the pauses of foreground tasks were too long.
pub const OVERSLEPT: &str = "overslept_ns";
/// By how much arrivals were sent too late, which says how quiet the machine was.
pub const LATENESS: &str = "lateness_ns";

/// What the sender knows of a window.
#[derive(Debug)]
struct Sent {
    start: Instant,
    lateness: Vec<Duration>,
    background_cpu: f64,
}

impl Trial<'_> {
    /// Runs one arm. The calling thread sends each arrival at its time, whatever has become of those before it.
    pub fn run(&self, place: Place) -> Result<Sample> {
        let background = Loops::new(self.background, self.seed);
        let (outbox, inbox) = unbounded_channel();
        let (schedule, loops) = (self.schedule.clone(), background.clone());
        let server = self.pinning.thread(Side::Measured, move || match place {
            Place::Alone | Place::TwoRuntimes => serve(LocalSet::default(), schedule, inbox, None),
            Place::LocalSet => serve(LocalSet::default(), schedule, inbox, Some(loops)),
            Place::Clockworker { shares, request } => {
                serve(two_queues(shares, request), schedule, inbox, Some(loops))
            }
            #[cfg(feature = "rivals")]
            Place::Published(shares) => serve(Published::with_shares(shares), schedule, inbox, Some(loops)),
        });
        let loops = background.clone();
        let apart = matches!(place, Place::TwoRuntimes)
            .then(|| self.pinning.thread(Side::Measured, move || run_apart(&loops)));
        let sent = self.send(&background, outbox);
        let served = server.join();
        background.stop();
        let apart = apart.map_or(Ok(()), JoinHandle::join);
        let (Ok(served), Ok(())) = (served, apart) else { bail!("an arm panicked") };
        let is_alone = matches!(place, Place::Alone);
        let background_cpu = if is_alone { f64::NAN } else { sent.background_cpu };
        Ok(self.evaluate(&sent, &served).number(BACKGROUND_CPU, background_cpu))
    }

    fn send(&self, background: &Loops, outbox: UnboundedSender<usize>) -> Sent {
        let wait = if self.pinning.apart() { Wait::SleepThenSpin } else { Wait::Sleep };
        let start = now();
        let send = |number: usize| {
            let intended = start + self.schedule[number].at;
            wait_until(intended, wait);
            let lateness = now() - intended;
            // A receiver that is gone has failed, which is known when its thread is joined.
            let _ = outbox.send(number);
            lateness
        };
        let done_at = |time| {
            wait_until(start + time, wait);
            (now(), background.done())
        };
        (0..self.warm()).for_each(|number| _ = send(number));
        let (from, before) = done_at(self.times.0);
        let lateness = (self.warm()..self.schedule.len()).map(send).collect();
        let (until, after) = done_at(self.times.0 + self.times.1);
        let background_cpu = (after - before).as_secs_f64() / (until - from).as_secs_f64();
        Sent { start, lateness, background_cpu }
    }

    /// How many arrivals warm up.
    fn warm(&self) -> usize {
        self.schedule.partition_point(|arrival| arrival.at < self.times.0)
    }

    fn evaluate(&self, sent: &Sent, served: &Journal) -> Sample {
        let waits = |end: fn(&Times) -> Option<Instant>| {
            let tasks = self.schedule.iter().zip(&served.tasks).skip(self.warm());
            tasks.map(move |(arrival, times)| Some(end(times)? - (sent.start + arrival.at)))
        };
        let all = |times: &[Duration]| times.iter().copied().map(Some).collect::<Vec<_>>();
        Sample::default()
            .waits(QUEUEING, waits(|times| times.started))
            .waits(LATENCY, waits(|times| times.completed))
            .waits(OVERSLEPT, all(&served.overslept))
            .waits(LATENESS, all(&sent.lateness))
    }
}

fn two_queues(shares: [u32; 2], request: Duration) -> impl Runner {
    let executor = Executor::new();
    let foreground = executor.new_queue("foreground").share(shares[FOREGROUND]).create();
    let background = executor.new_queue("background").share(shares[BACKGROUND]).request(request).create();
    let queues = [foreground, background].map(|queue| queue.expect("the shares are valid"));
    Clockworker::new(executor, queues.to_vec())
}

fn run_apart(background: &Loops) {
    be_nice();
    let runner = LocalSet::default();
    runner.block_on(async {
        for handle in background.spawn(&runner) {
            handle.await.expect("a background task does not fail");
        }
    });
}

/// Has the kernel prefer every other thread to the calling one, by weight: 15 to 1,024 of one that is not nice.
fn be_nice() {
    // Linux has a niceness for each thread; elsewhere it would be the process's.
    #[cfg(target_os = "linux")]
    rustix::process::nice(19).expect("a thread may always become nicer");
}

/// How long tasks may take to end once the last has arrived.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// When a task was first polled and when it ended, as far as it came.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    started: Option<Instant>,
    completed: Option<Instant>,
}

/// What became of the foreground.
#[derive(Debug)]
struct Journal {
    /// In order of arrival.
    tasks: Vec<Times>,
    /// By how much pauses were too long.
    overslept: Vec<Duration>,
}

/// Runs a background, and a foreground task for each arrival; then waits until these have ended or the drain limit is over.
///
/// Arrivals, by number, are taken by a dispatcher task in the foreground lane: it competes with the rest, as an accept loop does.
fn serve(
    runner: impl Runner,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
    beside: Option<Loops>,
) -> Journal {
    let runner = Rc::new(runner);
    let journal = Journal { tasks: vec![Times::default(); schedule.len()], overslept: Vec::new() };
    let journal = Rc::new(RefCell::new(journal));
    runner.block_on(async {
        // Endless loops are not awaited: they are dropped with their executor.
        let _handles = beside.map(|background| background.spawn(&*runner));
        runner.spawn(FOREGROUND, dispatch(runner.clone(), schedule, inbox, journal.clone())).await;
    });
    journal.replace(Journal { tasks: Vec::new(), overslept: Vec::new() })
}

async fn dispatch<R: Runner>(
    runner: Rc<R>,
    schedule: Arc<[Arrival]>,
    mut inbox: UnboundedReceiver<usize>,
    journal: Rc<RefCell<Journal>>,
) {
    // Each task holds it until it has ended.
    let (held, all_ended) = oneshot::channel::<()>();
    let held = Rc::new(held);
    while let Some(number) = inbox.recv().await {
        let (schedule, journal, held) = (schedule.clone(), journal.clone(), held.clone());
        runner.spawn_detached(FOREGROUND, async move {
            work(&schedule[number], number, &journal).await;
            drop(held);
        });
    }
    drop(held);
    // Which tasks have not ended by the limit is found in the journal.
    let _ = timeout(DRAIN_LIMIT, all_ended).await;
}

async fn work(arrival: &Arrival, number: usize, journal: &RefCell<Journal>) {
    journal.borrow_mut().tasks[number].started = Some(now());
    for &Segment { pause, cpu } in &arrival.segments {
        if !pause.is_zero() {
            let due = now() + pause;
            sleep(pause).await;
            journal.borrow_mut().overslept.push(now() - due);
        }
        burn(cpu);
    }
    journal.borrow_mut().tasks[number].completed = Some(now());
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

/// Tasks of a background.
const TASKS: u64 = 8;

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug)]
struct Loops {
    background: Background,
    seed: u64,
    done_ns: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    fn new(background: Background, seed: u64) -> Self {
        Loops { background, seed, done_ns: Arc::default(), stopped: Arc::default() }
    }

    /// Spawns the tasks, inside [`Runner::block_on`]. They run until they are stopped, or dropped with their executor.
    fn spawn<R: Runner>(&self, runner: &R) -> Vec<R::Task> {
        let random = |task| random(self.seed, Purpose::Work, task);
        (0..TASKS).map(|task| runner.spawn(BACKGROUND, self.clone().repeat(random(task)))).collect()
    }

    /// The CPU time that they have used up, to a poll.
    fn done(&self) -> Duration {
        Duration::from_nanos(self.done_ns.load(Ordering::Relaxed))
    }

    fn stop(&self) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::priority::arrivals;

    const TIMES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(40));
    const MICROS: fn(u64) -> Duration = Duration::from_micros;

    fn trial(schedule: Vec<Arrival>, rests: bool, pinning: &Pinning) -> Trial<'_> {
        let range = (MICROS(100), MICROS(150));
        let background = Background { poll: range, rest: rests.then_some(range) };
        Trial { schedule: schedule.into(), background, seed: 1, times: TIMES, pinning }
    }

    #[test]
    fn every_arm_serves_every_arrival_whatever_the_background_does() {
        let pinning = Pinning::detect();
        let usual = || arrivals::draw(1, 0, TIMES.0 + TIMES.1);
        let places = [
            Place::Alone,
            Place::LocalSet,
            Place::Clockworker { shares: [1, 1], request: MICROS(100) },
            #[cfg(feature = "rivals")]
            Place::Published([99, 1]),
            Place::TwoRuntimes,
        ];
        for (schedule, rests) in [(usual(), true), (usual(), false), (Vec::new(), false)] {
            for place in places {
                let figures = trial(schedule.clone(), rests, &pinning).run(place).unwrap().into_figures();
                // Of so few tasks it is the longest.
                let max = |key: &str| figures[&format!("{key}.p999")];
                // Less than what a task without an end would count as.
                assert!(max(QUEUEING) <= max(LATENCY) && max(LATENCY) < 50e9, "{place:?}: {figures:?}");
                assert_eq!(figures.contains_key(BACKGROUND_CPU), !matches!(place, Place::Alone));
            }
        }
    }

    #[test]
    fn latencies_count_from_the_intended_arrival_and_one_without_an_end_is_the_worst() {
        let pinning = Pinning::detect();
        let arrival = |at| Arrival { at: Duration::from_millis(at), segments: Vec::new() };
        let trial = trial([5, 10, 20].map(arrival).into(), false, &pinning);
        let start = now();
        let at = |millis| Some(start + Duration::from_millis(millis));
        let sent = Sent { start, lateness: vec![MICROS(1_000); 2], background_cpu: 0.4 };
        let tasks = [(at(6), at(7)), (at(13), at(18)), (at(26), None)]
            .map(|(started, completed)| Times { started, completed })
            .to_vec();
        let figures = trial.evaluate(&sent, &Journal { tasks, overslept: vec![MICROS(30)] }).into_figures();
        let figure = |figure: &str| figures[figure];
        assert_eq!((figure("queueing_delay_ns.mean"), figure("queueing_delay_ns.p99")), (4.5e6, 6e6));
        assert_eq!((figure("total_latency_ns.mean"), figure("total_latency_ns.p99")), (30.004e9, 60e9));
        assert_eq!((figure("lateness_ns.p99"), figure("overslept_ns.p99")), (1e6, 3e4));
    }
}
