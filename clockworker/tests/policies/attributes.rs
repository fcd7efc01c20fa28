//! What a policy is told of groups, of attributes and of the clock; who inherits attributes, and what is refused.

use std::future::pending;
use std::time::Duration;

use clockworker::schedulers::Attributes;
use clockworker::{Executor, Queue, spawn_local, yield_now};

use crate::support::*;

/// A queue on virtual time whose calls are logged.
struct Logged {
    ex: Executor,
    queue: Queue,
    log: Log,
}

fn logged() -> Logged {
    let (ex, log) = (world(), Log::default());
    let queue = ex.new_queue("tested").scheduler(Spy::<false>::fifo().logging(&log)).create().unwrap();
    Logged { ex, queue, log }
}

impl Logged {
    fn take(&self) -> String {
        assert_eq!(self.queue.stats().policy_fault, None);
        self.log.take()
    }

    /// Runs until no task is ready, and gives the calls for what was spawned with attributes.
    fn spawned(&self) -> String {
        drain(&self.ex);
        self.log.take_only(&["spawned"])
    }
}

#[test]
fn a_group_is_opened_before_its_tasks_are_pushed() {
    let l = logged();
    let gold = l.queue.new_group(70).weight(4).priority(-3).tag(9).open().unwrap();
    let plain = l.queue.group(u64::MAX);
    assert_eq!(l.take(), "group_opened 0 for 70 w4 p-3 t9, group_opened 1 for 18446744073709551615");
    gold.spawn(async {});
    plain.spawn(async {});
    assert_eq!(l.take(), "", "pushes are for slices");
    gold.set_weight(5).unwrap();
    assert_eq!(l.take(), "group_changed 0 w5 p-3 t9");
    gold.set_weight(5).unwrap();
    assert_eq!(l.take(), "", "it was no change");
    gold.set_attributes(Attributes::new()).unwrap();
    assert_eq!(l.take(), "group_changed 0");
    drop((gold, plain));
    drain(&l.ex);
    let pushes = "served_all 0 at 0, push 2 of 0 Spawned, push 3 of 1 Spawned";
    let polls = "pop 2, finished 2, group_closed 0, pop 3, finished 3, group_closed 1";
    assert_eq!(l.take(), format!("{pushes}, {polls}"));
}

#[test]
fn an_open_group_is_given_as_it_is_and_with_other_attributes_refused() {
    let l = logged();
    let gold = l.queue.new_group(1).weight(4).open().unwrap();
    assert_eq!(l.queue.group(1).weight(), 4);
    assert_eq!(l.queue.find_group(1).unwrap().attributes(), gold.attributes());
    let again = l.queue.new_group(1).weight(4).open().unwrap();
    let error = l.queue.new_group(1).weight(3).open().unwrap_err();
    assert!(error.is_open() && !error.is_weight() && error.queue_error().is_none());
    assert_eq!(error.to_string(), "group 1 is open with other attributes");
    assert!(l.queue.new_group(1).open().unwrap_err().is_open());
    again.set_weight(3).unwrap();
    assert_eq!(gold.weight(), 3, "the handles are of one group");
    assert_eq!(l.take(), "group_opened 0 for 1 w4, group_changed 0 w3");
    drop((gold, again));
    assert_eq!(l.take(), "group_closed 0", "what was refused holds nothing");
    assert!(l.queue.find_group(1).is_none());
    assert_eq!(l.queue.group(1).weight(), 1, "what was said of it is forgotten");
}

#[test]
fn a_weight_is_a_share() {
    let l = logged();
    for weight in [0, 1_000_001, u32::MAX] {
        let error = l.queue.new_group(1).weight(weight).open().unwrap_err();
        assert!(error.is_weight());
        let said = format!("a group's weight is a share: a share is between 1 and 1000000, not {weight}");
        assert_eq!(error.to_string(), said);
        let group = l.queue.group(2);
        assert!(group.set_weight(weight).unwrap_err().is_weight());
        assert_eq!(group.weight(), 1);
    }
    assert_eq!(l.queue.new_group(1).weight(1_000_000).open().unwrap().weight(), 1_000_000);
}

#[test]
fn a_group_of_a_queue_that_is_gone_is_changed_no_more() {
    let l = logged();
    let group = l.queue.group(1);
    l.queue.close();
    let error = group.set_weight(2).unwrap_err();
    assert!(error.queue_error().unwrap().is_closed());
    assert_eq!(error.to_string(), "the queue \"tested\" is closed");
    let l = logged();
    let group = l.queue.group(1);
    drop(l.ex);
    assert!(group.set_weight(2).unwrap_err().queue_error().unwrap().is_stopped());
    assert_eq!(group.weight(), 1);
}

#[test]
fn a_task_is_spawned_before_it_is_pushed_and_only_with_attributes() {
    let l = logged();
    work(us(5));
    let group = l.queue.group(1);
    l.queue.new_task().priority(2).tag(7).spawn(async {});
    group.new_task().deadline(us(10)).spawn(async {});
    group.new_task().tag(0).spawn(async {});
    group.new_task().priority(0).spawn(async {});
    l.queue.new_task().deadline(Duration::MAX).spawn(async {});
    assert_eq!(l.take(), "group_opened 0 for 1");
    drain(&l.ex);
    let pushes = [
        "spawned 1 of 1 p2 t7, push 1 of 1 Spawned",
        "spawned 2 of 0 d15000, push 2 of 0 Spawned",
        "push 3 of 0 Spawned",
        "spawned 4 of 0 p0, push 4 of 0 Spawned",
        "spawned 5 of 5 d18446744073709551615, push 5 of 5 Spawned",
    ];
    let calls = l.take();
    assert!(calls.starts_with(&format!("served_all 0 at 5000, {}", pushes.join(", "))), "{calls}");
}

#[test]
fn children_inherit_attributes_unless_told_otherwise() {
    let l = logged();
    let queue = l.queue.clone();
    l.queue.group(1).new_task().priority(2).deadline(us(10)).spawn(async move {
        work(us(3));
        spawn_local(async {
            spawn_local(async {}); // a grandchild
        });
        clockworker::new_task().priority(5).tag(1).spawn(async {});
        clockworker::new_task().deadline(us(4)).spawn(async {});
        clockworker::new_task().attributes(Attributes::new()).spawn(async {
            spawn_local(async {}); // of a child that has none
        });
        queue.spawn(async {});
        queue.group(1).spawn(async {});
        yield_now().await;
        spawn_local(async {});
    });
    let expected = [
        "spawned 1 of 0 p2 d10000",
        "spawned 2 of 0 p2 d10000",
        "spawned 3 of 0 p5 d10000 t1",
        "spawned 4 of 0 p2 d7000",
        "spawned 8 of 0 p2 d10000", // the grandchild
        "spawned 7 of 0 p2 d10000",
    ];
    assert_eq!(l.spawned(), expected.join(", "));
}

#[test]
fn a_later_task_in_the_slot_does_not_inherit() {
    let l = logged();
    for end in ["finished", "aborted", "aborted before its queue had a slice"] {
        let task = l.queue.new_task().tag(1).spawn(async move {
            if end == "aborted" {
                pending().await
            }
        });
        let is_known = end != "aborted before its queue had a slice";
        if !is_known {
            task.abort();
        }
        drain(&l.ex);
        task.abort();
        let spawned = l.spawned();
        assert!(task.is_finished() && spawned.ends_with(" t1") == is_known, "{end}");
        l.queue.spawn(async {
            spawn_local(async {});
        });
        drain(&l.ex);
        let in_its_slot = if is_known {
            spawned.replace("spawned", "push").replace("t1", "Spawned")
        } else {
            "push".to_owned()
        };
        assert!(l.log.take_only(&["push", "spawned"]).starts_with(&in_its_slot), "{end}");
    }
}

#[test]
fn the_clock_is_told_before_the_first_pop_of_a_slice_and_after_polls() {
    let l = logged();
    work(us(2));
    for length in [us(3), us(4)] {
        l.queue.spawn(async move { work(length) });
    }
    l.take();
    drain(&l.ex);
    let first = "served_all 0 at 2000, push 0 of 0 Spawned, push 1 of 1 Spawned";
    let then = "pop 0, finished 0, group_closed 0, served_all 3000 at 5000";
    assert_eq!(
        l.take(),
        format!("{first}, {then}, pop 1, finished 1, group_closed 1, served_all 4000 at 9000")
    );
}

#[test]
fn a_handle_names_group_and_attributes_and_they_are_told_at_admission() {
    let l = logged();
    let handle = l.ex.handle();
    let tasks = elsewhere(|| {
        [
            handle.spawn_in("tested", 7, || async {}),
            handle.new_task().queue("tested").group(7).priority(3).spawn(|| async {}),
            handle.new_task().queue("tested").deadline(us(6)).tag(2).spawn(|| async {}),
            handle.new_task().queue("tested").spawn(|| async {}),
            handle.spawn_on("tested", || async {}),
        ]
    });
    assert_eq!(l.take(), "");
    work(us(1));
    drain(&l.ex);
    let admitted = [
        "group_opened 0 for 7, served_all 0 at 1000, push 1 of 0 Spawned",
        "spawned 2 of 0 p3, push 2 of 0 Spawned",
        "spawned 3 of 3 d7000 t2, push 3 of 3 Spawned",
        "push 4 of 4 Spawned, push 5 of 5 Spawned, pop 1",
    ];
    let calls = l.take();
    assert!(calls.starts_with(&admitted.join(", ")), "{calls}");
    tasks.into_iter().for_each(|task| output(task).unwrap());
    assert!(l.queue.find_group(7).is_none(), "it closed with its last task");
}

#[test]
fn a_task_refused_or_aborted_before_admission_opens_no_group() {
    let l = logged();
    let handle = l.ex.handle();
    let (aborted, refused) =
        elsewhere(|| [1, 2].map(|key| handle.spawn_in("tested", key, || async {}))).into();
    aborted.abort();
    l.queue.close();
    drain(&l.ex);
    assert!(output(refused).unwrap_err().is_refused() && output(aborted).unwrap_err().is_cancelled());
    assert_eq!(l.take(), "");
    let unknown = handle.spawn_in("tested", 1, || async {});
    assert!(output(unknown).unwrap_err().is_refused());
    drop(l.ex);
    assert!(output(handle.spawn_in("default", 1, || async {})).unwrap_err().is_refused());
}
