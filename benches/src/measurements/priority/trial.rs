//! One window of an arm: the load of its round, on threads of their own.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::arrivals::Arrival;
use super::lanes::{self, Background, Loops, Times};
use crate::arms::Contender;
use crate::arms::clockworker::{QueueSetup, TwoQueues};
#[cfg(feature = "rivals")]
use crate::arms::rivals::Published;
use crate::arms::tokio::{Baseline, host};
use crate::harness::{Distribution, Pinning, Sample, Side};
use crate::stopwatch::{Wait, now, wait_until};

/// Which tasks share a thread or a core.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    Alone,
    LocalSet,
    Clockworker([QueueSetup; 2]),
    /// Clockworker 0.2.6, with two queues of these shares.
    #[cfg(feature = "rivals")]
    Published([u64; 2]),
    /// Each on a LocalSet in a runtime, on two threads that share a core. The background's is as nice as can be.
    TwoRuntimes,
}

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

/// What the server knows of it.
struct Served {
    tasks: Vec<Times>,
    overslept: Vec<Duration>,
}

impl Trial<'_> {
    /// Runs one arm. The calling thread sends each arrival at its time, whatever has become of those before it.
    pub fn run(&self, place: Place) -> Result<Sample> {
        let background = Loops::new(self.background, self.seed);
        let (outbox, inbox) = unbounded_channel();
        let (schedule, loops) = (self.schedule.clone(), background.clone());
        let server = self.pinning.thread(Side::Measured, move || match place {
            Place::Alone | Place::TwoRuntimes => serve(Baseline::default(), schedule, inbox, None),
            Place::LocalSet => serve(Baseline::default(), schedule, inbox, Some(loops)),
            Place::Clockworker(queues) => serve(TwoQueues::new(queues), schedule, inbox, Some(loops)),
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
        let before = done_at(self.times.0);
        let lateness = (self.warm()..self.schedule.len()).map(send).collect();
        let background_cpu = part(before, done_at(self.times.0 + self.times.1));
        Sent { start, lateness, background_cpu }
    }

    /// How many arrivals warm up.
    fn warm(&self) -> usize {
        self.schedule.partition_point(|arrival| arrival.at < self.times.0)
    }

    fn evaluate(&self, sent: &Sent, served: &Served) -> Sample {
        let nanos = |time: Duration| time.as_nanos() as u64;
        let waits = |end: fn(&Times) -> Option<Instant>| {
            let tasks = self.schedule.iter().zip(&served.tasks).skip(self.warm());
            let wait = |(arrival, times): (&Arrival, _)| Some(nanos(end(times)? - (sent.start + arrival.at)));
            Distribution::of_nanos(tasks.map(wait))
        };
        let all = |times: &[Duration]| Distribution::of_nanos(times.iter().copied().map(nanos).map(Some));
        Sample::default()
            .distribution(QUEUEING, waits(|times| times.started))
            .distribution(LATENCY, waits(|times| times.completed))
            .distribution(OVERSLEPT, all(&served.overslept))
            .distribution(LATENESS, all(&sent.lateness))
    }
}

/// The part of the time between two moments that is the increase of what was done.
fn part((from, before): (Instant, Duration), (until, after): (Instant, Duration)) -> f64 {
    (after - before).as_secs_f64() / (until - from).as_secs_f64()
}

fn serve(
    contender: impl Contender,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
    beside: Option<Loops>,
) -> Served {
    let (host, contender) = (host(), Rc::new(contender));
    host.block_on(contender.run_until(async {
        // Endless loops are not awaited: they are dropped with their executor.
        let _handles = beside.map(|background| background.spawn(&*contender));
        let journal = lanes::serve(&contender, schedule, inbox).await;
        let tasks = journal.tasks.iter().map(Cell::get).collect();
        Served { tasks, overslept: journal.overslept.take() }
    }))
}

/// Has the kernel prefer every other thread to the calling one, by weight: 15 to 1,024 of one that is not nice.
fn be_nice() {
    // Linux has a niceness for each thread; elsewhere it would be the process's.
    #[cfg(target_os = "linux")]
    rustix::process::nice(19).expect("a thread may always become nicer");
}

fn run_apart(background: &Loops) {
    be_nice();
    let contender = Baseline::default();
    host().block_on(contender.run_until(async {
        for handle in background.spawn(&contender) {
            handle.await.expect("a background task does not fail");
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::priority::arrivals::{Pattern, Segment};

    const TIMES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(40));
    const MICROS: fn(u64) -> Duration = Duration::from_micros;

    fn trial(schedule: Vec<Arrival>, rests: bool, pinning: &Pinning) -> Trial<'_> {
        let range = (MICROS(100), MICROS(150));
        let background = Background { poll: range, rest: rests.then_some(range) };
        Trial { schedule: schedule.into(), background, seed: 1, times: TIMES, pinning }
    }

    fn arrival(at: u64) -> Arrival {
        let work = Segment { pause: Duration::ZERO, cpu: Duration::from_millis(4) };
        Arrival { at: Duration::from_millis(at), segments: vec![work] }
    }

    #[test]
    fn every_arm_serves_every_arrival_whatever_the_background_does() {
        let pinning = Pinning::detect();
        let usual = || Pattern::USUAL.draw(1, 0, TIMES.0 + TIMES.1);
        let queue = |name| QueueSetup { name, share: 1, request: MICROS(100) };
        let places = [
            Place::Alone,
            Place::LocalSet,
            Place::Clockworker([queue("foreground"), queue("background")]),
            #[cfg(feature = "rivals")]
            Place::Published([99, 1]),
            Place::TwoRuntimes,
        ];
        for (schedule, rests) in [(usual(), true), (usual(), false), (Vec::new(), false)] {
            for place in places {
                let figures = trial(schedule.clone(), rests, &pinning).run(place).unwrap().figures();
                let max = |key: &str| figures[&format!("{key}.max")];
                // Less than what a task without an end would count as.
                assert!(max(QUEUEING) <= max(LATENCY) && max(LATENCY) < 50e9, "{place:?}: {figures:?}");
                assert_eq!(figures.contains_key(BACKGROUND_CPU), !matches!(place, Place::Alone));
            }
        }
    }

    #[test]
    fn everything_is_sent_in_order_and_never_early() {
        let pinning = Pinning::detect();
        let trial = trial([5, 10, 10, 20].map(arrival).into(), false, &pinning);
        let (outbox, mut inbox) = unbounded_channel();
        let sent = trial.send(&Loops::new(trial.background, 1), outbox);
        assert!(now() >= sent.start + TIMES.0 + TIMES.1);
        assert_eq!((sent.lateness.len(), sent.background_cpu), (3, 0.0));
        assert_eq!(std::iter::from_fn(|| inbox.blocking_recv()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn latencies_count_from_the_intended_arrival_and_one_without_an_end_is_the_worst() {
        let pinning = Pinning::detect();
        let trial = trial([5, 10, 20].map(arrival).into(), false, &pinning);
        let start = now();
        let at = |millis| Some(start + Duration::from_millis(millis));
        let sent = Sent { start, lateness: vec![MICROS(1_000); 2], background_cpu: 0.4 };
        let tasks = [(at(6), at(7)), (at(13), at(18)), (at(26), None)]
            .map(|(started, completed)| Times { started, completed })
            .to_vec();
        let figures = trial.evaluate(&sent, &Served { tasks, overslept: vec![MICROS(30)] }).figures();
        let figure = |figure: &str| figures[figure];
        assert_eq!((figure("queueing_delay_ns.mean"), figure("queueing_delay_ns.max")), (4.5e6, 6e6));
        assert_eq!((figure("total_latency_ns.mean"), figure("total_latency_ns.max")), (30.004e9, 60e9));
        assert_eq!((figure("lateness_ns.max"), figure("overslept_ns.max")), (1e6, 3e4));
        assert_eq!(part((start, MICROS(1)), (start + MICROS(10), MICROS(6))), 0.5);
    }
}
