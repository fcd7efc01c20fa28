//! Requests and deadlines.

use crate::bench::Bench;
use crate::{MS, SECOND, US, share};
use clockworker_schedulers::Eevdf;

#[test]
fn a_small_request_is_served_first_at_the_same_share() {
    let mut bench = Bench::new(Eevdf::new(), &[(1, 4 * MS, &[10 * US]), (1, 100 * US, &[10 * US])]);
    let (bulk, quick) = (bench.queues[0].id, bench.queues[1].id);
    assert_eq!(bench.slice(), (quick, 100 * US));
    bench.run(SECOND);
    assert!(bench.worst_ppm() < 10_000);
    // The quick one is behind by at most a little when it wakes, and goes before the bulk.
    bench.eevdf.sleep(quick);
    assert_eq!(bench.eevdf.pick(), Some(bulk));
    bench.eevdf.charge(bulk, 10 * MS);
    bench.eevdf.wake(quick);
    assert_eq!(bench.eevdf.pick(), Some(quick));
    assert!(bench.eevdf.preempts(quick, bulk));
    assert!(!bench.eevdf.preempts(bulk, quick));
}

#[test]
fn a_deadline_is_renewed_only_when_the_request_is_served() {
    let mut eevdf = Eevdf::new();
    let id = eevdf.add(share(4), 100);
    eevdf.wake(id);
    let start = eevdf.virtual_runtime(id).unwrap();
    let first = eevdf.virtual_deadline(id).unwrap();
    assert_eq!(first.raw() - start.raw(), 25 << 40, "100 ns at share 4");
    for (charged, left) in [(40, 60), (0, 60), (59, 1)] {
        eevdf.charge(id, charged);
        assert_eq!((eevdf.left_ns(id), eevdf.virtual_deadline(id)), (left, Some(first)));
    }
    eevdf.charge(id, 21); // 20 more than was left
    let v = eevdf.virtual_runtime(id).unwrap();
    assert_eq!(v.raw() - start.raw(), 30 << 40);
    assert_eq!(eevdf.left_ns(id), 100);
    assert_eq!(eevdf.virtual_deadline(id).unwrap().raw() - v.raw(), 25 << 40);
}

#[test]
fn a_longer_request_counts_from_the_next_one() {
    let mut eevdf = Eevdf::new();
    let id = eevdf.add(share(1), 100);
    eevdf.wake(id);
    let deadline = eevdf.virtual_deadline(id);
    eevdf.set_request(id, 1_000);
    assert_eq!((eevdf.left_ns(id), eevdf.request_ns(id)), (100, 1_000));
    assert_eq!(eevdf.virtual_deadline(id), deadline, "it is not put off");
    eevdf.charge(id, 100);
    assert_eq!(eevdf.left_ns(id), 1_000);
}

#[test]
fn a_shorter_request_counts_at_once() {
    let mut eevdf = Eevdf::new();
    let (id, other) = (eevdf.add(share(1), 100 * MS), eevdf.add(share(1), MS));
    eevdf.wake(id);
    eevdf.wake(other);
    eevdf.charge(id, 10 * US);
    eevdf.charge(other, 10 * US);
    assert_eq!(eevdf.pick(), Some(other));
    eevdf.set_request(id, US);
    assert_eq!((eevdf.left_ns(id), eevdf.request_ns(id)), (US, US));
    let (v, deadline) = (eevdf.virtual_runtime(id).unwrap(), eevdf.virtual_deadline(id).unwrap());
    assert_eq!(deadline.raw() - v.raw(), i128::from(US) << 40);
    assert_eq!(eevdf.pick(), Some(id), "its deadline came nearer");
    // What is left of a request that has been served for the most part is not made longer.
    eevdf.set_request(id, 100 * US);
    eevdf.charge(id, US - 1);
    eevdf.set_request(id, 10 * US);
    assert_eq!(eevdf.left_ns(id), 1);
}
