//! What a program records into series of its own is what is read.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use clockworker::{Executor, ManualClock};
use clockworker_recorder::{MAX_SERIES, Period, Recorder, Recording, Series, SeriesRecording, TIERS, Values};
use tempfile::TempDir;

/// A whole minute.
const START: u64 = 1_800_000_000;

struct Service {
    ex: Executor,
    recorder: Recorder,
    folder: TempDir,
}

impl Service {
    fn new() -> Self {
        Self::with_room(MAX_SERIES)
    }

    fn with_room(series: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
        let recorder = Recorder::with_room(folder.path().join("service.cwr"), 1, series).unwrap();
        Self { ex, recorder, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("service.cwr")
    }

    fn series(&mut self, name: &str) -> Series {
        self.recorder.series(name).unwrap()
    }

    /// The recorder's call at that second.
    fn file(&mut self, second: u64) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(START + second);
        self.recorder.record(self.ex.stats(), now);
    }

    fn recording(&self) -> Recording {
        Recording::read(self.path()).unwrap()
    }

    fn first(&self) -> SeriesRecording {
        self.recording().series.swap_remove(0)
    }

    /// The same file with that change.
    fn changed(&self, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut bytes = fs::read(self.path()).unwrap();
        change(&mut bytes);
        let path = self.folder.path().join("changed.cwr");
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// When it began, and `values`.
fn periods(of: &[Period<Values>]) -> Vec<(u64, [u64; 4])> {
    of.iter().map(|period| (period.began - START, values(&period.sample))).collect()
}

/// Count, sum, least, greatest.
fn values(of: &Values) -> [u64; 4] {
    [of.count, of.sum, of.min, of.max]
}

#[test]
fn each_period_has_the_values_that_were_recorded_in_it() {
    let mut service = Service::new();
    let bytes = service.series("bytes");
    for (second, recorded) in [(0, &[5, 3, 9][..]), (1, &[]), (12, &[0]), (12, &[70, 1]), (61, &[u64::MAX])] {
        recorded.iter().for_each(|&value| bytes.record(value));
        service.file(second);
    }
    bytes.record(4);
    bytes.record(6);
    let series = service.first();
    assert_eq!((&*series.name, series.count, series.sum), ("bytes", 9, 98 - 1));
    let seconds = periods(&series.seconds);
    let last = [1, u64::MAX, u64::MAX, u64::MAX];
    assert_eq!(seconds, [(0, [3, 17, 3, 9]), (1, [0; 4]), (12, [3, 71, 0, 70]), (61, last)]);
    assert_eq!(periods(&series.tens), [(0, [3, 17, 3, 9]), (10, [3, 71, 0, 70]), (60, last)]);
    assert_eq!(periods(&series.minutes), [(0, [6, 88, 0, 70]), (60, last)]);
    assert_eq!(values(&series.pending), [2, 10, 4, 6]);
    assert_eq!((series.pending.mean(), series.seconds[1].sample.mean()), (Some(5.0), None));
}

#[test]
fn what_no_call_has_filed_yet_is_pending() {
    let mut service = Service::new();
    let series = service.series("requests");
    assert_eq!(values(&service.first().pending), [0; 4]);
    series.record(7);
    assert_eq!(values(&service.first().pending), [1, 7, 7, 7]);
    service.file(0);
    assert_eq!(values(&service.first().pending), [0; 4]);
    // After the recorder too.
    series.record(8);
    let Service { recorder, folder, .. } = service;
    drop(recorder);
    series.record(9);
    let left = &Recording::read(folder.path().join("service.cwr")).unwrap().series[0];
    assert_eq!((values(&left.pending), left.count, left.sum), ([2, 17, 8, 9], 3, 24));
}

/// Of its queues the recording has what was passed on to it, of its series all.
#[test]
fn an_executor_that_is_killed_after_any_lifetime_leaves_all_its_values() {
    for lifetime_ms in [1, 100, 1_000, 1_001, 5_000, 30_000] {
        let mut service = Service::new();
        let series = service.series("ms");
        for ms in 1..=lifetime_ms {
            series.record(1);
            if ms % 1_000 == 0 && ms < lifetime_ms {
                service.file(ms / 1_000);
            }
        }
        let Service { recorder, folder, .. } = service;
        drop((series, recorder));
        let left = &Recording::read(folder.path().join("service.cwr")).unwrap().series[0];
        let seconds = (lifetime_ms - 1) / 1_000;
        let filed = (1..=seconds).map(|second| (second, [1_000, 1_000, 1, 1]));
        assert_eq!(periods(&left.seconds), Vec::from_iter(filed), "{lifetime_ms} ms");
        assert_eq!(left.pending.count, lifetime_ms - 1_000 * seconds, "{lifetime_ms} ms");
    }
}

#[test]
fn each_tier_keeps_its_newest_periods() {
    let mut service = Service::new();
    let series = service.series("requests");
    let seconds = 4_000;
    for second in 0..seconds {
        series.record(second);
        service.file(second);
    }
    let read = service.first();
    for (periods, tier) in [&read.seconds, &read.tens, &read.minutes].into_iter().zip(TIERS) {
        let all: Vec<u64> = (0..seconds).step_by(tier.seconds as usize).collect();
        let kept = &all[all.len().saturating_sub(tier.periods)..];
        assert_eq!(Vec::from_iter(periods.iter().map(|period| period.began - START)), kept);
        for period in periods {
            let (first, end) = (period.began - START, (period.began - START + tier.seconds).min(seconds));
            let sum = (first..end).sum();
            assert_eq!(values(&period.sample), [end - first, sum, first, end - 1]);
        }
    }
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_pending() {
    let mut service = Service::new();
    let series = service.series("requests");
    for second in [100, 101, 40] {
        series.record(second);
        service.file(second);
    }
    let read = service.first();
    assert_eq!(values(&read.pending), [0; 4]);
    assert_eq!(periods(&read.seconds).iter().map(|(began, _)| *began).collect::<Vec<_>>(), [40, 100, 101]);
}

#[test]
fn there_is_room_for_so_many_and_a_name_has_one_series() {
    let mut service = Service::with_room(2);
    let first = service.series("first");
    let error = service.recorder.series("first").unwrap_err();
    assert!(error.is_in_use() && error.to_string().contains("'first' is in use"), "{error}");
    let _second = service.series("second");
    let error = service.recorder.series("third").unwrap_err();
    assert!(
        error.is_full() && error.to_string().ends_with("it has room for 2 series, and has them"),
        "{error}"
    );
    first.record(1);
    drop(first);
    service.series("first").record(2);
    service.file(0);
    let recording = service.recording();
    let names: Vec<_> = recording.series.iter().map(|series| &*series.name).collect();
    assert_eq!(names, ["first", "second"]);
    assert_eq!(values(&recording.series[0].seconds[0].sample), [2, 3, 1, 2]);
    let error = Service::with_room(0).recorder.series("any").unwrap_err();
    assert!(error.is_full(), "{error}");
}

#[test]
fn a_name_that_a_series_cannot_have_is_a_clear_error() {
    let mut service = Service::with_room(1);
    for name in ["", "a\0b", &"n".repeat(65), &"é".repeat(33)] {
        let error = service.recorder.series(name).unwrap_err();
        let said = format!("{name:?} has {} bytes", name.len());
        assert!(error.is_name() && error.to_string().contains(&said), "{error}");
    }
    assert!(service.recording().series.is_empty());
    let longest = "é".repeat(32);
    let _series = service.series(&longest);
    assert_eq!(service.first().name, longest);
}

/// The totals of the period before say what the torn one had: it is pending, and nothing is lost.
#[test]
fn the_values_of_a_torn_second_are_pending() {
    let mut service = Service::new();
    let series = service.series("requests");
    for second in [0, 1, 2] {
        series.record(10 + second);
        service.file(second);
    }
    let newest: Vec<u8> =
        [1, START + 2, 1, 12, 12, 12, 3, 33].iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
    let torn = |bytes: &mut Vec<u8>| {
        let place = bytes.windows(newest.len()).position(|window| window == newest).unwrap();
        bytes[place + 24] ^= 1;
    };
    let recording = Recording::read(service.changed(torn)).unwrap();
    assert_eq!(recording.torn, 1);
    let read = &recording.series[0];
    assert_eq!(periods(&read.seconds), [(0, [1, 10, 10, 10]), (1, [1, 11, 11, 11])]);
    assert_eq!((read.count, read.sum, values(&read.pending)), (3, 33, [1, 12, 12, 12]));
    assert_eq!(periods(&read.tens), [(0, [3, 33, 10, 12])]);
}

/// Whatever it ends with: the names, the records, or what is live.
#[test]
fn a_file_that_is_cut_off_in_its_series_is_a_clear_error() {
    let mut service = Service::new();
    let _series = service.series("requests");
    let whole = fs::read(service.path()).unwrap().len();
    // Live words, and the records of one series.
    for missing in [1, 8, 64 * MAX_SERIES, 64 * MAX_SERIES + 8, 72 * 2_400 * MAX_SERIES + 64 * MAX_SERIES] {
        let error = Recording::read(service.changed(|bytes| bytes.truncate(whole - missing))).unwrap_err();
        assert!(error.is_truncated() && error.to_string().ends_with(&format!("of {whole}")), "{error}");
    }
}

#[test]
fn a_series_may_be_recorded_into_on_another_thread() {
    const VALUES: u64 = 1_000_000;
    let mut service = Service::new();
    let series = service.series("requests");
    let other = thread::spawn(move || (1..=VALUES).for_each(|value| series.record(value)));
    let mut calls = 0;
    while !other.is_finished() {
        service.file(calls % 60);
        calls += 1;
    }
    other.join().unwrap();
    service.file(59);
    let read = service.first();
    let sum = VALUES * (VALUES + 1) / 2;
    assert_eq!((read.count, read.sum), (VALUES, sum));
    assert_eq!(periods(&read.minutes), [(0, [VALUES, sum, 1, VALUES])]);
    assert_eq!(values(&read.pending), [0; 4]);
    // It is free again, and goes on.
    service.series("requests").record(1);
    assert_eq!(service.first().count, VALUES + 1);
}

#[test]
fn a_recorder_and_a_series_may_be_sent() {
    fn sent<T: Send>() {}
    sent::<Recorder>();
    sent::<Series>();
}
