//! Capped queues beside others, which have what they leave.

use clockworker::Cap;

use super::super::shares::SECOND;
use super::{cap, capped, fifth, ms, ticking, work};
use crate::support::{Spans, VirtualTime, compute, us};

#[test]
fn others_have_what_it_leaves() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(compute(&sim, us(100)));
    ex.spawn(compute(&sim, us(100)));
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(ex.stats().busy, SECOND, "never idle");
    assert_eq!(queue.stats().busy, ms(200));
}

/// The slice of another ends when the period begins: a throttled queue does not wait for the end of a long request.
#[test]
fn it_goes_on_after_the_poll_under_way() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").request(us(10)).cap(cap(us(50), ms(1))).create().unwrap();
    queue.spawn(work(&sim, &spans, vec![us(50)]));
    let long = ex.new_queue("long").request(SECOND).create().unwrap();
    long.spawn(compute(&sim, us(30)));
    sim.run(&ex, sim.sleep_until(ms(100)));
    for (period, start) in spans.starts().into_iter().enumerate() {
        let late = start - ms(period as u64);
        assert!(late < us(30), "period {period}: {late:?}");
    }
    assert_eq!(spans.starts().len(), 100);
    assert_eq!(long.stats().overruns, 0, "its slices were cut short");
}

#[test]
fn two_capped_queues_have_each_its_own() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queues = [(20, 100), (21, 70)].map(|(quota, period)| {
        let queue = capped(&ex, &format!("{quota}"), cap(ms(quota), ms(period)));
        queue.spawn(compute(&sim, us(500)));
        queue
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(700)));
    let busy = queues.each_ref().map(|queue| queue.stats().busy);
    assert_eq!(busy, [ms(140), ms(210)]);
    // And beside a third, which has the rest.
    ex.spawn(compute(&sim, us(500)));
    sim.run(&ex, ticking(&sim, ms(1), ms(1_400)));
    let more = [0, 1].map(|i| queues[i].stats().busy - busy[i]);
    assert_eq!((more, ex.default_queue().stats().busy), ([ms(140), ms(210)], ms(350)));
}

/// Caps that leave less than shares would: the shares among the rest are as they were.
#[test]
fn the_rest_is_shared_as_ever() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let capped = ex.new_queue("capped").share(1_000).cap(cap(ms(1), ms(10))).create().unwrap();
    let [one, three] = [1, 3].map(|share| ex.new_queue(&share.to_string()).share(share).create().unwrap());
    [&capped, &one, &three].into_iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(50)))));
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(capped.stats().busy, ms(100));
    let (one, three) = (one.stats().busy, three.stats().busy);
    assert_eq!(one + three, ms(900));
    assert!((one * 3).abs_diff(three) <= us(4 * 550), "{one:?} {three:?}");
}

/// What it might have had while it was throttled it does not have afterwards: a creditor keeps two turns.
#[test]
fn it_hoards_nothing_while_it_is_throttled() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").request(us(100)).cap(cap(ms(50), ms(100))).create().unwrap();
    queue.spawn(work(&sim, &spans, vec![us(100)]));
    let other = ex.new_queue("other").request(us(100)).create().unwrap();
    other.spawn(compute(&sim, us(100)));
    sim.run(&ex, sim.sleep_until(SECOND));
    // Half each, in turns, as long as it has something left: it never takes more than two turns from the other.
    for start in (0..1_000_000).step_by(1_700) {
        let got = spans.within(us(start), us(start + 2_000));
        assert!(got <= us(1_000 + 300), "{got:?} in the 2 ms from {start} µs");
    }
    assert_eq!(queue.stats().busy, ms(500));
}

#[test]
fn an_idle_queue_may_be_capped() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let [a, b] = [10, 90].map(|percent| {
        let cap = Cap::percent(percent, ms(10)).unwrap();
        ex.new_queue(&percent.to_string()).idle().cap(cap).create().unwrap()
    });
    [&a, &b].into_iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(100)))));
    let main = ex.new_queue("main").create().unwrap();
    main.spawn({
        let sim = sim.clone();
        async move {
            loop {
                sim.work(ms(3));
                sim.sleep(ms(7)).await;
            }
        }
    });
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(a.stats().busy, ms(100));
    let (main, b) = (main.stats().busy, b.stats().busy);
    assert!(main.abs_diff(ms(300)) <= ms(4) && b >= ms(590), "{main:?} {b:?}");
}
