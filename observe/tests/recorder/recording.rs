//! What is recorded is what is read.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clockworker::{Executor, ManualClock, Queue};
use clockworker_observe::recorder::{QueueSample, Recorder, Recording, SeriesSample, Values};
use clockworker_observe::{Observation, Observe};
use tempfile::TempDir;

const BYTES: usize = 64 << 10;

struct Service {
    ex: Executor,
    clock: ManualClock,
    recorder: Recorder,
    folder: TempDir,
}

impl Service {
    fn new() -> Self {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        ex.observe(Observation::new().latency().every_poll()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::with_bytes(folder.path().join("service.cwr"), BYTES).unwrap();
        Self { ex, clock, recorder, folder }
    }

    /// A task of the queue takes so many milliseconds.
    fn work(&self, queue: &Queue, ms: u64) {
        let clock = self.clock.clone();
        let task = queue.spawn(async move { clock.advance(Duration::from_millis(ms)) });
        self.ex.block_on(task).unwrap();
    }

    fn record(&mut self, second: u64) {
        let observed = self.ex.observed();
        self.recorder.record(self.ex.stats(), observed, SystemTime::UNIX_EPOCH + Duration::from_secs(second));
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("service.cwr")
    }

    fn read(&self) -> Recording {
        Recording::read(self.path()).unwrap()
    }

    /// Reads the file with a change.
    fn read_changed(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<Recording> {
        let mut bytes = fs::read(self.path()).unwrap();
        change(&mut bytes);
        let path = self.folder.path().join("changed.cwr");
        fs::write(&path, bytes).unwrap();
        Recording::read(path)
    }
}

fn seconds(recording: &Recording) -> Vec<u64> {
    recording.periods.iter().map(|period| period.at_ns / 1_000_000_000).collect()
}

/// Count, sum, least, greatest.
fn numbers(values: &Values) -> [u64; 4] {
    [values.count, values.sum, values.min, values.max]
}

fn all_values(recording: &Recording) -> Vec<[u64; 4]> {
    recording.periods.iter().map(|period| numbers(&period.series[0].values)).collect()
}

#[test]
fn each_period_has_what_the_queues_did_in_it() {
    let mut service = Service::new();
    let requests = service.ex.new_queue(&"é".repeat(50)).share(9).create().unwrap();
    for second in [0, 1, 2, 12] {
        service.clock.advance(Duration::from_millis(100));
        service.work(&requests, second + 1);
        service.work(&requests, 1);
        service.record(second);
    }
    let recording = service.read();
    assert_eq!((recording.process, seconds(&recording)), (std::process::id(), vec![0, 1, 2, 12]));
    let mut sum = QueueSample::default();
    for (period, ms) in recording.periods.iter().zip([2, 3, 4, 14]) {
        assert_eq!((period.took_ns, period.busy_ns), ((100 + ms) * 1_000_000, ms * 1_000_000));
        let numbers = period.queues.iter().map(|queue| queue.number);
        assert!(numbers.eq(service.ex.stats().queues.iter().map(|queue| queue.number)));
        let [default, queue] = &period.queues[..] else { panic!("{period:?}") };
        assert_eq!((&*default.name, default.polls, &*queue.name), ("default", 0, &*"é".repeat(50)));
        assert_eq!((queue.share, queue.completed, queue.polls, queue.live), (9, 2, 2, 0));
        assert_eq!((queue.busy_ns, queue.longest_poll_ns), (ms * 1_000_000, (ms - 1) * 1_000_000));
        sum.add_earlier(queue);
    }
    assert_eq!((sum.polls, sum.completed, sum.ready), (8, 8, 0));
    assert_eq!((sum.busy_ns, sum.longest_poll_ns), (23_000_000, 13_000_000));
    // It has the name that it has at the end of a period, and is missing when it is gone.
    requests.rename("short").unwrap();
    service.record(13);
    requests.close();
    drop(requests);
    service.record(14);
    let [.., renamed, gone] = &service.read().periods[..] else { panic!() };
    assert_eq!((&*renamed.queues[1].name, gone.queues.len()), ("short", 1));
}

#[test]
fn each_period_has_the_values_that_were_recorded_in_it() {
    let mut service = Service::new();
    let bytes = service.recorder.series("bytes").unwrap();
    for recorded in [&[5, 3, 9][..], &[], &[0], &[70, 1], &[u64::MAX]] {
        recorded.iter().for_each(|&value| bytes.record(value));
        service.record(0);
    }
    assert_eq!(numbers(&service.read().pending[0].values), [0; 4]);
    bytes.record(4);
    bytes.record(6);
    let recording = service.read();
    let last = [1, u64::MAX, u64::MAX, u64::MAX];
    assert_eq!(all_values(&recording), [[3, 17, 3, 9], [0; 4], [1, 0, 0, 0], [2, 71, 1, 70], last]);
    let SeriesSample { name, values, count, sum, .. } = &recording.pending[0];
    assert_eq!((&**name, numbers(values), *count, *sum), ("bytes", [2, 10, 4, 6], 9, 98 - 1));
    let mut all = Values::default();
    recording.periods.iter().for_each(|period| all.add(&period.series[0].values));
    assert_eq!(numbers(&all), [7, 87, 0, u64::MAX]);
}

#[test]
fn the_newest_periods_are_kept() {
    let mut service = Service::new();
    let series = service.recorder.series("seconds").unwrap();
    let last = 4_000;
    for second in 0..=last {
        series.record(second);
        service.record(second);
        if second.is_power_of_two() {
            // Frames of another length.
            service.ex.new_queue(&"long".repeat(second as usize % 100)).create().unwrap();
        }
    }
    let recording = service.read();
    let kept = recording.periods.len() as u64;
    assert!((20..last).contains(&kept), "{kept}");
    let kept = last + 1 - kept..=last;
    assert!(seconds(&recording).into_iter().eq(kept.clone()));
    assert!(all_values(&recording).into_iter().eq(kept.map(|second| [1, second, second, second])));
    assert_eq!(recording.pending[0].values.count, 0);
}

#[test]
fn a_name_has_one_series_and_there_is_room_for_so_many() {
    let mut service = Service::new();
    let name = |nth: usize| format!("{nth:é>32}");
    for nth in 0..64 {
        service.recorder.series(&name(nth)).unwrap().record(nth as u64);
        service.recorder.series(&name(nth)).unwrap().record(1);
    }
    assert_eq!(service.recorder.series("one more").unwrap_err().kind(), ErrorKind::StorageFull);
    for name in ["", "\0", &"n".repeat(65), &"é".repeat(33)] {
        let error = service.recorder.series(name).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidInput, "{error}");
    }
    let pending = service.read().pending;
    assert_eq!(pending.len(), 64);
    for (nth, series) in pending.iter().enumerate() {
        assert_eq!((&series.name, series.count, series.sum), (&name(nth), 2, nth as u64 + 1));
    }
}

#[test]
fn what_is_no_whole_recording_is_a_clear_error() {
    let mut service = Service::new();
    service.record(0);
    let fails = |kind: ErrorKind, said: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let error = service.read_changed(|bytes| change(bytes)).unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(said), "{error}");
    };
    for foreign in [&b""[..], b"short", &[0; 4_096], b"#!/bin/sh\necho no recording at all\n"] {
        fails(ErrorKind::InvalidData, "no recording", &|bytes| *bytes = foreign.to_vec());
    }
    for left in [8, 16, 31, 32, 4_096, BYTES - 1] {
        fails(ErrorKind::UnexpectedEof, "cut off", &|bytes| bytes.truncate(left));
    }
    let set = |word: usize, value: u64| {
        move |bytes: &mut Vec<u8>| bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_ne_bytes())
    };
    fails(ErrorKind::InvalidData, "version 3 ", &set(1, 3));
    fails(ErrorKind::UnexpectedEof, "cut off", &set(3, u64::MAX));
    assert!(Recording::read(service.folder.path().join("nowhere")).is_err());
}

/// The totals of the period before say which values the torn one had: they are pending.
#[test]
fn a_torn_period_is_left_out_and_its_values_are_pending() {
    let mut service = Service::new();
    let series = service.recorder.series("requests").unwrap();
    for second in [0, 1, 2] {
        series.record(10 + second);
        service.record(second);
    }
    let bytes = fs::read(service.path()).unwrap();
    let is_mark = |place: &usize| bytes[*place..].starts_with(b"CW-FRAME");
    let places: Vec<usize> = (0..bytes.len()).step_by(8).filter(is_mark).collect();
    let [_, middle, newest] = places[..] else { panic!("{places:?}") };
    let end = newest + bytes[newest..].iter().rposition(|&byte| byte != 0).unwrap();
    // Any bit of it may be wrong.
    for wrong in newest..=end {
        let torn = service.read_changed(|bytes| bytes[wrong] ^= 1).unwrap();
        assert_eq!(seconds(&torn), [0, 1], "{wrong}");
        let SeriesSample { values, count, sum, .. } = &torn.pending[0];
        assert_eq!((numbers(values), *count, *sum), ([1, 12, 12, 12], 3, 33));
    }
    // And one in the middle leaves those behind it.
    let torn = service.read_changed(|bytes| bytes[middle + 40] ^= 1).unwrap();
    assert_eq!((seconds(&torn), numbers(&torn.pending[0].values)), (vec![0, 2], [0; 4]));
}

#[test]
fn a_recording_that_is_there_is_kept() {
    let mut service = Service::new();
    service.record(7);
    Recorder::create(service.path()).unwrap();
    assert_eq!(service.read().periods, []);
    let kept = Recording::read(service.folder.path().join("service.cwr.1")).unwrap();
    assert_eq!(seconds(&kept), [7]);
}

#[test]
fn what_cannot_be_recorded_into_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Recorder::create(folder.path()).is_err(), "a folder");
    assert!(Recorder::create(folder.path().join("no/such/folder")).is_err());
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "no file is left");
    let small = folder.path().join("small");
    Recorder::with_bytes(&small, 1_000).unwrap();
    assert_eq!(fs::metadata(&small).unwrap().len(), 16 << 10);
}
