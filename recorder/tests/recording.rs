//! What is recorded is what is read.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clockworker::observe::Observation;
use clockworker::{Executor, ManualClock, Queue};
use clockworker_recorder::{MAX_QUEUES, MAX_SERIES, Period, Recorder, Recording, TIERS};
use tempfile::TempDir;

/// A minute that begins with a whole ten seconds and a whole minute.
const START: u64 = 1_800_000_000;

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START + second)
}

struct Service {
    ex: Executor,
    clock: ManualClock,
    folder: TempDir,
}

impl Service {
    fn new() -> Self {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        ex.observe(Observation::new().latency().every_poll()).unwrap();
        Self { ex, clock, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("service.cwr")
    }

    /// A task of the queue that takes so many milliseconds.
    fn work(&self, queue: &Queue, ms: u64) {
        let clock = self.clock.clone();
        let task = queue.spawn(async move { clock.advance(Duration::from_millis(ms)) });
        self.ex.block_on(task).unwrap();
    }
}

fn began(periods: &[Period]) -> Vec<u64> {
    periods.iter().map(|period| period.began - START).collect()
}

#[test]
fn each_second_has_what_happened_in_it() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    let requests = service.ex.new_queue("requests").share(9).create().unwrap();
    for second in [0, 1, 2, 12, 61] {
        service.work(&requests, second + 1);
        service.work(&requests, 1);
        recorder.record(service.ex.stats(), at(second));
    }
    let recording = Recording::read(service.path()).unwrap();
    assert_eq!((recording.process, recording.torn, recording.left_out), (std::process::id(), 0, 0));
    assert_eq!(recording.updated_ns, (START + 61) * 1_000_000_000);
    let names: Vec<_> = recording.queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["default", "requests"]);
    let numbers: Vec<_> = service.ex.stats().queues.iter().map(|queue| queue.number).collect();
    assert_eq!(Vec::from_iter(recording.queues.iter().map(|queue| queue.number)), numbers);
    let requests = &recording.queues[1];
    assert_eq!(began(&requests.seconds), [0, 1, 2, 12, 61]);
    let busy: Vec<u64> = requests.seconds.iter().map(|period| period.sample.busy_ns / 1_000_000).collect();
    assert_eq!(busy, [2, 3, 4, 14, 63]);
    let third = requests.seconds[2].sample;
    assert_eq!((third.share, third.completed, third.polls, third.live), (9, 2, 2, 0));
    assert_eq!((third.waits, third.longest_poll_ns), (2, 3_000_000));
    assert_eq!(began(&requests.tens), [0, 10, 60]);
    assert_eq!(requests.tens[0].sample.completed, 6);
    assert_eq!(began(&requests.minutes), [0, 60]);
    assert_eq!(requests.minutes[0].sample.busy_ns, 23_000_000);
    assert_eq!(recording.executor.seconds[4].sample.busy_ns, 63_000_000);
}

#[test]
fn what_is_recorded_twice_in_a_second_adds_up() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    for _ in 0..3 {
        service.work(service.ex.default_queue(), 2);
        recorder.record(service.ex.stats(), at(7));
    }
    let queue = &Recording::read(service.path()).unwrap().queues[0];
    assert_eq!(began(&queue.seconds), [7]);
    assert_eq!((queue.seconds[0].sample.completed, queue.seconds[0].sample.busy_ns), (3, 6_000_000));
}

#[test]
fn each_tier_keeps_its_newest_periods() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    let seconds = 4_000;
    for second in 0..seconds {
        recorder.record(service.ex.stats(), at(second));
    }
    let queue = &Recording::read(service.path()).unwrap().queues[0];
    for (periods, tier) in [&queue.seconds, &queue.tens, &queue.minutes].into_iter().zip(TIERS) {
        let all: Vec<u64> = (0..seconds).step_by(tier.seconds as usize).collect();
        assert_eq!(began(periods), all[all.len().saturating_sub(tier.periods)..]);
    }
}

#[test]
fn an_executor_of_any_lifetime_leaves_all_its_seconds() {
    for lifetime in [0.1, 1.0, 5.0, 30.0] {
        let service = Service::new();
        let mut recorder = Recorder::create(service.path()).unwrap();
        // Once a second, and at the end.
        let seconds = (0..).map(f64::from).take_while(|&second| second < lifetime).chain([lifetime]);
        for second in seconds.skip(1) {
            service.work(service.ex.default_queue(), 1);
            recorder.record(service.ex.stats(), SystemTime::UNIX_EPOCH + Duration::from_secs_f64(second));
        }
        let queue = &Recording::read(service.path()).unwrap().queues[0];
        let recorded: u64 = queue.seconds.iter().map(|period| period.sample.completed).sum();
        assert_eq!(recorded, service.ex.stats().completed, "{lifetime} s");
        assert!(queue.seconds.len() as f64 >= lifetime.floor(), "{lifetime} s");
    }
}

#[test]
fn a_queue_that_is_gone_can_be_read_until_its_seat_is_taken() {
    let service = Service::new();
    let mut recorder = Recorder::with_room(service.path(), 2, 0).unwrap();
    let record = |recorder: &mut Recorder, second| recorder.record(service.ex.stats(), at(second));
    let names = || -> Vec<String> {
        Recording::read(service.path()).unwrap().queues.into_iter().map(|queue| queue.name).collect()
    };
    let first = service.ex.new_queue("first").create().unwrap();
    record(&mut recorder, 0);
    let second = service.ex.new_queue("second").create().unwrap();
    record(&mut recorder, 1);
    assert_eq!(names(), ["default", "first"]);
    assert_eq!(Recording::read(service.path()).unwrap().left_out, 1);
    first.close();
    drop(first);
    drop(second);
    record(&mut recorder, 2);
    assert_eq!(names(), ["default", "second"]);
    let recording = Recording::read(service.path()).unwrap();
    assert_eq!(began(&recording.queues[1].seconds), [2], "nothing of the queue that had the seat before");
}

#[test]
fn names_are_kept_to_64_bytes_and_follow_a_new_name() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    let queue = service.ex.new_queue(&"é".repeat(50)).create().unwrap();
    recorder.record(service.ex.stats(), at(0));
    assert_eq!(Recording::read(service.path()).unwrap().queues[1].name, "é".repeat(32));
    queue.rename("short").unwrap();
    recorder.record(service.ex.stats(), at(1));
    let recording = Recording::read(service.path()).unwrap();
    assert_eq!(recording.queues[1].name, "short");
    assert_eq!(began(&recording.queues[1].seconds), [0, 1]);
}

#[test]
fn a_recording_that_is_there_is_kept() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    service.work(service.ex.default_queue(), 1);
    recorder.record(service.ex.stats(), at(0));
    drop(recorder);
    Recorder::create(service.path()).unwrap();
    assert!(Recording::read(service.path()).unwrap().queues.is_empty());
    let kept = service.folder.path().join("service.cwr.1");
    assert_eq!(Recording::read(kept).unwrap().queues[0].seconds[0].sample.completed, 1);
}

#[test]
fn what_is_no_whole_recording_is_a_clear_error() {
    let service = Service::new();
    Recorder::create(service.path()).unwrap().record(service.ex.stats(), at(0));
    let whole = fs::read(service.path()).unwrap();
    let read = |bytes: &[u8]| {
        let path = service.folder.path().join("other.cwr");
        fs::write(&path, bytes).unwrap();
        Recording::read(path)
    };
    for bytes in [&b""[..], b"short", &[0; 4_096], b"#!/bin/sh\necho no recording at all\n"] {
        let error = read(bytes).unwrap_err();
        assert!(error.is_foreign(), "{error}");
    }
    for length in [8, 127, 128, 4_096, whole.len() - 1] {
        let error = read(&whole[..length]).unwrap_err();
        assert!(error.is_truncated(), "{length}: {error}");
    }
    for version in [1, 3_u64] {
        let mut other = whole.clone();
        other[8..16].copy_from_slice(&version.to_ne_bytes());
        let error = read(&other).unwrap_err();
        assert!(error.is_version() && error.to_string().contains(&format!("version {version} ")), "{error}");
    }
    // Numbers of queues and of series.
    for place in [16, 56] {
        for number in [4_098, u64::MAX] {
            let mut huge = whole.clone();
            huge[place..place + 8].copy_from_slice(&number.to_ne_bytes());
            assert!(read(&huge).unwrap_err().is_foreign());
        }
    }
    let error = Recording::read(service.folder.path().join("nowhere")).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
}

/// Whatever word of it is wrong: a period that was being written is missing, and the others are there.
#[test]
fn a_torn_period_is_left_out() {
    let service = Service::new();
    let mut recorder = Recorder::create(service.path()).unwrap();
    recorder.record(service.ex.stats(), at(0));
    recorder.record(service.ex.stats(), at(1));
    let whole = Recording::read(service.path()).unwrap();
    let mut bytes = fs::read(service.path()).unwrap();
    let began: Vec<u8> = (START + 1).to_ne_bytes().into();
    let place = bytes.windows(8).position(|window| window == began).unwrap();
    bytes[place + 8] ^= 1;
    let path = service.folder.path().join("torn.cwr");
    fs::write(&path, bytes).unwrap();
    let torn = Recording::read(path).unwrap();
    assert_eq!(torn.torn, 1);
    let periods =
        |recording: &Recording| recording.executor.seconds.len() + recording.queues[0].seconds.len();
    assert_eq!(periods(&torn) + 1, periods(&whole));
}

#[test]
fn what_cannot_be_recorded_into_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    for (queues, series) in [(0, 1), (4_097, 1), (usize::MAX, 1), (1, 4_097), (1, usize::MAX)] {
        let error = Recorder::with_room(folder.path().join("file"), queues, series).unwrap_err();
        let said = format!("{queues} queues and {series} series");
        assert!(error.is_room() && error.to_string().contains(&said), "{error}");
    }
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "no file is left");
    let error = Recorder::create(folder.path().join("no/such/folder")).unwrap_err();
    assert!(!error.is_room() && error.to_string().contains("no/such/folder"), "{error}");
    assert!(Recorder::create(folder.path()).is_err(), "a folder");
    const { assert!(MAX_QUEUES == 32 && MAX_SERIES == 16) };
}
