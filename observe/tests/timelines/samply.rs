//! Markers for samply.

use std::fs;
use std::time::Duration;

use clockworker_observe::PollOutcome::Pending;
use clockworker_observe::SamplyMarkers;
use clockworker_observe::SliceEndReason::Drained;
use clockworker_observe::TimelineQueue;
use rustix::time::{ClockId, clock_gettime};

use crate::support::{HEAVY, Script, us};

fn monotonic() -> Duration {
    clock_gettime(ClockId::Monotonic).try_into().unwrap()
}

#[test]
fn each_slice_that_is_over_is_written_once_with_its_slow_polls() {
    let directory = tempfile::tempdir().unwrap();
    let mut markers = SamplyMarkers::create(directory.path()).unwrap();
    let task = (HEAVY, 3);
    let mut script = Script::default();
    for (from, took, to) in [(1_000, 900, 2_000), (10_000, 7_000, 20_000), (30_000, 999, 31_000)] {
        script = script.began(from, HEAVY, 1).polled(from, task, took, Pending).ended(to, HEAVY, Drained);
    }
    let whole = script.timeline();
    let before = monotonic();
    // The second slice is not over yet; then it is; then all is, and is written again.
    for (events, taken_at) in [(5, 18_000), (6, 21_000), (9, 32_000), (9, 33_000)] {
        let mut timeline = whole.clone();
        timeline.queues = vec![TimelineQueue::new(HEAVY, "re\nports", 1, us(100))];
        timeline.events.truncate(events);
        timeline.taken_at = us(taken_at);
        markers.write(&timeline).unwrap();
    }
    assert!(markers.path().file_name().unwrap().to_str().unwrap().starts_with("marker-"));
    let text = fs::read_to_string(markers.path()).unwrap();
    let (began, found): (Vec<_>, Vec<_>) = text
        .lines()
        .map(|line| {
            let [from, to, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let [from, to] = [from, to].map(|at| Duration::from_nanos(at.parse().unwrap()));
            (from, (to - from, name))
        })
        .unzip();
    let slow = (us(7_000), "slow poll in re ports");
    assert_eq!(
        found,
        [(us(1_000), "q:re ports"), slow, (us(10_000), "q:re ports"), (us(1_000), "q:re ports")]
    );
    // The slow poll began 10 ms after the executor was made, which was 21 ms before it was written.
    let written = began[1] + us(11_000);
    assert!((before..=monotonic()).contains(&written), "{written:?}");
}
