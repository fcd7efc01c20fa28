//! One repetition: the same load for every arm, each on threads of its own.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::lanes::{self, BACKGROUND, Background, DRAIN_LIMIT, Loops, Times};
use crate::arms::{Baseline, Contender, QueueSetup, TwoQueues, host};
use crate::failure::Failure;
use crate::harness::{Pinning, Side};
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::arrivals::Arrival;

/// Which tasks share a thread or a core.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    ForegroundOnly,
    LocalSet,
    Clockworker([QueueSetup; 2]),
    /// Foreground and background on a LocalSet and a tokio runtime each, on two threads that share a core. The background's is as
    /// nice as can be.
    TwoRuntimes,
}

impl Place {
    pub(crate) fn queues(foreground: (u32, Duration), background: (u32, Duration)) -> Self {
        let setup = |name, (share, request)| QueueSetup { name, share, request };
        Place::Clockworker([setup("foreground", foreground), setup("background", background)])
    }
}

/// How much longer than the drain limit an arm may take before it is declared stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long one arm runs in one repetition, the draining left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) warm_up: Duration,
    pub(crate) counted: Duration,
}

impl Timing {
    pub(crate) const fn of_millis(warm_up: u64, counted: u64) -> Self {
        Timing { warm_up: Duration::from_millis(warm_up), counted: Duration::from_millis(counted) }
    }

    pub(crate) fn whole(self) -> Duration {
        self.warm_up + self.counted
    }
}

#[derive(Debug)]
pub(super) struct Trial<'a> {
    pub(super) schedule: Arc<[Arrival]>,
    pub(super) background: Background,
    pub(super) timing: Timing,
    pub(super) pinning: &'a Pinning,
}

/// What one arm did in one repetition. Only arrivals after the warm-up are in it, in their order.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Intended arrival until the start of the first poll, in nanoseconds; `None` for a task never polled.
    pub(super) queueing_delays: Vec<Option<u64>>,
    /// Intended arrival until the end of the last segment, in nanoseconds; `None` for a task that did not end.
    pub(super) total_latencies: Vec<Option<u64>>,
    pub(super) lateness: Vec<u64>,
    /// Background iterations per second, between the end of the warm-up and the end of the schedule.
    pub(super) background_rate: f64,
    /// Their CPU time, as a part of that time.
    pub(super) background_cpu: f64,
    /// The CPU time of foreground tasks that ended in that time, as a part of it.
    pub(super) foreground_cpu: f64,
    /// The CPU time of all foreground tasks over the length of the schedule.
    pub(super) offered_load: f64,
}

#[derive(Debug)]
struct Sent {
    start: Instant,
    lateness: Vec<Duration>,
    background_rate: f64,
}

impl Trial<'_> {
    /// Runs one arm. The calling thread sends each arrival at its time, whatever has become of those before it.
    pub(super) fn run(&self, place: Place, title: &str) -> Result<Outcome, Failure> {
        let background = Loops::new(self.background);
        let (outbox, inbox) = unbounded_channel();
        let (report, reported) = sync_channel(1);
        let alone = matches!(place, Place::TwoRuntimes).then(|| background.clone());
        let beside = matches!(place, Place::LocalSet | Place::Clockworker(_)).then(|| background.clone());
        let schedule = self.schedule.clone();
        let alone = alone.map(|background| {
            self.pinning.thread(Side::Measured, move || {
                be_nice();
                run_alone(&background);
            })
        });
        let server = self.pinning.thread(Side::Measured, move || {
            let times = match place {
                Place::Clockworker(queues) => serve(TwoQueues::new(queues), schedule, inbox, beside),
                _ => serve(Baseline::default(), schedule, inbox, beside),
            };
            // If the other end is gone the arm has been given up.
            let _ = report.send(times);
        });
        let sent = self.send(&background, outbox);
        let times = reported.recv_timeout(DRAIN_LIMIT + PATIENCE);
        background.stop();
        let stuck = || Failure::run(format!("the arm '{title}' did not come to an end"));
        let times = times.map_err(|_| stuck())?;
        alone.into_iter().chain([server]).try_for_each(JoinHandle::join).map_err(|_| stuck())?;
        Ok(self.evaluate(&sent, &times))
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
        let count_at = |time| {
            wait_until(start + time, wait);
            (now(), background.iterations())
        };
        let mut lateness: Vec<Duration> = (0..self.warm()).map(send).collect();
        let before = count_at(self.timing.warm_up);
        lateness.extend((self.warm()..self.schedule.len()).map(send));
        let after = count_at(self.timing.whole());
        Sent { start, lateness, background_rate: rate(before, after) }
    }

    fn warm(&self) -> usize {
        self.schedule.partition_point(|arrival| arrival.at < self.timing.warm_up)
    }

    fn evaluate(&self, sent: &Sent, times: &[Times]) -> Outcome {
        let waits = |end: fn(&Times) -> Option<Instant>| {
            let wait = |(arrival, times): (&Arrival, _)| Some(nanos(end(times)? - (sent.start + arrival.at)));
            self.schedule.iter().zip(times).skip(self.warm()).map(wait).collect()
        };
        let counted = sent.start + self.timing.warm_up..sent.start + self.timing.whole();
        let is_counted = |times: &Times| times.completed.is_some_and(|end| counted.contains(&end));
        let ended = self.schedule.iter().zip(times).filter(|(_, times)| is_counted(times));
        Outcome {
            queueing_delays: waits(|times| times.started),
            total_latencies: waits(|times| times.completed),
            lateness: sent.lateness[self.warm()..].iter().copied().map(nanos).collect(),
            background_rate: sent.background_rate,
            background_cpu: sent.background_rate * self.background.poll.as_secs_f64(),
            foreground_cpu: cpu(ended.map(|(arrival, _)| arrival), self.timing.counted),
            offered_load: cpu(self.schedule.iter(), self.timing.whole()),
        }
    }
}

fn cpu<'a>(arrivals: impl Iterator<Item = &'a Arrival>, time: Duration) -> f64 {
    arrivals.map(Arrival::cpu).sum::<Duration>().as_secs_f64() / time.as_secs_f64()
}

fn rate((from, before): (Instant, u64), (until, after): (Instant, u64)) -> f64 {
    (after - before) as f64 / (until - from).as_secs_f64()
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

fn serve(
    contender: impl Contender,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
    beside: Option<Loops>,
) -> Vec<Times> {
    let (host, contender) = (host(), Rc::new(contender));
    host.block_on(contender.run_until(async {
        // Endless loops are not awaited: they are dropped with their executor.
        let _handles = beside.map(|background| background.spawn(&*contender, BACKGROUND));
        lanes::serve(&contender, schedule, inbox).await
    }))
}

/// Has the kernel prefer every other thread to the calling one, by weight: 15 to 1,024 of one that is not nice.
fn be_nice() {
    // Linux has a niceness for each thread; elsewhere it would be the process's.
    #[cfg(target_os = "linux")]
    rustix::process::nice(19).expect("a thread may always become nicer");
}

fn run_alone(background: &Loops) {
    let contender = Baseline::default();
    host().block_on(contender.run_until(async {
        for handle in background.spawn(&contender, BACKGROUND) {
            handle.await.expect("a background task does not fail");
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::arrivals::{Pattern, Segment};

    const TIMING: Timing = Timing::of_millis(10, 40);

    fn trial(schedule: Vec<Arrival>, rest: Option<Duration>, pinning: &Pinning) -> Trial<'_> {
        let background = Background { tasks: 8, poll: Duration::from_micros(100), rest };
        Trial { schedule: schedule.into(), background, timing: TIMING, pinning }
    }

    fn arrival(at: u64) -> Arrival {
        let work = Segment { pause: Duration::ZERO, cpu: Duration::from_millis(4) };
        Arrival { at: Duration::from_millis(at), segments: vec![work] }
    }

    fn serves_every_arrival_everywhere(schedule: &[Arrival], rest: Option<Duration>) {
        let pinning = Pinning::detect();
        let trial = trial(schedule.to_vec(), rest, &pinning);
        let queue = (1, Duration::from_micros(100));
        let places =
            [Place::ForegroundOnly, Place::LocalSet, Place::queues(queue, queue), Place::TwoRuntimes];
        for place in places {
            let outcome = trial.run(place, "any").unwrap();
            assert_eq!(outcome.total_latencies.len(), schedule.len() - trial.warm());
            assert_eq!(outcome.lateness.len(), schedule.len() - trial.warm());
            assert!(!matches!(place, Place::ForegroundOnly) || outcome.background_rate == 0.0);
            let mut pairs = outcome.queueing_delays.iter().zip(&outcome.total_latencies);
            assert!(pairs.all(|(delay, total)| delay.unwrap() < total.unwrap()), "{place:?}");
        }
    }

    #[test]
    fn every_arm_serves_every_arrival_whatever_the_background_does() {
        let usual = Pattern::USUAL.draw(1, 0, TIMING.whole());
        serves_every_arrival_everywhere(&usual, Some(Duration::from_micros(100)));
        serves_every_arrival_everywhere(&usual, None);
        serves_every_arrival_everywhere(&[], None);
    }

    #[test]
    fn everything_is_sent_in_order_and_never_early() {
        let pinning = Pinning::detect();
        let trial = trial([5, 10, 10, 20].map(arrival).into(), None, &pinning);
        let (outbox, mut inbox) = unbounded_channel();
        let sent = trial.send(&Loops::new(trial.background), outbox);
        assert!(now() >= sent.start + TIMING.whole());
        assert_eq!((sent.lateness.len(), sent.background_rate), (4, 0.0));
        assert_eq!(std::iter::from_fn(|| inbox.blocking_recv()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_background_is_counted_between_two_moments() {
        let from = now();
        assert_eq!(rate((from, 100), (from + Duration::from_millis(500), 2_100)), 4_000.0);
    }

    #[test]
    fn latencies_count_from_the_intended_arrival() {
        let pinning = Pinning::detect();
        let trial = trial([5, 10, 20].map(arrival).into(), None, &pinning);
        let start = now();
        let at = |millis| Some(start + Duration::from_millis(millis));
        let sent = Sent { start, lateness: vec![Duration::from_millis(1); 3], background_rate: 4_000.0 };
        let times = [(at(6), at(7)), (at(13), at(18)), (at(26), None)]
            .map(|(started, completed)| Times { started, completed });
        let outcome = trial.evaluate(&sent, &times);
        assert_eq!(outcome.queueing_delays, [Some(3_000_000), Some(6_000_000)]);
        assert_eq!(outcome.total_latencies, [Some(8_000_000), None]);
        assert_eq!(outcome.lateness, [1_000_000; 2]);
        // Of the foreground only what ended in the 40 ms that count.
        assert_eq!((outcome.background_cpu, outcome.foreground_cpu), (0.4, 0.1));
        assert_eq!(outcome.offered_load, 12.0 / 50.0);
    }
}
