//! The quick form of each program that measures a bound.

use clockworker_reliability::figure::{self, Figure};
use clockworker_reliability::{delay, lag};

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
