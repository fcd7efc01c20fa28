//! The quick form of each program that measures a bound.

use clap::Parser;
use clockworker_reliability::Arguments;
use clockworker_reliability::figure::{self, Figure};

fn quick(command: &str) -> Vec<Figure> {
    Arguments::parse_from(["clockworker-reliability", command, "--quick"]).measure().unwrap()
}

fn all_kept(command: &str) -> Vec<Figure> {
    let figures = quick(command);
    assert!(figures.iter().all(Figure::is_kept), "\n{}", figure::table(&figures));
    figures
}

/// Those about `what` are above `least`, and there are some: a bound that nothing comes near is tested by nothing.
fn come_near(figures: &[Figure], what: &str, least: f64) {
    let found: Vec<_> =
        figures.iter().filter(|figure| figure.bound.is_some() && figure.what.contains(what)).collect();
    let near = !found.is_empty() && found.iter().all(|figure| figure.value > least);
    assert!(near, "\n{}", figure::table(figures));
}

#[test]
fn delays_keep_their_bound_and_come_near_it() {
    come_near(&all_kept("delay"), "bound, queues that always contend", 0.5);
}

#[test]
fn lags_keep_their_bounds_and_come_near_them() {
    let figures = all_kept("lag");
    come_near(&figures, "bound of a queue that is behind", 0.9);
    come_near(&figures, "bound of a queue that is ahead", 0.9);
}

#[test]
fn hosts_get_their_thread_back() {
    come_near(&all_kept("host"), "(budget + longest poll)", 0.9);
}

#[test]
fn idling_takes_no_polls() {
    let figures = quick("idle");
    // CPU time is for the program to judge: here it is other tests' too, in what the kernel does for them.
    let polls: Vec<_> = figures.iter().filter(|figure| figure.what.contains("polls")).collect();
    let kept = !polls.is_empty() && polls.into_iter().all(Figure::is_kept);
    assert!(kept, "\n{}", figure::table(&figures));
}

#[test]
fn drivers_are_dropped_tasks_aborted_and_programs_run_as_is_promised() {
    for command in ["cuts", "aborts", "scenarios"] {
        all_kept(command);
    }
}
