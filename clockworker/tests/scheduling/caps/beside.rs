//! Capped queues beside others, which have what they leave.

use super::super::shares::SECOND;
use super::{cap, ms, run_until};
use crate::support::*;

#[test]
fn others_have_what_it_leaves() {
    let ex = scene(
        "a cap=20/100
        a -: 100*
        default -: 100*",
    );
    run(&ex, sleep_until(SECOND));
    assert_eq!(ex.stats().busy, SECOND, "never idle");
    assert_eq!(busy(&ex, "a"), ms(200));
}

/// The slice of another ends when the period begins: a throttled queue does not wait for the end of a long request.
#[test]
fn it_goes_on_after_the_poll_under_way() {
    let ex = world();
    let queue = ex.new_queue("a").request(us(10)).cap(cap(us(50), ms(1))).create().unwrap();
    queue.spawn(polls("a", usize::MAX, us(50)));
    let long = ex.new_queue("long").request(SECOND).create().unwrap();
    long.spawn(compute(us(30)));
    run(&ex, sleep_until(ms(100)));
    for (period, start) in starts("a").into_iter().enumerate() {
        let late = start - ms(period as u64);
        assert!(late < us(30), "period {period}: {late:?}");
    }
    assert_eq!(starts("a").len(), 100);
    assert_eq!(long.stats().overruns, 0, "its slices were cut short");
}

#[test]
fn two_capped_queues_have_each_its_own() {
    let ex = scene(
        "a cap=20/100
        b cap=21/70
        a -: 500*
        b -: 500*",
    );
    run_until(&ex, ms(700));
    let got = ["a", "b"].map(|name| busy(&ex, name));
    assert_eq!(got, [140, 210].map(ms));
    // And beside a third, which has the rest.
    ex.spawn(compute(us(500)));
    run_until(&ex, ms(1_400));
    assert_eq!(["a", "b", "default"].map(|name| busy(&ex, name)), [280, 420, 350].map(ms));
}

/// Caps that leave less than shares would: the shares among the rest are as they were.
#[test]
fn the_rest_is_shared_as_ever() {
    let ex = scene(
        "capped share=1000 cap=1/10
        one
        three share=3
        capped -: 50*
        one -: 50*
        three -: 50*",
    );
    run(&ex, sleep_until(SECOND));
    let [capped, one, three] = ["capped", "one", "three"].map(|name| busy(&ex, name));
    assert_eq!((capped, one + three), (ms(100), ms(900)));
    assert!((one * 3).abs_diff(three) <= us(4 * 550), "{one:?} {three:?}");
}

/// What it might have had while it was throttled it does not have afterwards: a creditor keeps two turns.
#[test]
fn it_hoards_nothing_while_it_is_throttled() {
    let ex = scene(
        "a request=100 cap=50/100
        other request=100
        a a: 100*
        other -: 100*",
    );
    run(&ex, sleep_until(SECOND));
    // Half each, in turns, as long as it has something left: it never takes more than two turns from the other.
    for start in (0..1_000_000).step_by(1_700) {
        let got = within("a", us(start), us(start + 2_000));
        assert!(got <= us(1_000 + 300), "{got:?} in the 2 ms from {start} µs");
    }
    assert_eq!(busy(&ex, "a"), ms(500));
}

#[test]
fn an_idle_queue_may_be_capped() {
    let ex = scene(
        "a idle cap=1/10
        b idle cap=9/10
        main
        a -: 100*
        b -: 100*",
    );
    queue(&ex, "main").spawn(async {
        loop {
            work(ms(3));
            sleep(ms(7)).await;
        }
    });
    run(&ex, sleep_until(SECOND));
    let [a, b, main] = ["a", "b", "main"].map(|name| busy(&ex, name));
    assert_eq!(a, ms(100));
    assert!(main.abs_diff(ms(300)) <= ms(4) && b >= ms(590), "{main:?} {b:?}");
}
