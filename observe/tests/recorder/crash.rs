//! A recorder's process is killed.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use clockworker::Executor;
use clockworker_observe::Observed;
use clockworker_observe::recorder::{Recorder, Recording};

/// Where the child records, and whether it calls the recorder each second.
const FILE: &str = "CLOCKWORKER_RECORDED";
const CALLS: &str = "CLOCKWORKER_CALLS";

/// Values that the child records a second.
const VALUES: u64 = 3;

/// Not a test but what the child does: it records, faster than time goes by, until it is killed.
#[test]
#[allow(clippy::print_stdout, reason = "it tells its parent")]
fn child() {
    let Some(path) = env::var_os(FILE) else { return };
    let ex = Executor::new();
    // Of some hundred seconds.
    let mut recorder = Recorder::with_bytes(path, 32 << 10).unwrap();
    let series = recorder.series("values").unwrap();
    for second in 0.. {
        (0..VALUES).for_each(|_| series.record(second));
        if env::var_os(CALLS).is_some() {
            ex.block_on(ex.spawn(async {})).unwrap();
            recorder.record(
                ex.stats(),
                Observed::default(),
                SystemTime::UNIX_EPOCH + Duration::from_secs(second),
            );
        }
        if second == 1_000 {
            println!("recorded");
        }
    }
}

#[test]
fn what_was_recorded_outlives_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.cwr"));
        // Read while it is being written: nothing in it is wrong.
        let mut live = None;
        let child = killed(&path, true, || live = Some(Recording::read(&path).unwrap()));
        let (live, left) = (live.unwrap(), Recording::read(&path).unwrap());
        assert_eq!(left.process, child);
        assert!(last_second(&left) >= last_second(&live));
        check_periods(&left);
        check_pending(&left);
        for (before, period) in left.periods.iter().zip(&left.periods[1..]) {
            assert_eq!(period.at_ns - before.at_ns, 1_000_000_000, "none is missing");
        }
        // While it was read, the oldest were overwritten.
        check_periods(&live);

        // Values that no period has yet outlive it too.
        killed(&path, false, || ());
        let left = Recording::read(&path).unwrap();
        assert!(left.periods.is_empty() && left.pending[0].count >= 1_000 * VALUES);
        check_pending(&left);
    }
}

fn last_second(recording: &Recording) -> Option<u64> {
    recording.periods.last().map(|period| period.at_ns / 1_000_000_000)
}

/// Each is whole.
fn check_periods(recording: &Recording) {
    assert!(recording.periods.len() >= 100, "{} periods", recording.periods.len());
    for period in &recording.periods {
        assert_eq!(period.queues[0].completed, 1);
        let (second, values) = (period.at_ns / 1_000_000_000, period.series[0].values);
        let expected = (VALUES, VALUES * second, second, second);
        assert_eq!((values.count, values.sum, values.min, values.max), expected);
    }
}

/// What no period has is pending: nothing is lost.
fn check_pending(recording: &Recording) {
    let series = &recording.pending[0];
    let filed = last_second(recording).map_or(0, |second| second + 1);
    assert_eq!(series.count, filed * VALUES + series.values.count);
    // Killed between two stores: the sum or an extreme may have a value that the count has not.
    let counted: u64 = (0..series.count).map(|value| value / VALUES).sum();
    let next = series.count / VALUES;
    assert!([0, next].contains(&(series.sum - counted)), "{series:?}");
    if series.values.count > 0 {
        assert_eq!(series.values.min, filed);
        assert!([next, (series.count - 1) / VALUES].contains(&series.values.max), "{series:?}");
    }
}

/// Runs the child until it has recorded something, then `meanwhile`, then kills it. Its process.
fn killed(path: &Path, calls: bool, meanwhile: impl FnOnce()) -> u32 {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "crash::child", "--nocapture"]).env(FILE, path).stdout(Stdio::piped());
    if calls {
        child.env(CALLS, "");
    }
    let mut child = child.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("recorded")));
    meanwhile();
    child.kill().unwrap();
    child.wait().unwrap();
    child.id()
}
