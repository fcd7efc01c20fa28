//! The command `priority`: foreground tasks beside background work on one thread, by shares.
//!
//! The foreground arrives in an open loop: another thread sends tasks at the times of a Poisson process that is drawn beforehand,
//! the same for all arms of a round. Latency counts from the *intended* arrival, so that an executor that falls behind is not let
//! off, to the end of the last segment. The background takes what is left of the thread. CPU work is counted on the thread's own
//! CPU clock. Latencies are compared with those of the foreground alone on a LocalSet, the background with LocalSet's.
//!
//! A background that sleeps (`sleeping`, `published_shape`) cannot make up for what it lost in a burst of the foreground: later
//! all eight loops may sleep at once. That is a property of eight loops and not of the executor. So what an executor leaves to a
//! background is seen in `shares`, where it always has work.
//!
//! `published_shape` is what the README of clockworker 0.2.x measured, with its arrivals: 1,000 a second (Poisson), each of one to
//! three segments of 100 to 500 µs with sleeps as long between, and eight loops that work and sleep as long, at shares 99:1. Its p99
//! beside the background may be *below* that of the foreground alone, which is no gain of an executor. tokio rounds the end of a
//! sleep up to its next millisecond. Alone, the thread then sleeps in `epoll_wait`, for a time that mio rounds up to whole
//! milliseconds once more, and the foreground's timers sleep with it. Beside work the thread does not sleep. The column `overslept`
//! has what sleeps were longer by.

pub mod arrivals;
pub mod trial;

use std::time::Duration;

use clockworker::DEFAULT_REQUEST;

use crate::harness::{Comparison, Experiment, Measurement, Options, Pinning, Side, Table, Unit, Window};
use trial::{BACKGROUND_CPU, Background, Place, Trial};

pub const PRIORITY: Measurement = Measurement {
    name: "priority",
    question: "What does a foreground pay for a background on its thread, and what does that get?",
    experiments: |options, pinning| SCENES.iter().map(|scene| scene.experiment(options, pinning)).collect(),
    tables: |found| found.iter().map(table).collect(),
};

/// A background, and the shares beside it.
struct Scene {
    part: &'static str,
    title: &'static str,
    background: Background,
    /// Of foreground and background.
    shares: &'static [[u32; 2]],
    /// How much the background asks for at a time.
    request: Duration,
    rounds: u32,
}

const MICROS_100: Duration = Duration::from_micros(100);

const SHARES: &[[u32; 2]] = &[[99, 1], [9, 1], [13, 2], [1, 1]];

const SCENES: [Scene; 3] = [
    Scene {
        part: "shares",
        title: "beside endless polls of 100 µs",
        background: Background { poll: (MICROS_100, MICROS_100), rest: None },
        shares: SHARES,
        request: MICROS_100,
        rounds: 6,
    },
    Scene {
        part: "sleeping",
        title: "beside polls and sleeps of 100 µs",
        background: Background { poll: (MICROS_100, MICROS_100), rest: Some((MICROS_100, MICROS_100)) },
        shares: SHARES,
        request: MICROS_100,
        rounds: 6,
    },
    Scene {
        part: "published_shape",
        title: "beside polls and sleeps of 100 to 500 µs",
        background: Background {
            poll: (MICROS_100, Duration::from_micros(500)),
            rest: Some((MICROS_100, Duration::from_micros(500))),
        },
        shares: &[[99, 1]],
        request: DEFAULT_REQUEST,
        rounds: 10,
    },
];

impl Scene {
    fn experiment(&self, options: &Options, pinning: &Pinning) -> Experiment {
        let millis = if options.quick { [10, 30] } else { [100, 750] };
        let times: (Duration, Duration) = millis.map(Duration::from_millis).into();
        let (titles, places): (Vec<String>, Vec<Place>) = self.arms().into_iter().unzip();
        let (background, seed, pinning) = (self.background, options.seed, pinning.clone());
        let take = move |window: &Window| {
            let round = u64::from(window.round);
            let schedule = arrivals::draw(seed, round, times.0 + times.1).into();
            let trial = Trial { schedule, background, seed: seed ^ round << 32, times, pinning: &pinning };
            trial.run(places[window.arm])
        };
        Experiment::new(self.part, self.title, titles, take).rounds(self.rounds).side(Side::Load)
    }

    /// The first is what latencies are compared with, and the second what backgrounds are.
    fn arms(&self) -> Vec<(String, Place)> {
        let own = self.shares.iter().map(|&shares| {
            let [foreground, background] = shares;
            let place = Place::Clockworker { shares, request: self.request };
            (format!("Clockworker {foreground}:{background}"), place)
        });
        let others = [
            ("two runtimes, background nice 19".to_owned(), Place::TwoRuntimes),
            #[cfg(feature = "rivals")]
            ("clockworker 0.2.6, 99:1".to_owned(), Place::Published([99, 1])),
        ];
        [("LocalSet, foreground alone".to_owned(), Place::Alone), ("LocalSet".to_owned(), Place::LocalSet)]
            .into_iter()
            .chain(own)
            .chain(others)
            .collect()
    }
}

fn table(found: &Comparison) -> Table {
    let latency = |statistic| format!("{}.{statistic}", trial::LATENCY);
    Table::new(format!("{}: foreground {}", found.part, found.title))
        .values("p50", found, &latency("p50"), Unit::Nanos)
        .values("p99", found, &latency("p99"), Unit::Nanos)
        .column("p50 ÷ alone", found, &latency("p50"), Unit::Nanos)
        .column("p99 ÷ alone", found, &latency("p99"), Unit::Nanos)
        .values("background, of a core", found, BACKGROUND_CPU, Unit::Number)
        .column("÷ LocalSet's", found, BACKGROUND_CPU, Unit::Number)
        .values("first poll, p99", found, &format!("{}.p99", trial::QUEUEING), Unit::Nanos)
        .values("overslept, p50", found, &format!("{}.p50", trial::OVERSLEPT), Unit::Nanos)
        .values("sent late, p99", found, &format!("{}.p99", trial::LATENESS), Unit::Nanos)
}
