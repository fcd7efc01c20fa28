//! The command `priority`: foreground tasks beside background work on one thread, by shares and by requests.
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
pub mod lanes;
pub mod trial;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clockworker::DEFAULT_REQUEST;

use crate::arms::clockworker::QueueSetup;
use crate::harness::{
    Comparison, Experiment, Measurement, Options, Pinning, Sampling, Side, Table, Unit, Window,
};
use arrivals::Pattern;
use lanes::Background;
use trial::{BACKGROUND_CPU, Place, Trial};

#[derive(Args, Debug)]
pub struct Priority {
    #[command(flatten)]
    pub options: Options,
}

const PUBLISHED_SHAPE: &str = "published_shape";

/// One short task each two milliseconds: a fortieth of a core, where its share is a tenth.
const LIGHT: Pattern = Pattern {
    mean_gap: Duration::from_millis(2),
    segments: (1, 1),
    shortest: Duration::from_micros(20),
    longest: Duration::from_micros(80),
};

const SHARES: [(u32, u32); 4] = [(99, 1), (9, 1), (13, 2), (1, 1)];

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

type Arm = (String, Place);

impl Measurement for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn question(&self) -> &'static str {
        "What does a foreground pay for a background on its thread, and what does that get?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let Options { quick, seed, .. } = self.options;
        let millis = if quick { [10, 30] } else { [100, 750] };
        let times: (Duration, Duration) = millis.map(Duration::from_millis).into();
        let scene = |part, title: &str, foreground: Pattern, background: Background, own: Vec<Arm>| {
            let (titles, places): (_, Vec<Place>) = arms(own).into_iter().unzip();
            let pinning = pinning.clone();
            let take = move |window: &Window| {
                let round = u64::from(window.round);
                let schedule = foreground.draw(seed, round, times.0 + times.1).into();
                let trial =
                    Trial { schedule, background, seed: seed ^ round << 32, times, pinning: &pinning };
                trial.run(places[window.arm])
            };
            let sampling = Sampling::new(part, format!("beside {title}"), titles, take);
            let base = |figure: &str| if figure == BACKGROUND_CPU { LOCAL_SET } else { 0 };
            sampling.rounds(if part == PUBLISHED_SHAPE { 10 } else { 6 }).side(Side::Load).base(base)
        };
        let endless = |micros| Background { poll: (us(micros), us(micros)), rest: None };
        let resting = |range| Background { poll: range, rest: Some(range) };
        let by_shares = || SHARES.map(|shares| queues(shares, (DEFAULT_REQUEST, us(100)))).to_vec();
        let by_poll = |micros| vec![queues((99, 1), (DEFAULT_REQUEST, us(micros)))];
        let usual = Pattern::USUAL;
        let scenes = [
            scene("shares", "endless polls of 100 µs", usual, endless(100), by_shares()),
            scene("sleeping", "polls and sleeps of 100 µs", usual, resting((us(100), us(100))), by_shares()),
            scene(
                PUBLISHED_SHAPE,
                "polls and sleeps of 100 to 500 µs",
                usual,
                resting((us(100), us(500))),
                vec![queues((99, 1), (DEFAULT_REQUEST, DEFAULT_REQUEST))],
            ),
            scene("requests", "endless polls of 100 µs", LIGHT, endless(100), requests()),
            scene("polls", "endless polls of 20 µs", usual, endless(20), by_poll(20)),
            scene("polls", "endless polls of 500 µs", usual, endless(500), by_poll(500)),
        ];
        Ok(scenes.into_iter().map(|scene| Box::new(scene) as _).collect())
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        found.iter().map(table).collect()
    }
}

/// Own arms, after those that they are compared with. The first is the base of latencies.
fn arms(own: Vec<Arm>) -> Vec<Arm> {
    let alone = ("LocalSet, foreground alone".to_owned(), Place::Alone);
    let local_set = ("LocalSet".to_owned(), Place::LocalSet);
    let others = [
        ("two runtimes, background nice 19".to_owned(), Place::TwoRuntimes),
        #[cfg(feature = "rivals")]
        ("clockworker 0.2.6, 99:1".to_owned(), Place::Published([99, 1])),
    ];
    [alone, local_set].into_iter().chain(own).chain(others).collect()
}

/// Its place there: the base of backgrounds.
const LOCAL_SET: usize = 1;

/// Clockworker with two queues of such shares and requests.
fn queues((foreground, background): (u32, u32), requests: (Duration, Duration)) -> Arm {
    let setup = |name, share, request| QueueSetup { name, share, request };
    let setups = [setup("foreground", foreground, requests.0), setup("background", background, requests.1)];
    (format!("Clockworker {foreground}:{background}"), Place::Clockworker(setups))
}

/// A tenth of the thread for the foreground, which is told apart by its request: the background has the usual one.
fn requests() -> Vec<Arm> {
    let request = |micros| {
        let (title, place) = queues((1, 9), (us(micros), DEFAULT_REQUEST));
        (format!("{title}, request {micros} µs"), place)
    };
    vec![queues((99, 1), (DEFAULT_REQUEST, us(100))), request(500), request(50)]
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
