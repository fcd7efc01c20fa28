//! What destructors do to their own queue and group: spawn into them, close them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use clockworker::schedulers::{Gone, GroupId, Ready, Scheduler, Task, TaskId};
use clockworker::{Queue, spawn_local, yield_now};

use crate::support::{OnDrop, Slot, assert_finished, elsewhere, hold, output, settle, untimed};

#[test]
fn a_task_spawned_by_the_drop_of_a_future_is_in_its_queue() {
    let ex = untimed();
    let own = ex.new_queue("own").create().unwrap();
    let other = ex.new_queue("other").create().unwrap();
    for from_task in [false, true] {
        let before = own.stats().spawned;
        let child = Slot::new();
        let slot = child.clone();
        let task = own.spawn(hold(OnDrop::new(move || slot.put(spawn_local(async {})))));
        settle(&ex);
        if from_task {
            let abort = task.abort_handle();
            other.spawn(async move {
                abort.abort();
                yield_now().await;
            });
        } else {
            task.abort();
        }
        settle(&ex);
        output(child.take()).unwrap();
        assert_eq!(own.stats().spawned - before, 2, "from a task: {from_task}");
    }
}

/// FIFO that notes which groups it hears of.
struct Groups(VecDeque<TaskId>, Rc<RefCell<Vec<(&'static str, GroupId)>>>);

impl Scheduler for Groups {
    fn push(&mut self, task: Task, _why: Ready) {
        self.1.borrow_mut().push(("push", task.group));
        self.0.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop_front()
    }

    fn gone(&mut self, gone: Gone) {
        if let Gone::Group(group) = gone {
            self.1.borrow_mut().push(("closed", group));
        }
    }
}

#[test]
fn a_group_lives_on_in_what_its_last_tasks_drop_spawns() {
    for aborted in [false, true] {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let ex = untimed();
        let queue = ex.new_queue("q").scheduler(Groups(VecDeque::new(), Rc::clone(&heard))).create().unwrap();
        let group = queue.group(5);
        let mut guard = Some(OnDrop::new(|| drop(spawn_local(async {}))));
        let task = group.spawn(poll_fn(move |_| {
            let _captured = &mut guard;
            if aborted { Poll::Pending } else { Poll::Ready(()) }
        }));
        drop(group);
        settle(&ex);
        task.abort();
        settle(&ex);
        let heard = heard.take();
        let own = heard[0].1;
        assert_eq!(heard, [("push", own), ("push", own), ("closed", own)], "aborted: {aborted}");
        assert_eq!(ex.stats().live, 0);
    }
}

#[test]
fn a_closed_queue_whose_last_task_is_dropped_by_a_shutdown_is_gone() {
    let ex = untimed();
    let queue = ex.new_queue("closing").create().unwrap();
    let task = queue.spawn(pending::<()>());
    queue.close();
    settle(&ex);
    assert_eq!(ex.stats().queues.len(), 2);
    ex.block_on_shutdown(async {});
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(ex.stats().queues.len(), 1);
    assert!(queue.set_share(2).unwrap_err().is_closed());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_queue_closed_while_everything_is_cancelled_is_gone_for_good() {
    // Its only task was aborted while ready, so it counts as runnable to the end; another queue may get its place.
    for shutdown in [false, true] {
        let ex = untimed();
        let closing = ex.new_queue("closing").create().unwrap();
        let closes = closing.clone();
        let task = ex.spawn(hold(OnDrop::new(move || closes.close())));
        settle(&ex);
        closing.spawn(pending::<()>()).abort();
        if shutdown {
            ex.block_on_shutdown(async {});
            assert_eq!(ex.stats().queues.len(), 1);
            assert_finished(&ex.stats(), 0, 2, 0);
        } else {
            drop(ex);
        }
        assert!(output(task).unwrap_err().is_cancelled());
        assert!(closing.set_share(3).unwrap_err().is_closed());
    }
}

#[test]
fn a_queue_closed_by_a_task_aborted_before_admission_is_gone() {
    thread_local! {
        static QUEUE: RefCell<Option<Queue>> = const { RefCell::new(None) };
    }
    let ex = untimed();
    QUEUE.set(Some(ex.new_queue("closing").create().unwrap()));
    let handle = ex.handle();
    let closes = OnDrop::new(|| QUEUE.take().iter().for_each(Queue::close));
    let task = elsewhere(|| handle.spawn_on("closing", move || hold(closes)));
    task.abort();
    settle(&ex);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(ex.stats().queues.len(), 1);
    assert_finished(&ex.stats(), 0, 1, 0);
}
