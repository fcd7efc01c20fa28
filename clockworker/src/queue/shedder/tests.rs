//! The decision, interval by interval; and an overload in virtual time, against a queue that sheds nothing.

use super::*;

const MS: u64 = 1_000_000;

/// A target of 5 ms, an interval of 100 ms.
fn delay() -> Delay {
    Delay::new(5 * MS, 100 * MS)
}

#[test]
fn a_wait_above_the_target_for_a_whole_interval_is_an_overload() {
    let mut delay = delay();
    delay.look(0, None, 7 * MS);
    delay.waited(5 * MS + 1);
    delay.look(99, None, 107 * MS - 1);
    assert!(delay.admits(usize::MAX), "the interval is not over");
    delay.look(100, None, 107 * MS);
    // 1 ms per poll: 10 tasks are twice the target.
    assert!(delay.admits(10) && !delay.admits(11));
}

#[test]
fn one_short_wait_in_an_interval_is_enough() {
    let mut delay = delay();
    delay.look(0, None, 0);
    [50 * MS, 5 * MS, 90 * MS].into_iter().for_each(|ns| delay.waited(ns));
    delay.look(10, None, 100 * MS);
    assert!(delay.admits(usize::MAX));
    // The next interval is judged by itself.
    delay.waited(50 * MS);
    delay.look(20, None, 200 * MS);
    assert!(delay.admits(1) && !delay.admits(2));
    delay.waited(5 * MS);
    delay.look(30, None, 300 * MS);
    assert!(delay.admits(usize::MAX));
}

#[test]
fn a_task_that_is_never_polled_counts_by_its_age() {
    let mut delay = delay();
    delay.look(0, Some(0), 0);
    delay.look(0, Some(5 * MS), 100 * MS);
    assert!(delay.admits(usize::MAX));
    delay.look(0, Some(105 * MS), 200 * MS);
    // No poll in 100 ms: whatever waits, waits for that long.
    assert!(delay.admits(0) && !delay.admits(1));
}

#[test]
fn where_nothing_is_measured_it_stays_as_it_was_and_where_nothing_is_ready_it_ends() {
    let mut delay = delay();
    delay.look(0, None, 0);
    delay.look(9, None, 100 * MS);
    assert!(delay.admits(usize::MAX));
    delay.waited(6 * MS);
    delay.look(109, None, 200 * MS);
    delay.look(159, None, 300 * MS);
    assert!(delay.admits(5) && !delay.admits(6), "2 ms per poll in the last interval");
    delay.forget();
    assert!(delay.admits(usize::MAX));
    delay.look(160, None, 350 * MS);
    delay.waited(6 * MS);
    delay.look(200, None, 450 * MS - 1);
    assert!(delay.admits(usize::MAX), "the interval began anew");
}

#[test]
fn no_number_is_too_large() {
    let mut delay = Delay::new(u64::MAX, u64::MAX);
    delay.look(u64::MAX, None, 0);
    delay.waited(u64::MAX);
    delay.look(0, Some(u64::MAX), u64::MAX);
    assert!(delay.admits(usize::MAX));
    let mut delay = Delay::new(1, 1);
    delay.look(0, None, 0);
    delay.waited(2);
    delay.look(0, None, u64::MAX);
    assert!(delay.admits(0) && !delay.admits(usize::MAX));
}
