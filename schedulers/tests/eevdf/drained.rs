//! Queues that have run out of work and have not fallen asleep yet.

use clockworker_schedulers::{Eevdf, QueueId};

use super::bench::{MS, US, after_a_head_start, share};

/// All that can be seen of a runnable queue.
fn seen(eevdf: &Eevdf, id: QueueId) -> impl PartialEq + core::fmt::Debug + use<> {
    (eevdf.virtual_runtime(id), eevdf.virtual_deadline(id), eevdf.left_ns(id), eevdf.lag(id))
}

#[test]
fn one_that_wakes_up_at_once_has_not_been_away() {
    // Behind, and ahead.
    for nth in [0, 1] {
        let (mut eevdf, ahead, behind) = after_a_head_start([3, 1], 400 * US);
        let id = [ahead, behind][nth];
        let before = seen(&eevdf, id);
        eevdf.drain(id);
        assert_eq!((eevdf.is_runnable(id), eevdf.runnable()), (false, 1));
        assert_eq!(eevdf.pick(), Some([behind, ahead][nth]), "it has no work");
        eevdf.wake(id);
        assert_eq!(seen(&eevdf, id), before);
        assert_eq!(eevdf.pick(), Some(behind), "whose turn it is");
    }
}

#[test]
fn it_counts_until_another_has_had_a_request_served() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    eevdf.charge(ahead, 200 * US);
    eevdf.drain(behind);
    eevdf.charge(ahead, 700 * US);
    assert_eq!(eevdf.lag(behind).as_ns(), 950 * US as i128, "half of what the other had");
    eevdf.charge(ahead, 100 * US);
    assert_eq!(eevdf.lag(behind).as_ns(), MS as i128);
    // Now it sleeps, with a credit that does not grow.
    eevdf.charge(ahead, 100 * US);
    assert_eq!(eevdf.lag(behind).as_ns(), MS as i128);
    eevdf.wake(behind);
    assert_eq!((eevdf.left_ns(behind), eevdf.lag(behind).as_ns()), (MS, MS as i128), "with a new request");
}

#[test]
fn what_it_keeps_in_its_sleep_is_two_turns_at_most() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    (0..9).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.drain(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 5 * MS as i128);
    eevdf.charge(ahead, MS);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
}

#[test]
fn it_falls_asleep_where_it_keeps_all_others_from_being_eligible() {
    let mut eevdf = Eevdf::new();
    let [a, b, drained] = [0; 3].map(|_| eevdf.add(share(1), MS));
    [a, b, drained].iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(a, 300 * US);
    eevdf.charge(b, 300 * US);
    eevdf.drain(drained);
    assert!(![a, b].iter().any(|&id| eevdf.is_eligible(id)), "they are ahead of the mean of all three");
    assert_eq!(eevdf.pick(), Some(a));
    assert!([a, b].iter().all(|&id| eevdf.is_eligible(id)));
    assert_eq!(eevdf.lag(drained).as_ns(), 200 * US as i128, "what it was owed");
}

#[test]
fn the_only_one_with_work_finishes_its_request_first() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    eevdf.charge(ahead, 300 * US);
    eevdf.drain(behind);
    assert_eq!((eevdf.pick(), eevdf.is_eligible(ahead)), (Some(ahead), false));
    eevdf.charge(ahead, 600 * US);
    assert_eq!((eevdf.pick(), eevdf.is_eligible(ahead)), (Some(ahead), false));
    // A drained queue is asleep before the next request of the other has begun.
    eevdf.charge(ahead, 100 * US);
    assert_eq!((eevdf.pick(), eevdf.is_eligible(ahead)), (Some(ahead), true));
    // Also one that was drained just now.
    eevdf.wake(behind);
    eevdf.drain(behind);
    assert_eq!((eevdf.pick(), eevdf.is_eligible(ahead)), (Some(ahead), true));
}

/// Whatever is placed is placed where V is without the queues that have no work.
#[test]
fn it_is_asleep_before_another_is_placed() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 6 * MS);
    eevdf.drain(behind);
    let newcomer = eevdf.add(share(1), MS);
    eevdf.wake(newcomer);
    assert_eq!(eevdf.virtual_runtime(newcomer), Some(eevdf.virtual_time()));
    assert_eq!(eevdf.lag(behind).as_ns(), 3 * MS as i128);
    assert_eq!((eevdf.is_eligible(newcomer), eevdf.lag(newcomer).raw()), (true, 0));
    assert_eq!(eevdf.lag(ahead).as_ns(), -3 * MS as i128);
}

#[test]
fn where_all_are_drained_all_is_forgiven() {
    for last in [0, 1] {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
        let order = [[ahead, behind], [behind, ahead]][last];
        order.iter().for_each(|&id| eevdf.drain(id));
        assert_eq!((eevdf.pick(), eevdf.runnable()), (None, 0));
        assert_eq!([ahead, behind].map(|id| eevdf.lag(id).raw()), [0, 0]);
        order.iter().for_each(|&id| eevdf.wake(id));
        assert_eq!([ahead, behind].map(|id| eevdf.lag(id).raw()), [0, 0]);
        assert_eq!([ahead, behind].map(|id| eevdf.left_ns(id)), [MS, MS]);
    }
}
