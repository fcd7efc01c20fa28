//! What every queue gets, to the nanosecond, how far each is ever from what it is owed, and whose turn it is.

use clockworker_schedulers::{Eevdf, QueueId};

use super::bench::{Bench, MS, SECOND, US, saturate, share};

#[test]
fn queues_get_their_shares() {
    let short: [&[u32]; 8] = [
        &[1, 1],
        &[9, 1],
        &[1, 9],
        &[1_000, 1],
        &[1, 1, 1, 1, 1],
        &[9, 1, 9, 1, 1],
        &[1_000, 1, 1_000, 1_000, 1_000],
        &[1, 2, 3, 4, 5],
    ];
    let long: [&[u32]; 2] = [&[1, 1], &[9, 1]];
    let short = short.map(|shares| (shares, 5 * US));
    for (shares, request_ns) in short.into_iter().chain(long.map(|shares| (shares, MS))) {
        let ppm = saturate(shares, request_ns);
        assert!(ppm < 10_000, "{shares:?}: {ppm} ppm");
    }
}

/// Each of the others may overrun its request by a poll before a queue of a large share is served: it may be behind by
/// more than the largest request and the longest poll.
#[test]
fn a_queue_waits_for_one_overrun_of_each_of_the_others() {
    let small: (u32, u64, &[u64]) = (1, US, &[MS]);
    let mut bench = Bench::new(Eevdf::new(), &[small, small, small, small, (996, MS, &[10 * US])]);
    let big = bench.queues[4].id;
    for id in 0..4 {
        assert_eq!(bench.slice().0.index(), id);
        bench.check();
    }
    // It was owed 996 of 1,000 parts of 4 ms.
    assert_eq!(bench.eevdf.lag(big).as_ns(), i128::from(3_984 * US));
    assert_eq!(bench.slice().0, big);
}

#[test]
fn shares_hold_at_the_extremes() {
    let mut bench = Bench::new(Eevdf::new(), &[(1_000_000, MS, &[10 * US]), (1, MS, &[10 * US])]);
    // 1,000 turns of the lesser.
    bench.run(20 * SECOND);
    assert!(bench.queues[1].service_ns.abs_diff(20 * US) <= MS, "{}", bench.queues[1].service_ns);
}

#[test]
fn the_order_of_the_first_turns_is_exact() {
    let mut bench = Bench::new(Eevdf::new(), &[(3, 3 * US, &[US]), (1, 3 * US, &[US]), (1, 2 * US, &[US])]);
    let turns: Vec<(usize, u64)> = (0..8)
        .map(|_| {
            let (id, spent) = bench.slice();
            (id.index(), spent / US)
        })
        .collect();
    // v          V     eligible: deadlines   picked
    // 0, 0, 0    0     0: 1, 1: 3, 2: 2      0
    // 1, 0, 0    3/5   1: 3, 2: 2            2
    // 1, 0, 2    1     0: 2, 1: 3            0
    // 2, 0, 2    8/5   1: 3                  1
    // 2, 3, 2    11/5  0: 3, 2: 4            0
    // 3, 3, 2    14/5  2: 4                  2
    // 3, 3, 4    16/5  0: 4, 1: 6            0
    // 4, 3, 4    19/5  1: 6                  1
    assert_eq!(turns, [(0, 3), (2, 2), (0, 3), (1, 3), (0, 3), (2, 2), (0, 3), (1, 3)]);
}

#[test]
fn ties_go_to_the_lower_id() {
    let mut eevdf = Eevdf::new();
    let ids = [0; 4].map(|_| eevdf.add(share(2), MS));
    ids.iter().rev().for_each(|&id| eevdf.wake(id));
    for id in ids {
        assert_eq!(eevdf.pick(), Some(id));
        assert_eq!(eevdf.pick(), Some(id), "asking changes nothing");
        eevdf.charge(id, MS);
    }
}

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

#[test]
fn a_hastened_queue_comes_next_and_asks_for_as_much_as_before_from_then_on() {
    let mut eevdf = Eevdf::new();
    let (id, other) = (eevdf.add(share(1), 100 * MS), eevdf.add(share(1), MS));
    eevdf.wake(id);
    eevdf.wake(other);
    assert_eq!(eevdf.pick(), Some(other));
    eevdf.hasten(id);
    assert_eq!((eevdf.left_ns(id), eevdf.request_ns(id)), (1, 100 * MS));
    assert_eq!(eevdf.pick(), Some(id), "its deadline came nearer");
    eevdf.charge(id, 1);
    assert_eq!(eevdf.left_ns(id), 100 * MS);
    // In debt it is not eligible, however near its deadline is.
    eevdf.charge(id, MS);
    eevdf.hasten(id);
    assert_eq!(eevdf.pick(), Some(other));
}

#[test]
fn a_thousand_queues_get_their_shares() {
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> = (0..1_000).map(|n| eevdf.add(share(1 + n % 4), 10 * US)).collect();
    ids.iter().for_each(|&id| eevdf.wake(id));
    let mut service = vec![0; 1_000];
    for _ in 0..250_000 {
        let id = eevdf.pick().unwrap();
        eevdf.charge(id, 10 * US);
        service[id.index()] += 10 * US;
    }
    // 2.5 s over 2,500 shares: 1 ms per share, to within a request.
    for (n, &service) in service.iter().enumerate() {
        let due = (1 + n as u64 % 4) * MS;
        assert!(service.abs_diff(due) <= 10 * US, "queue {n}: {service} of {due}");
    }
}

/// Waves of queues that come and go, so that what holds the runnable ones grows, has gaps, and is closed up.
#[test]
fn the_pick_is_the_earliest_deadline_whoever_comes_and_goes() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> =
        (0..300).map(|n| eevdf.add(share(1 + n % 5), US * (1 + u64::from(n) % 7))).collect();
    let mut sizes = Vec::new();
    for round in 0..12_000 {
        let id = ids[random.usize(..300)];
        // Many rounds in which mostly queues wake, then as many in which they fall asleep, to the last.
        match (random.u32(..8), round / 2_000 % 2) {
            (0..6, 0) => eevdf.wake(id),
            (0..7, _) => eevdf.sleep(id),
            _ => {}
        }
        let eligible = ids.iter().filter(|&&id| eevdf.is_eligible(id));
        let first = eligible.min_by_key(|&&id| (eevdf.virtual_deadline(id), id)).copied();
        let picked = eevdf.pick();
        assert_eq!(picked, first, "round {round}, {eevdf:?}");
        assert_eq!(eevdf.runnable(), ids.iter().filter(|&&id| eevdf.is_runnable(id)).count());
        picked.into_iter().for_each(|id| eevdf.charge(id, random.u64(..9 * US)));
        sizes.push(eevdf.runnable());
    }
    let (least, most) = (sizes[500..].iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(*least < 4 && *most > 200, "from {least} to {most}: or else this tests little");
}

#[test]
fn it_starts_where_it_is_told_to_and_shows_what_it_is() {
    for raw in [0, 1, -1, 1 << 80] {
        assert_eq!(Eevdf::starting_at(raw).virtual_time().raw(), raw);
    }
    let mut eevdf = Eevdf::starting_at(5);
    let (gone, id) = (eevdf.add(share(1), 1_000), eevdf.add(share(3), 1_000));
    eevdf.remove(gone);
    eevdf.wake(id);
    assert_eq!(format!("{id:?}"), "queue 1");
    assert_eq!(format!("{eevdf:?}"), "Eevdf { queues: 1, runnable: 1, shares: 3, virtual_time: 5, .. }");
}
