//! What a policy is told of groups, of attributes and of the clock; who inherits attributes, and what is refused.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::pending;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{Attributes, GroupId, Ready, Scheduler, Share, Task, TaskId};
use clockworker::{Executor, Queue, spawn_local, yield_now};

use crate::support::{VirtualTime, output, us};

/// FIFO, which notes what it is told.
#[derive(Default)]
struct Noting {
    ready: VecDeque<TaskId>,
    notes: Notes,
}

type Notes = Rc<RefCell<Vec<String>>>;

impl Noting {
    fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }
}

/// What was said, but for what is so unless told otherwise.
fn said(attributes: &Attributes) -> String {
    let Attributes { weight, priority, deadline_ns, tag, .. } = *attributes;
    let parts = [
        (weight != Share::MIN).then(|| format!(" w{weight}")),
        priority.map(|priority| format!(" p{priority}")),
        deadline_ns.map(|ns| format!(" d{ns}")),
        (tag != 0).then(|| format!(" t{tag}")),
    ];
    parts.into_iter().flatten().collect()
}

impl Scheduler for Noting {
    const NEEDS_SERVICE: bool = false;
    const WANTS_CLOCK: bool = true;

    fn push(&mut self, task: Task, why: Ready) {
        self.note(format!("push {} of {} {why:?}", task.id.slot(), task.group.index()));
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let next = self.ready.pop_front();
        next.inspect(|id| self.note(format!("pop {}", id.slot())))
    }

    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        self.note(format!("opened {} for {key}{}", group.index(), said(attributes)));
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        self.note(format!("changed {}{}", group.index(), said(attributes)));
    }

    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        self.note(format!("spawned {} of {}{}", task.id.slot(), task.group.index(), said(attributes)));
    }

    fn time_is(&mut self, now_ns: u64) {
        self.note(format!("time {now_ns}"));
    }

    fn finished(&mut self, task: Task) {
        self.note(format!("finished {}", task.id.slot()));
    }

    fn group_closed(&mut self, group: GroupId) {
        self.note(format!("closed {}", group.index()));
    }
}

struct World {
    sim: VirtualTime,
    ex: Executor,
    queue: Queue,
    notes: Notes,
}

fn world() -> World {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let notes = Notes::default();
    let noting = Noting { notes: Rc::clone(&notes), ..Noting::default() };
    let queue = ex.new_queue("tested").scheduler(noting).create().unwrap();
    World { sim, ex, queue, notes }
}

impl World {
    fn take(&self) -> Vec<String> {
        assert_eq!(self.queue.stats().policy_fault, None);
        self.notes.take()
    }

    /// Runs until no task is ready, and gives the notes of what was spawned with attributes.
    fn spawned(&self) -> Vec<String> {
        self.sim.drain(&self.ex);
        self.take().into_iter().filter(|note| note.starts_with("spawned")).collect()
    }
}

#[test]
fn a_group_is_opened_before_its_tasks_are_pushed_and_changed_while_it_is_open() {
    let w = world();
    let gold = w.queue.new_group(70).weight(4).priority(-3).tag(9).open().unwrap();
    let plain = w.queue.group(u64::MAX);
    gold.spawn(async {});
    plain.spawn(async {});
    gold.set_weight(5).unwrap();
    gold.set_weight(5).unwrap();
    gold.set_attributes(Attributes::new()).unwrap();
    assert_eq!(
        w.take(),
        [
            "opened 0 for 70 w4 p-3 t9",
            "opened 1 for 18446744073709551615",
            "push 2 of 0 Spawned",
            "push 3 of 1 Spawned",
            "changed 0 w5 p-3 t9",
            // The second time it was no change.
            "changed 0",
        ]
    );
    drop((gold, plain));
    w.sim.drain(&w.ex);
    let rest = ["time 0", "pop 2", "finished 2", "closed 0", "pop 3", "finished 3", "closed 1"];
    assert_eq!(w.take(), rest);
}

#[test]
fn an_open_group_is_given_as_it_is_and_with_other_attributes_refused() {
    let w = world();
    let gold = w.queue.new_group(1).weight(4).open().unwrap();
    assert_eq!(w.queue.group(1).weight(), 4);
    assert_eq!(w.queue.find_group(1).unwrap().attributes(), gold.attributes());
    let again = w.queue.new_group(1).weight(4).open().unwrap();
    let error = w.queue.new_group(1).weight(3).open().unwrap_err();
    assert!(error.is_open() && !error.is_weight() && error.queue_error().is_none());
    assert_eq!(error.to_string(), "group 1 is open with other attributes");
    assert!(w.queue.new_group(1).open().unwrap_err().is_open());
    again.set_weight(3).unwrap();
    assert_eq!(gold.weight(), 3, "the handles are of one group");
    assert_eq!(w.take(), ["opened 0 for 1 w4", "changed 0 w3"]);
    drop((gold, again));
    assert_eq!(w.take(), ["closed 0"], "what was refused holds nothing");
    assert!(w.queue.find_group(1).is_none());
    assert_eq!(w.queue.group(1).weight(), 1, "what was said of it is forgotten");
}

#[test]
fn a_weight_is_a_share() {
    let w = world();
    for weight in [0, 1_000_001, u32::MAX] {
        let error = w.queue.new_group(1).weight(weight).open().unwrap_err();
        assert!(error.is_weight());
        let said = format!("a group's weight is a share: a share is between 1 and 1000000, not {weight}");
        assert_eq!(error.to_string(), said);
        let group = w.queue.group(2);
        assert!(group.set_weight(weight).unwrap_err().is_weight());
        assert_eq!(group.weight(), 1);
    }
    assert_eq!(w.queue.new_group(1).weight(1_000_000).open().unwrap().weight(), 1_000_000);
}

#[test]
fn a_group_of_a_queue_that_is_gone_is_changed_no_more() {
    let w = world();
    let group = w.queue.group(1);
    w.queue.close();
    let error = group.set_weight(2).unwrap_err();
    assert!(error.queue_error().unwrap().is_closed());
    assert_eq!(error.to_string(), "the queue \"tested\" is closed");
    let w = world();
    let group = w.queue.group(1);
    drop(w.ex);
    assert!(group.set_weight(2).unwrap_err().queue_error().unwrap().is_stopped());
    assert_eq!(group.weight(), 1);
}

#[test]
fn a_task_is_spawned_before_it_is_pushed_and_only_with_attributes() {
    let w = world();
    w.sim.work(us(5));
    let group = w.queue.group(1);
    w.queue.new_task().priority(2).tag(7).spawn(async {});
    group.new_task().deadline(us(10)).spawn(async {});
    group.new_task().tag(0).spawn(async {});
    group.new_task().priority(0).spawn(async {});
    w.queue.new_task().deadline(Duration::MAX).spawn(async {});
    assert_eq!(
        w.take(),
        [
            "opened 0 for 1",
            "spawned 1 of 1 p2 t7",
            "push 1 of 1 Spawned",
            "spawned 2 of 0 d15000",
            "push 2 of 0 Spawned",
            "push 3 of 0 Spawned",
            "spawned 4 of 0 p0",
            "push 4 of 0 Spawned",
            "spawned 5 of 5 d18446744073709551615",
            "push 5 of 5 Spawned",
        ]
    );
}

#[test]
fn children_inherit_attributes_unless_told_otherwise() {
    let w = world();
    let (sim, queue) = (w.sim.clone(), w.queue.clone());
    w.queue.group(1).new_task().priority(2).deadline(us(10)).spawn(async move {
        sim.work(us(3));
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
    assert_eq!(
        w.spawned(),
        [
            "spawned 1 of 0 p2 d10000",
            "spawned 2 of 0 p2 d10000",
            "spawned 3 of 0 p5 d10000 t1",
            "spawned 4 of 0 p2 d7000",
            "spawned 8 of 0 p2 d10000", // the grandchild
            "spawned 7 of 0 p2 d10000",
        ]
    );
}

#[test]
fn the_main_future_and_what_is_outside_tasks_pass_nothing_on() {
    let notes = Notes::default();
    let noting = Noting { notes: Rc::clone(&notes), ..Noting::default() };
    let ex = Executor::builder().scheduler(noting).build().unwrap();
    ex.default_queue().new_task().tag(1).spawn(pending::<()>());
    ex.block_on(async {
        yield_now().await;
        spawn_local(async {});
        clockworker::new_task().spawn(async {});
    });
    let spawned = |note: &&String| note.starts_with("spawned");
    assert_eq!(notes.borrow().iter().filter(spawned).count(), 1);
}

#[test]
fn a_later_task_in_the_slot_does_not_inherit() {
    let w = world();
    for end in ["finished", "aborted", "aborted while ready"] {
        let task = w.queue.new_task().tag(1).spawn(async move {
            if end == "aborted" {
                pending().await
            }
        });
        if end == "aborted while ready" {
            task.abort();
        }
        w.sim.drain(&w.ex);
        task.abort();
        w.sim.drain(&w.ex);
        assert!(task.is_finished(), "{end}");
        let spawned = w.take().remove(0).replace("spawned", "push").replace(" t1", " Spawned");
        w.queue.spawn(async {
            spawn_local(async {});
        });
        assert_eq!(*w.notes.borrow(), [spawned], "{end}: the slot");
        assert_eq!(w.spawned(), [""; 0], "{end}");
    }
}

#[test]
fn what_a_dropped_future_spawns_inherits_too() {
    struct Spawns;
    impl Drop for Spawns {
        fn drop(&mut self) {
            spawn_local(async {});
        }
    }
    let w = world();
    let spawns = Spawns;
    let task = w.queue.group(1).new_task().tag(3).spawn(async move {
        let _spawns = spawns;
        pending::<()>().await;
    });
    w.sim.drain(&w.ex);
    let _ = w.take();
    task.abort();
    assert_eq!(w.spawned(), ["spawned 2 of 0 t3"]);
}

#[test]
fn the_clock_is_told_before_the_first_pop_of_a_slice_and_after_polls() {
    let w = world();
    w.sim.work(us(2));
    for length in [us(3), us(4)] {
        let sim = w.sim.clone();
        w.queue.spawn(async move { sim.work(length) });
    }
    let _ = w.take();
    w.sim.drain(&w.ex);
    assert_eq!(
        w.take(),
        [
            "time 2000",
            "pop 0",
            "finished 0",
            "closed 0",
            "time 5000",
            "pop 1",
            "finished 1",
            "closed 1",
            "time 9000"
        ]
    );
}

/// What a thread spawned, once the executor has admitted it.
fn elsewhere<T: Send>(spawn: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(spawn).join().unwrap())
}

#[test]
fn a_handle_names_group_and_attributes_and_they_are_told_at_admission() {
    let w = world();
    let handle = w.ex.handle();
    let tasks = elsewhere(|| {
        [
            handle.spawn_in("tested", 7, || async {}),
            handle.new_task().queue("tested").group(7).priority(3).spawn(|| async {}),
            handle.new_task().queue("tested").deadline(us(6)).tag(2).spawn(|| async {
                spawn_local(async {});
            }),
            handle.new_task().queue("tested").spawn(|| async {}),
            handle.spawn_on("tested", || async {}),
        ]
    });
    assert_eq!(w.take(), [""; 0]);
    w.sim.work(us(1));
    w.sim.drain(&w.ex);
    assert_eq!(
        w.take()[..10],
        [
            "opened 0 for 7",
            "push 1 of 0 Spawned",
            "spawned 2 of 0 p3",
            "push 2 of 0 Spawned",
            "spawned 3 of 3 d7000 t2",
            "push 3 of 3 Spawned",
            "push 4 of 4 Spawned",
            "push 5 of 5 Spawned",
            "time 1000",
            "pop 1",
        ]
    );
    tasks.into_iter().for_each(|task| output(task).unwrap());
    assert!(w.queue.find_group(7).is_none(), "it closed with its last task");
}

#[test]
fn a_handle_finds_a_group_that_is_open_as_it_is() {
    let w = world();
    let _gold = w.queue.new_group(7).weight(3).open().unwrap();
    let handle = w.ex.handle();
    let task = elsewhere(|| {
        handle.spawn_in("tested", 7, || async { clockworker::Group::current().unwrap().weight() })
    });
    assert_eq!(w.sim.run(&w.ex, task).unwrap(), 3);
}

#[test]
fn a_task_for_a_group_that_is_refused_or_aborted_before_admission_opens_none() {
    let w = world();
    let handle = w.ex.handle();
    let (aborted, refused) =
        elsewhere(|| [1, 2].map(|key| handle.spawn_in("tested", key, || async {}))).into();
    aborted.abort();
    w.queue.close();
    w.sim.drain(&w.ex);
    assert!(output(refused).unwrap_err().is_refused() && output(aborted).unwrap_err().is_cancelled());
    assert_eq!(w.take(), [""; 0]);
    let unknown = handle.spawn_in("tested", 1, || async {});
    assert!(output(unknown).unwrap_err().is_refused());
    drop(w.ex);
    assert!(output(handle.spawn_in("default", 1, || async {})).unwrap_err().is_refused());
}
