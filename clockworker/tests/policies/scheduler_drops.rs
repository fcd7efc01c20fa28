//! Schedulers that panic when they are dropped, or are dropped while in service.

use std::rc::Rc;

use clockworker::{PolicyFault, yield_now};
use clockworker_testing::hostile::{Call as Method, Fault, Faulty, Hostile};

use super::hostile::assert_usable;
use crate::support::*;

#[test]
fn a_scheduler_taken_out_of_service_is_dropped_at_once_and_once() {
    let (ex, held) = (untimed(), Rc::new(()));
    let holds = Rc::clone(&held);
    let spy: Spy = Spy::fifo().listening(move |call| {
        let _ = &holds;
        if let Call::Pop(_) = call {
            panic_as_meant("in `pop`");
        }
    });
    let queue = ex.new_queue("q").scheduler(spy).create().unwrap();
    let task = queue.spawn(async {});
    settle(&ex);
    output(task).unwrap();
    assert_eq!((queue.stats().policy_fault, Rc::strong_count(&held)), (Some(PolicyFault::Panicked), 1));
    drop((ex, queue));
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_closed_queue_whose_scheduler_panics_in_its_drop_goes_quietly() {
    let ex = untimed();
    let plan = Faulty::once(Fault::PanicsInDrop, 0);
    let struck = plan.struck();
    let queue = ex.new_queue("hostile").scheduler(Hostile::<_, false>::new(plan)).create().unwrap();
    let task = queue.spawn(async {
        yield_now().await;
        1
    });
    queue.close();
    drop(queue);
    settle(&ex);
    assert!(struck.get() > 0, "the scheduler went with its last task");
    assert_eq!(output(task).unwrap(), 1);
    assert_eq!(ex.stats().queues.len(), 1);
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_scheduler_whose_queue_is_refused_may_panic_in_its_drop() {
    let ex = untimed();
    let plan = Faulty::once(Fault::PanicsInDrop, 0);
    let struck = plan.struck();
    let error = ex.new_queue("default").scheduler(Hostile::<_, false>::new(plan)).create().unwrap_err();
    assert!(error.is_name_taken() && struck.get() > 0);
    let queue = ex.new_queue("next").create().unwrap();
    assert_usable(&ex, &queue);
}

#[test]
fn a_panic_when_the_last_group_handle_goes_stays_inside() {
    let ex = untimed();
    let hostile = Hostile::<Faulty>::new(Faulty::once(Fault::Panics(Method::GroupClosed), 0));
    let queue = ex.new_queue("hostile").scheduler(hostile).create().unwrap();
    drop(queue.group(7));
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked));
    assert_usable(&ex, &queue);
}
