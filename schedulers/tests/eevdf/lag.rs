//! What is owed and owing: across sleep, changes of shares, and queues that come and go.

use clockworker_schedulers::{Eevdf, QueueId};

use super::bench::{MS, SECOND, US, after_a_head_start, share};

#[test]
fn sleeping_for_a_moment_forgives_nothing() {
    for shares in [[1, 1], [9, 1], [1_000, 1], [1, 1_000]] {
        let (mut eevdf, ahead, behind) = after_a_head_start(shares, MS);
        let before = (eevdf.lag(ahead), eevdf.lag(behind));
        for _ in 0..100 {
            eevdf.sleep(ahead);
            eevdf.wake(ahead);
        }
        let after = (eevdf.lag(ahead), eevdf.lag(behind));
        // Each time rounds by less than a unit of virtual time: 100 × 1000 units of 2⁻⁴⁰ ns are less than a ps.
        assert!(before.0.raw().abs_diff(after.0.raw()) < 100_000, "{shares:?}: {before:?} {after:?}");
        assert!(before.1.raw().abs_diff(after.1.raw()) < 200_000, "{shares:?}: {before:?} {after:?}");
    }
}

/// The classic way to cheat: sleep just before the turn is over, and come back as if new.
#[test]
fn a_micro_sleeper_gains_nothing() {
    for shares in [[1, 1], [9, 1], [1_000, 1]] {
        let mut eevdf = Eevdf::new();
        let ids = shares.map(|w| eevdf.add(share(w), 100 * US));
        ids.iter().for_each(|&id| eevdf.wake(id));
        let mut service = [0; 2];
        while service[0] + service[1] < 2 * SECOND {
            let id = eevdf.pick().unwrap();
            eevdf.charge(id, 10 * US);
            service[id.index()] += 10 * US;
            // The cheat sleeps after each poll, through one short poll of the other.
            if id == ids[0] {
                eevdf.sleep(id);
                eevdf.charge(ids[1], US);
                service[1] += US;
                eevdf.wake(id);
            }
        }
        let fair = (service[0] + service[1]) / u64::from(shares[0] + shares[1]) * u64::from(shares[0]);
        // 1 % is far less than what it would gain from a free restart, and far more than it may.
        assert!(service[0] <= fair + fair / 100, "{shares:?}: {service:?}, fair {fair}");
    }
}

#[test]
fn what_is_owed_survives_a_sleep() {
    for head_start in [MS, 4 * MS, 40 * MS] {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], head_start);
        let before = eevdf.virtual_runtime(behind);
        eevdf.sleep(behind);
        assert_eq!(eevdf.lag(behind).as_ns(), i128::from(head_start / 2), "kept");
        let mut later = eevdf.clone();
        later.charge(ahead, 10 * SECOND);
        later.wake(behind);
        assert_eq!(later.lag(behind).as_ns(), i128::from(head_start / 2), "it does not grow");
        eevdf.wake(behind);
        assert_eq!(eevdf.virtual_runtime(behind), before, "it is where it was");
        let mut served = 0;
        while eevdf.pick() == Some(behind) {
            eevdf.charge(behind, 100 * US);
            served += 100 * US;
        }
        assert!(served.abs_diff(head_start) <= 100 * US, "{served} of {head_start}");
        assert!(eevdf.is_eligible(ahead));
    }
}

/// Also if others come meanwhile: they are placed at V, which did not move when the queue fell asleep.
#[test]
fn a_credit_is_of_service_and_not_of_virtual_time() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 9], MS);
    let (before, now) = (eevdf.virtual_runtime(behind), eevdf.virtual_time());
    assert_eq!(eevdf.lag(behind).as_ns(), 900 * US as i128);
    eevdf.sleep(behind);
    let newcomer = eevdf.add(share(8), MS);
    eevdf.wake(newcomer);
    assert_eq!(eevdf.virtual_runtime(newcomer), Some(now));
    eevdf.wake(behind);
    assert_eq!((eevdf.virtual_runtime(behind), eevdf.virtual_time()), (before, now));
    // At ten times the share it is a tenth as far from V.
    eevdf.sleep(behind);
    eevdf.set_share(behind, share(90));
    eevdf.wake(behind);
    let distance = now.raw() - eevdf.virtual_runtime(behind).unwrap().raw();
    assert!((distance - (i128::from(10 * US) << 40)).abs() < 100, "{distance}");
}

#[test]
fn credits_are_at_most_two_turns_together() {
    let mut eevdf = Eevdf::new();
    let ids = [0; 9].map(|_| eevdf.add(share(1), MS));
    ids.iter().for_each(|&id| eevdf.wake(id));
    (0..9).for_each(|_| eevdf.charge(ids[0], MS));
    let owed: Vec<i128> = ids[1..].iter().map(|&id| eevdf.lag(id).as_ns()).collect();
    assert_eq!(owed, [MS as i128; 8]);
    ids[1..8].iter().for_each(|&id| eevdf.sleep(id));
    let kept: Vec<i128> = ids[1..8].iter().map(|&id| eevdf.lag(id).as_ns()).collect();
    assert_eq!(kept, [MS as i128, MS as i128, 0, 0, 0, 0, 0]);
    // One that has come back has room for another.
    eevdf.wake(ids[1]);
    eevdf.sleep(ids[8]);
    assert_eq!(eevdf.lag(ids[8]).as_ns(), MS as i128);
}

#[test]
fn a_credit_is_at_most_two_turns() {
    // Turns of 1 ms; what it is owed is 10 ms.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    (0..9).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
    // A turn of 4 ms, of whomever.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 4 * MS);
    (0..6).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 5 * MS as i128, "all that it is owed");
    // The request is the greater.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS / 10);
    (0..100).for_each(|_| eevdf.charge(ahead, MS / 10));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
    // A turn of another busy period does not count, nor does one that nobody waited for.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 40 * MS);
    eevdf.sleep(behind);
    eevdf.charge(ahead, 80 * MS);
    eevdf.sleep(ahead);
    eevdf.wake(ahead);
    eevdf.wake(behind);
    (0..10).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
}

/// Requests of 1 µs beside polls of 1 ms: the queue that naps after each of its polls gets its half all the same.
#[test]
fn a_queue_that_naps_beside_polls_longer_than_its_request_gets_its_share() {
    let mut eevdf = Eevdf::new();
    let [napper, hog] = [0; 2].map(|_| eevdf.add(share(1), US));
    eevdf.wake(napper);
    eevdf.wake(hog);
    let mut service = [0; 2];
    for _ in 0..20_000 {
        let id = eevdf.pick().unwrap();
        let poll = if id == napper { 100 * US } else { MS };
        eevdf.charge(id, poll);
        service[id.index()] += poll;
        if id == napper {
            eevdf.sleep(napper);
            eevdf.wake(napper);
        }
    }
    assert!(service[0].abs_diff(service[1]) <= 2 * MS, "{service:?}");
}

#[test]
fn what_is_owing_is_worked_off_exactly_while_others_are_served() {
    // Queue 0 is 8 ms ahead in virtual time; at share 1, queue 1 needs 8 ms of service to draw level.
    for (served, lag) in [(0, -4 * MS as i128), (4 * MS, -2 * MS as i128), (8 * MS, 0), (80 * MS, 0)] {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
        eevdf.sleep(ahead);
        eevdf.charge(behind, served);
        eevdf.wake(ahead);
        assert_eq!(eevdf.lag(ahead).as_ns(), lag, "after {served} ns");
        assert_eq!(eevdf.lag(behind).as_ns(), -lag, "after {served} ns");
    }
}

#[test]
fn a_large_share_is_not_forgiven_sooner() {
    // Queue 0 has had 10 ms at share 1000, and so is 10 µs ahead in virtual time: 10 µs of service at share 1.
    let (mut eevdf, ahead, behind) = after_a_head_start([1_000, 1], 10 * MS);
    eevdf.sleep(ahead);
    eevdf.charge(behind, 5 * US);
    eevdf.wake(ahead);
    assert!(!eevdf.is_eligible(ahead));
    assert_eq!(eevdf.pick(), Some(behind));
    eevdf.charge(behind, 5 * US);
    assert!(eevdf.is_eligible(ahead));
}

#[test]
fn an_idle_cpu_forgives_everything() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
    eevdf.sleep(behind);
    eevdf.sleep(ahead);
    assert_eq!(eevdf.pick(), None);
    assert_eq!((eevdf.lag(ahead).raw(), eevdf.lag(behind).raw()), (0, 0));
    eevdf.wake(ahead);
    eevdf.wake(behind);
    assert_eq!((eevdf.lag(ahead).raw(), eevdf.lag(behind).raw()), (0, 0));
    assert_eq!(eevdf.virtual_runtime(ahead), eevdf.virtual_runtime(behind));
}

/// Both have had 100 ms; whoever wakes first has no advantage over the other.
#[test]
fn debts_of_a_time_before_the_cpu_was_idle_are_forgotten() {
    let (mut eevdf, a, b) = after_a_head_start([1, 1], MS);
    eevdf.sleep(a);
    eevdf.charge(b, 100 * MS);
    eevdf.sleep(b);
    eevdf.wake(a);
    eevdf.charge(a, 100 * MS);
    eevdf.sleep(a);
    eevdf.wake(a);
    eevdf.wake(b);
    assert_eq!(eevdf.virtual_runtime(a), eevdf.virtual_runtime(b));
}

/// Whoever stays awake does not see the distances between the others change by their sleep.
#[test]
fn a_debtor_is_placed_exactly_where_it_was() {
    let mut eevdf = Eevdf::new();
    let [a, b, c] = [0; 3].map(|_| eevdf.add(share(1), MS));
    [a, b, c].iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(a, 100 * MS);
    eevdf.charge(b, 100 * MS);
    let v = |eevdf: &Eevdf, id| eevdf.virtual_runtime(id).unwrap().raw();
    let before = [a, b].map(|id| v(&eevdf, id) - v(&eevdf, c));
    assert_eq!(before[0], i128::from(100 * MS) << 40);
    for (first, second) in [(a, b), (b, a)] {
        eevdf.sleep(first);
        eevdf.sleep(second);
        eevdf.wake(a);
        eevdf.wake(b);
        assert_eq!([a, b].map(|id| v(&eevdf, id) - v(&eevdf, c)), before);
    }
}

/// Joiners with credit and debtors that leave move the mean, but never V.
#[test]
fn virtual_time_never_falls() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
    let mut last = eevdf.virtual_time();
    let steps: [fn(&mut Eevdf, QueueId, QueueId); 7] = [
        |eevdf, ahead, _| eevdf.sleep(ahead),
        |eevdf, ahead, _| eevdf.wake(ahead),
        |eevdf, _, behind| eevdf.sleep(behind),
        |eevdf, _, behind| eevdf.wake(behind),
        |eevdf, ahead, _| eevdf.set_share(ahead, share(1_000)),
        |eevdf, _, behind| eevdf.set_share(behind, share(1_000)),
        |eevdf, ahead, _| eevdf.remove(ahead),
    ];
    for step in steps {
        step(&mut eevdf, ahead, behind);
        assert!(eevdf.virtual_time() >= last);
        last = eevdf.virtual_time();
    }
}

/// Each queue overruns its request of 10 µs by a poll of 1 ms, is removed, and another is added.
#[test]
fn to_remove_a_queue_and_add_it_again_is_no_way_out_of_a_debt() {
    let mut eevdf = Eevdf::new();
    let victim = eevdf.add(share(1), 500 * US);
    eevdf.wake(victim);
    let (mut all, mut victims) = (0, 0);
    for _ in 0..1_000 {
        let fresh = eevdf.add(share(1), 10 * US);
        eevdf.wake(fresh);
        loop {
            let id = eevdf.pick().unwrap();
            let poll = if id == fresh { MS } else { 20 * US };
            eevdf.charge(id, poll);
            all += poll;
            victims += if id == victim { poll } else { 0 };
            if id == fresh {
                break;
            }
        }
        eevdf.remove(fresh);
    }
    assert!(victims >= all / 2 - 2 * MS, "{victims} of {all}");
}

/// The debt is the place's in service: at ten times the share it is a tenth as far in virtual time.
#[test]
fn a_successor_owes_what_was_owed() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * MS);
    eevdf.remove(ahead);
    let successor = eevdf.add(share(10), MS);
    assert_eq!(successor.index(), ahead.index());
    assert_eq!(eevdf.share(ahead), None, "the id of a removed queue names none");
    assert!((eevdf.lag(successor).as_ns() + i128::from(MS)).abs() <= 1);
    eevdf.wake(successor);
    assert_eq!(eevdf.pick(), Some(behind));
    // Once V has passed the place, there is no debt left. What the place was owed is nobody's.
    eevdf.charge(behind, 20 * MS);
    eevdf.remove(successor);
    let next = eevdf.add(share(1), MS);
    assert_eq!(eevdf.lag(next).raw(), 0);
}

#[test]
fn waking_begins_a_new_request() {
    let (mut eevdf, ahead, _) = after_a_head_start([1, 1], 400 * US);
    assert_eq!(eevdf.left_ns(ahead), 600 * US);
    eevdf.sleep(ahead);
    eevdf.wake(ahead);
    assert_eq!(eevdf.left_ns(ahead), MS);
    let (v, deadline) = (eevdf.virtual_runtime(ahead).unwrap(), eevdf.virtual_deadline(ahead).unwrap());
    assert_eq!(deadline.raw() - v.raw(), i128::from(MS) << 40);
}

#[test]
fn service_charged_in_sleep_counts() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 1], MS);
    eevdf.sleep(behind);
    eevdf.charge(behind, 200 * US);
    assert_eq!(eevdf.lag(behind).as_ns(), 300 * US as i128);
    eevdf.charge(behind, MS);
    // Its credit is used up, so that V is where the other is.
    assert_eq!(eevdf.lag(behind).as_ns(), -400 * US as i128);
    eevdf.wake(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), -200 * US as i128, "V is half-way between the two now");
}

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
