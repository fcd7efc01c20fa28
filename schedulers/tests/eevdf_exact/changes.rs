//! Changes of shares, queues that come and go, and wrong calls.

use crate::bench::Bench;
use crate::sleep::after_a_head_start;
use crate::{MS, US, share};
use clockworker_schedulers::Eevdf;

#[test]
fn a_change_of_share_keeps_lag_and_what_is_left() {
    for (from, to) in [(1, 9), (9, 1), (1_000, 3), (3, 1_000_000)] {
        let (mut eevdf, ahead, behind) = after_a_head_start([from, 5], 400 * US);
        let before = eevdf.lag(ahead);
        let left = eevdf.left_ns(ahead);
        eevdf.set_share(ahead, share(to));
        let after = eevdf.lag(ahead);
        // Two roundings, each of less than a unit of virtual time per share.
        let units = 4 * i128::from(from + to + 5);
        assert!((before.raw() - after.raw()).abs() <= units, "{from} → {to}: {before:?} {after:?}");
        assert!((after.raw() + eevdf.lag(behind).raw()).abs() <= units, "Σ lag = 0");
        assert_eq!((eevdf.left_ns(ahead), eevdf.share(ahead)), (left, Some(share(to))));
        let (v, deadline) = (eevdf.virtual_runtime(ahead).unwrap(), eevdf.virtual_deadline(ahead).unwrap());
        let inverse = (1u64 << 40) / u64::from(to);
        assert_eq!(deadline.raw() - v.raw(), i128::from(left) * i128::from(inverse));
    }
}

#[test]
fn a_change_of_share_in_sleep_keeps_lag() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 1], MS);
    eevdf.sleep(behind);
    eevdf.set_share(behind, share(10));
    assert_eq!(eevdf.lag(behind).as_ns(), 500 * US as i128);
    eevdf.wake(behind);
    // One nanosecond for rounding: 2⁴⁰ is no multiple of 10.
    assert!((eevdf.lag(behind).as_ns() - 500 * US as i128).abs() <= 1);
    // A debt too, also if the share rises: what it has had it has had.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * MS);
    eevdf.sleep(ahead);
    eevdf.set_share(ahead, share(10));
    assert!((eevdf.lag(ahead).as_ns() + MS as i128).abs() <= 1);
    eevdf.wake(ahead);
    assert_eq!(eevdf.pick(), Some(behind));
}

#[test]
fn joining_leaving_and_sharing_anew_keep_the_bounds() {
    let mut bench = Bench::new(
        Eevdf::new(),
        &[(3, MS, &[10 * US, 70 * US]), (1, 200 * US, &[30 * US]), (2, MS, &[50 * US])],
    );
    bench.run(50 * MS);
    let newcomer = bench.add(5, 500 * US, &[20 * US, 5 * US]);
    assert_eq!(bench.eevdf.lag(newcomer).as_ns(), 0, "owed nothing");
    bench.run(50 * MS);
    for round in 0..200 {
        let changed = round % 4;
        let id = bench.queues[changed].id;
        match round % 3 {
            0 => {
                bench.eevdf.sleep(id);
                bench
                    .queues
                    .iter()
                    .for_each(|queue| assert!(queue.id == id || bench.eevdf.is_runnable(queue.id)));
                let other = bench.eevdf.pick().unwrap();
                assert_ne!(other, id);
                bench.eevdf.charge(other, 30 * US);
                bench.eevdf.wake(id);
            }
            _ => {
                let new_share = 1 + (round as u32 * 7) % 11;
                bench.eevdf.set_share(id, share(new_share));
                bench.queues[changed].share = new_share;
            }
        }
        bench.check_while_queues_come_and_go();
        bench.run_and(2 * MS, Bench::check_while_queues_come_and_go);
    }
}

#[test]
fn removing_a_queue_leaves_the_others_at_zero_and_frees_the_id() {
    let mut bench =
        Bench::new(Eevdf::new(), &[(3, MS, &[10 * US]), (1, MS, &[30 * US]), (2, MS, &[50 * US])]);
    bench.run(10 * MS);
    let gone = bench.queues.remove(1).id;
    bench.eevdf.remove(gone);
    bench.check();
    assert_eq!((bench.eevdf.share(gone), bench.eevdf.left_ns(gone), bench.eevdf.runnable()), (None, 0, 2));
    let next = bench.eevdf.add(share(7), MS);
    assert_eq!(next, gone, "the index is used again");
    assert_eq!(bench.eevdf.lag(next).raw(), 0);
    assert!(!bench.eevdf.is_runnable(next));
}

#[test]
fn wrong_calls_are_ignored() {
    let mut eevdf = Eevdf::new();
    let (a, b) = (eevdf.add(share(1), 0), eevdf.add(share(1), u64::MAX));
    assert_eq!((eevdf.request_ns(a), eevdf.request_ns(b)), (1, 1 << 60));
    eevdf.remove(b);
    eevdf.remove(b);
    for id in [b, Eevdf::new().add(share(1), 1), a] {
        eevdf.sleep(id); // b is unknown, a sleeps
    }
    eevdf.wake(b);
    eevdf.charge(b, 5);
    eevdf.set_share(b, share(3));
    eevdf.set_request(b, 3);
    assert_eq!((eevdf.pick(), eevdf.runnable(), eevdf.request_ns(b)), (None, 0, 0));
    eevdf.wake(a);
    eevdf.charge(a, 5);
    let lag_and_v = (eevdf.lag(a), eevdf.virtual_runtime(a));
    eevdf.wake(a);
    assert_eq!((eevdf.lag(a), eevdf.virtual_runtime(a)), lag_and_v, "it is awake");
    assert!(!eevdf.preempts(a, b) && !eevdf.preempts(b, a));
    assert_eq!(eevdf.pick(), Some(a));
    let far = (0..100).map(|_| eevdf.add(share(1), 1)).last().unwrap();
    let mut other = Eevdf::new();
    other.wake(far);
    other.charge(far, 1);
    other.remove(far);
    assert_eq!((other.pick(), other.virtual_deadline(far), other.is_eligible(far)), (None, None, false));
}
