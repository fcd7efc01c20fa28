//! What only the inside shows: numbers near their limits, and seats.

use super::order::SPARSE;
use super::*;

fn share(share: u32) -> Share {
    Share::new(share).unwrap()
}

#[test]
fn a_product_beyond_i128_decides_by_its_sign() {
    let mut eevdf = Eevdf::new();
    let far = eevdf.add(share(1), 1);
    let others: Vec<QueueId> = (0..200).map(|_| eevdf.add(Share::MAX, 1)).collect();
    eevdf.wake(far);
    others.iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(far, u64::MAX);
    let v = eevdf.entries[far.index()].v;
    assert!(v.checked_mul(i128::from(eevdf.clock.shares())).is_none(), "or else this tests nothing");
    assert!(!eevdf.is_eligible(far));
    assert!(others.iter().all(|&id| eevdf.is_eligible(id)));
    assert_eq!(eevdf.pick(), Some(others[0]));
}

#[test]
fn a_negative_product_beyond_i128_decides_by_its_sign_too() {
    let mut eevdf = Eevdf::new();
    let (far, other) = (eevdf.add(share(1), u64::MAX), eevdf.add(share(1), 1));
    let others: Vec<QueueId> = (0..200).map(|_| eevdf.add(Share::MAX, 1)).collect();
    eevdf.wake(far);
    eevdf.wake(other);
    (0..8).for_each(|_| eevdf.charge(other, u64::MAX));
    eevdf.sleep(far);
    others.iter().for_each(|&id| eevdf.wake(id));
    eevdf.remove(other);
    eevdf.wake(far);
    let v = eevdf.entries[far.index()].v;
    assert!(v.checked_mul(i128::from(eevdf.clock.shares())).is_none(), "or else this tests nothing");
    assert!(eevdf.is_eligible(far));
}

#[test]
fn seats_are_compacted_where_more_than_three_in_four_have_left_and_not_before() {
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> = (0..100).map(|_| eevdf.add(share(1), 1)).collect();
    ids.iter().for_each(|&id| eevdf.wake(id));
    ids[25..].iter().for_each(|&id| eevdf.sleep(id));
    assert_eq!((eevdf.runnable(), eevdf.order.seats()), (25, 100));
    eevdf.sleep(ids[0]);
    assert_eq!((eevdf.runnable(), eevdf.order.seats()), (24, 24));
    ids[2..].iter().for_each(|&id| eevdf.sleep(id));
    assert_eq!(eevdf.runnable(), 1);
    assert!(eevdf.order.seats() <= SPARSE * SPARSE, "few seats are always enough");
    assert_eq!(eevdf.pick(), Some(ids[1]));
}

#[test]
fn a_small_queue_that_runs_away_from_large_ones_stays_in_reach() {
    let mut eevdf = Eevdf::new();
    let far = eevdf.add(share(1), 1);
    let others: Vec<QueueId> = (0..20).map(|_| eevdf.add(Share::MAX, 1)).collect();
    eevdf.wake(far);
    others.iter().for_each(|&id| eevdf.wake(id));
    for _ in 0..8 {
        eevdf.charge(far, u64::MAX);
        assert!(eevdf.clock.now() < NEAR / 2, "or else zero is moved for another reason");
        assert!(eevdf.entries[far.index()].v <= REACH);
    }
}

#[test]
fn no_sequence_of_charges_leaves_the_reach() {
    for w in [1, 7, 1_000_000] {
        let mut eevdf = Eevdf::new();
        let ids = [w, 3, 1].map(|w| eevdf.add(share(w), 1));
        ids.iter().for_each(|&id| eevdf.wake(id));
        for _ in 0..50 {
            eevdf.charge(ids[0], u64::MAX);
            let entry = &eevdf.entries[ids[0].index()];
            assert!(entry.v * entry.w() <= REACH);
            let sum: i128 = eevdf.entries.iter().map(|entry| entry.v * entry.w()).sum();
            assert_eq!(eevdf.clock.sum(), sum);
            assert_ne!(eevdf.pick(), Some(ids[0]));
        }
    }
}

#[test]
fn zero_is_moved_where_a_queue_that_is_alone_wakes_far_from_it() {
    let mut eevdf = Eevdf::starting_at(NEAR / 2 - 1);
    let (alone, other) = (eevdf.add(share(1), 1), eevdf.add(share(1), 1));
    eevdf.wake(alone);
    eevdf.charge(alone, 1);
    eevdf.sleep(alone);
    assert!(!is_near_zero(eevdf.clock.now()), "or else this tests nothing");
    eevdf.wake(alone);
    assert_eq!(eevdf.clock.now(), 0);
    // The same by a call that wakes no queue.
    let mut eevdf = Eevdf::starting_at(NEAR / 2 - 1);
    eevdf.add(share(1), 1);
    eevdf.add(share(1), 1);
    eevdf.wake(alone);
    eevdf.charge(alone, 1);
    eevdf.remove(other);
    eevdf.sleep(alone);
    eevdf.add(share(1), 1);
    // The one that sleeps still counts, at the new zero.
    assert_eq!((eevdf.clock.now(), eevdf.clock.sum(), eevdf.clock.shares()), (0, 0, 1));
}
