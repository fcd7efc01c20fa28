//! Wrong calls and absurd numbers.

use clockworker_schedulers::{Eevdf, QueueId};

use super::bench::{Bench, MS, SECOND, US, YEAR, after_a_head_start, share};

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
    assert!(eevdf.is_eligible(a) && !eevdf.preempts(a, a));
    assert_eq!(eevdf.pick(), Some(a));
    let far = (0..100).map(|_| eevdf.add(share(1), 1)).last().unwrap();
    let mut other = Eevdf::new();
    other.wake(far);
    other.charge(far, 1);
    other.remove(far);
    assert_eq!((other.pick(), other.virtual_deadline(far), other.is_eligible(far)), (None, None, false));
}

#[test]
fn nothing_changes_near_the_limits() {
    let queues: [(u32, u64, &[u64]); 3] =
        [(1, MS, &[10 * US, 35 * US]), (9, 300 * US, &[20 * US]), (1_000, MS, &[15 * US])];
    let trace = |start: i128| {
        let mut bench = Bench::new(Eevdf::starting_at(start), &queues);
        let turns: Vec<(QueueId, u64)> = (0..5_000)
            .map(|_| {
                let turn = bench.slice();
                bench.check();
                turn
            })
            .collect();
        turns
    };
    let plain = trace(0);
    // Around where products are checked, where zero is moved, and at the ends of the range.
    let limits = [1i128 << 79, 1 << 80, 1 << 101, 1 << 90];
    for limit in limits {
        for offset in [-(5i128 << 60), -1, 0, 1, 5 << 60] {
            assert!(trace(limit + offset) == plain, "{limit} + {offset}");
            assert!(trace(-limit + offset) == plain, "-{limit} + {offset}");
        }
    }
}

#[test]
fn moving_zero_takes_the_sleepers_along() {
    // An hour of service at share 1 moves zero several times.
    let scenario = |slept_ns: u64| {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * YEAR);
        eevdf.sleep(ahead);
        (0..slept_ns / SECOND).for_each(|_| eevdf.charge(behind, SECOND));
        eevdf.wake(ahead);
        eevdf.lag(ahead).as_ns()
    };
    assert_eq!(scenario(0), -i128::from(YEAR));
    let hour = 3_600 * SECOND;
    assert_eq!(scenario(hour), -i128::from(YEAR - hour / 2));
}

#[test]
fn polls_of_a_year_are_charged_in_full() {
    let mut bench = Bench::new(Eevdf::new(), &[(1, YEAR, &[YEAR]), (2, YEAR, &[YEAR]), (1, MS, &[YEAR, US])]);
    bench.run(500 * YEAR);
    let total: u64 = bench.queues.iter().map(|queue| queue.service_ns).sum();
    for queue in &bench.queues {
        let due = total / 4 * u64::from(queue.claim.share);
        assert!(queue.service_ns.abs_diff(due) <= 2 * YEAR, "{:?}", queue.service_ns / YEAR);
    }
}

#[test]
fn absurd_charges_do_not_overflow() {
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> = [1, 1_000_000, 7, 1].map(|w| eevdf.add(share(w), u64::MAX)).to_vec();
    ids.iter().for_each(|&id| eevdf.wake(id));
    for round in 0..2_000 {
        // Far more than a thread can serve in the age of the universe, and not to who was picked.
        eevdf.charge(ids[0], u64::MAX);
        eevdf.charge(ids[1], u64::MAX);
        eevdf.charge(ids[3], round);
        match round % 5 {
            0 => eevdf.sleep(ids[0]),
            1 => eevdf.wake(ids[0]),
            2 => eevdf.set_share(ids[1], share(1 + round as u32)),
            3 => eevdf.sleep(ids[1]),
            _ => eevdf.wake(ids[1]),
        }
        // What it means is lost at the ends of the range; that it is consistent is not.
        let picked = eevdf.pick().unwrap();
        let deadline = |id: &QueueId| (eevdf.virtual_deadline(*id), *id);
        let first = ids.iter().filter(|&&id| eevdf.is_eligible(id)).min_by_key(|id| deadline(id));
        assert_eq!(Some(&picked), first, "round {round}");
    }
}
