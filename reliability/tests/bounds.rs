//! The quick form of each program that measures a bound.

use clockworker_reliability::figure::{self, Figure};
use clockworker_reliability::{aborts, cuts, delay, idle, lag, turns};

fn all_kept(figures: &[Figure]) {
    assert!(figures.iter().all(Figure::is_kept), "\n{}", figure::table(figures));
}

fn value(figures: &[Figure], what: &str) -> f64 {
    let found = figures.iter().find(|figure| figure.what.contains(what));
    found.unwrap_or_else(|| panic!("no figure tells of {what}")).value
}

#[test]
fn delays_keep_their_bound_and_come_near_it() {
    let figures = delay::measure(&delay::Options::quick()).unwrap();
    all_kept(&figures);
    assert!(value(&figures, "bound, queues that always contend") > 0.5, "\n{}", figure::table(&figures));
}

#[test]
fn lags_keep_their_bounds_and_come_near_them() {
    let figures = lag::measure(&lag::Options::quick()).unwrap();
    all_kept(&figures);
    assert!(value(&figures, "bound of a queue that is behind") > 0.9, "\n{}", figure::table(&figures));
    assert!(value(&figures, "bound of a queue that is ahead") > 0.9, "\n{}", figure::table(&figures));
}

#[test]
fn hosts_get_their_thread_back() {
    let figures = turns::measure(&turns::Options::quick()).unwrap();
    all_kept(&figures);
    let longest = figures.iter().filter(|figure| figure.what.contains("(budget + longest poll)"));
    assert!(longest.clone().count() > 0 && longest.into_iter().all(|figure| figure.value > 0.9));
}

#[test]
fn idling_takes_no_polls() {
    let figures = idle::measure(&idle::Options::quick()).unwrap();
    // CPU time is for the program to judge: here it is other tests' too, in what the kernel does for them.
    let polls = figures.iter().filter(|figure| figure.what.contains("polls"));
    assert!(
        polls.clone().count() > 0 && polls.into_iter().all(Figure::is_kept),
        "\n{}",
        figure::table(&figures)
    );
}

#[test]
fn a_driver_can_be_dropped_after_any_poll() {
    all_kept(&cuts::measure(&cuts::Options::quick()).unwrap());
}

#[test]
fn aborted_futures_are_dropped_within_a_tick() {
    all_kept(&aborts::measure(&aborts::Options::quick()).unwrap());
}
