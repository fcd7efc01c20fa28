//! One repetition of the scenario: the same load for every arm, each on threads of its own.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::arms::{Baseline, Contender, QueueSetup, TwoQueues, host};
use crate::beside::foreground::{self, DRAIN_LIMIT, Times};
use crate::beside::generator::{Generator, Sent};
use crate::beside::loops::{Background, Loops};
use crate::failure::Failure;
use crate::harness::pinning::{Pinning, Side};
use crate::stopwatch::Wait;
use crate::workload::arrivals::Arrival;

/// Who shares a thread or a core with whom.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    ForegroundOnly,
    /// Foreground and background on one LocalSet.
    LocalSet,
    /// Foreground and background in two queues of one clockworker executor, which are set up so.
    Clockworker([QueueSetup; 2]),
    /// Foreground and background on a LocalSet and a tokio runtime each, on two threads that share a core.
    TwoRuntimes,
}

/// How much longer than the drain limit an arm may take before it is declared stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long one arm runs in one repetition, the draining left out.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Arrivals in this time from the start are served and not counted.
    pub warm_up: Duration,
    /// The time after that.
    pub counted: Duration,
}

impl Timing {
    /// Both together.
    pub fn whole(self) -> Duration {
        self.warm_up + self.counted
    }
}

/// One repetition: a schedule, the same for every arm.
#[derive(Debug)]
pub struct Trial<'a> {
    /// What arrives in the foreground.
    pub schedule: Arc<[Arrival]>,
    /// What the background does.
    pub background: Background,
    /// How long it goes on.
    pub timing: Timing,
    /// Where its threads run.
    pub pinning: &'a Pinning,
}

/// What one arm did in one repetition. Only arrivals after the warm-up are in it, in their order.
#[derive(Debug)]
pub struct Outcome {
    /// Intended arrival until the start of the first poll, in nanoseconds; `None` for a task never polled.
    pub queueing_delays: Vec<Option<u64>>,
    /// Intended arrival until the end of the last segment, in nanoseconds; `None` for a task that did not
    /// end.
    pub total_latencies: Vec<Option<u64>>,
    /// Intended arrival until the generator sent it, in nanoseconds.
    pub lateness: Vec<u64>,
    /// Background iterations per second.
    pub background_rate: f64,
    /// The CPU time of foreground tasks that ended between the warm-up and the end of the schedule, as a part
    /// of that time.
    pub foreground_cpu: f64,
}

impl Trial<'_> {
    /// The CPU time of all foreground tasks over the length of the schedule.
    pub fn offered_load(&self) -> f64 {
        let cpu: Duration = self.schedule.iter().map(Arrival::cpu).sum();
        cpu.as_secs_f64() / self.timing.whole().as_secs_f64()
    }

    /// Runs one arm, of that name. The calling thread generates the load.
    ///
    /// # Errors
    ///
    /// If the arm does not come to an end long after its drain limit, or panics.
    pub fn run(&self, place: Place, title: &str) -> Result<Outcome, Failure> {
        let background = Loops::new(self.background);
        let (outbox, inbox) = unbounded_channel();
        let (report, reported) = sync_channel(1);
        let threads = self.start(place, inbox, report, &background);
        let sent = self.generator(&background).run(outbox);
        let times = reported.recv_timeout(DRAIN_LIMIT + PATIENCE);
        background.stop();
        let stuck = || Failure::run(format!("the arm '{title}' did not come to an end"));
        let times = times.map_err(|_| stuck())?;
        threads.into_iter().try_for_each(JoinHandle::join).map_err(|_| stuck())?;
        Ok(self.evaluate(&sent, &times))
    }

    fn generator<'b>(&'b self, background: &'b Loops) -> Generator<'b> {
        Generator {
            schedule: &self.schedule,
            warm_up: self.timing.warm_up,
            end: self.timing.whole(),
            background,
            wait: if self.pinning.apart() { Wait::SleepThenSpin } else { Wait::Sleep },
        }
    }

    fn start(
        &self,
        place: Place,
        inbox: UnboundedReceiver<usize>,
        report: SyncSender<Vec<Times>>,
        background: &Loops,
    ) -> Vec<JoinHandle<()>> {
        let beside = matches!(place, Place::LocalSet | Place::Clockworker(_)).then(|| background.clone());
        let server = Server { schedule: self.schedule.clone(), inbox, beside, report };
        match place {
            Place::ForegroundOnly | Place::LocalSet => {
                vec![self.measured(|| server.run(Baseline::default()))]
            }
            Place::Clockworker(queues) => vec![self.measured(move || server.run(TwoQueues::new(queues)))],
            Place::TwoRuntimes => {
                let alone = background.clone();
                vec![
                    self.measured(move || run_alone(&alone)),
                    self.measured(|| server.run(Baseline::default())),
                ]
            }
        }
    }

    fn measured(&self, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let pinning = self.pinning.clone();
        thread::spawn(move || {
            pinning.pin(Side::Measured);
            run();
        })
    }

    fn evaluate(&self, sent: &Sent, times: &[Times]) -> Outcome {
        let warm = self.schedule.partition_point(|arrival| arrival.at < self.timing.warm_up);
        let counted = || self.schedule.iter().zip(times).skip(warm);
        let since_arrival =
            |arrival: &Arrival, end: Option<Instant>| end.map(|end| nanos(end - (sent.start + arrival.at)));
        Outcome {
            queueing_delays: counted()
                .map(|(arrival, times)| since_arrival(arrival, times.started))
                .collect(),
            total_latencies: counted()
                .map(|(arrival, times)| since_arrival(arrival, times.completed))
                .collect(),
            lateness: sent.lateness[warm..].iter().copied().map(nanos).collect(),
            background_rate: sent.background_rate,
            foreground_cpu: self.foreground_cpu(sent.start, times),
        }
    }

    fn foreground_cpu(&self, start: Instant, times: &[Times]) -> f64 {
        let counted = start + self.timing.warm_up..start + self.timing.whole();
        let tasks = self.schedule.iter().zip(times);
        let ended = tasks.filter(|(_, times)| times.completed.is_some_and(|end| counted.contains(&end)));
        let cpu: Duration = ended.map(|(arrival, _)| arrival.cpu()).sum();
        cpu.as_secs_f64() / self.timing.counted.as_secs_f64()
    }
}

/// What the thread of the executor under test needs.
struct Server {
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
    beside: Option<Loops>,
    report: SyncSender<Vec<Times>>,
}

impl Server {
    /// Serves the foreground, with the background beside it if there is one, and reports when all is over and
    /// dropped.
    fn run(self, contender: impl Contender) {
        let Server { schedule, inbox, beside, report } = self;
        let contender = Rc::new(contender);
        let host = host();
        let times = host.block_on(contender.run_until(async {
            // Endless loops are not awaited: they are dropped with their executor.
            let _handles = beside.map(|background| background.spawn(&*contender));
            foreground::serve(&contender, schedule, inbox).await
        }));
        drop((contender, host));
        // If nobody is listening the arm has been given up.
        let _ = report.send(times);
    }
}

/// Runs the background on a thread, runtime and LocalSet of its own until it is stopped.
fn run_alone(background: &Loops) {
    let contender = Baseline::default();
    host().block_on(contender.run_until(async {
        for handle in background.spawn(&contender) {
            handle.await.expect("a background task does not fail");
        }
    }));
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::loops::Rest;
    use crate::stopwatch::now;
    use crate::workload::arrivals::Pattern;

    const TIMING: Timing = Timing { warm_up: Duration::from_millis(10), counted: Duration::from_millis(40) };

    fn background(rest: Rest) -> Background {
        Background { tasks: 8, poll: Duration::from_micros(100), rest }
    }

    fn every_place() -> [Place; 4] {
        let queue = |name| QueueSetup { name, share: 1, request: Duration::from_micros(100) };
        let clockworker = Place::Clockworker(["foreground", "background"].map(queue));
        [Place::ForegroundOnly, Place::LocalSet, clockworker, Place::TwoRuntimes]
    }

    fn serves_every_arrival_everywhere(rest: Rest) {
        let pinning = Pinning::detect();
        let schedule: Arc<[Arrival]> = Pattern::USUAL.draw(1, 0, TIMING.whole()).into();
        let warm = schedule.iter().filter(|arrival| arrival.at < TIMING.warm_up).count();
        let background = background(rest);
        let trial = Trial { schedule, background, timing: TIMING, pinning: &pinning };
        for place in every_place() {
            let outcome = trial.run(place, "any").unwrap();
            assert_eq!(outcome.total_latencies.len(), trial.schedule.len() - warm);
            assert_eq!(outcome.lateness.len(), trial.schedule.len() - warm);
            assert!(!matches!(place, Place::ForegroundOnly) || outcome.background_rate == 0.0);
            let pairs = outcome.queueing_delays.iter().zip(&outcome.total_latencies);
            assert!(pairs.into_iter().all(|(delay, total)| delay.unwrap() < total.unwrap()), "{place:?}");
        }
    }

    #[test]
    fn every_arm_serves_every_arrival_beside_a_background_that_sleeps() {
        serves_every_arrival_everywhere(Rest::Sleep(Duration::from_micros(100)));
    }

    #[test]
    fn every_arm_serves_every_arrival_beside_a_background_that_does_not() {
        serves_every_arrival_everywhere(Rest::Yield);
    }

    #[test]
    fn latencies_count_from_the_intended_arrival() {
        let pinning = Pinning::detect();
        let arrival = |at| Arrival { at: Duration::from_millis(at), segments: Vec::new() };
        let trial = Trial {
            schedule: [arrival(5), arrival(10), arrival(20)].into(),
            background: background(Rest::Yield),
            timing: TIMING,
            pinning: &pinning,
        };
        let start = now();
        let at = |millis| Some(start + Duration::from_millis(millis));
        let sent = Sent { start, lateness: vec![Duration::from_millis(1); 3], background_rate: 7.0 };
        let times = [
            Times { started: at(6), completed: at(7) },
            Times { started: at(13), completed: at(18) },
            Times { started: at(26), completed: None },
        ];
        let outcome = trial.evaluate(&sent, &times);
        assert_eq!(outcome.queueing_delays, [Some(3_000_000), Some(6_000_000)]);
        assert_eq!(outcome.total_latencies, [Some(8_000_000), None]);
        assert_eq!(outcome.lateness, [1_000_000; 2]);
    }
}
