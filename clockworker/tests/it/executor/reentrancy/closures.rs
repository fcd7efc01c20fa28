//! From closures, futures and schedulers that the executor is given: calls of them, and their drops.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::panic::panic_any;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use clockworker::Queue;
use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};

use super::tools::{Tools, on_drop};

use crate::support::{OnDrop, assert_balanced, output, quietly, settle, settle_run, untimed};

thread_local! {
    /// What a closure that is `Send` uses.
    static TOOLS: RefCell<Option<Rc<Tools>>> = const { RefCell::new(None) };
}

fn use_tools(alive: bool) {
    let tools = TOOLS.with_borrow(Clone::clone).expect("they are set");
    tools.use_all(alive);
}

#[test]
fn the_poll_of_a_task() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    ex.spawn({
        let tools = Rc::clone(&tools);
        async move { tools.use_all(true) }
    });
    settle(&ex);
    tools.assert_after(&ex);
}

#[test]
fn the_poll_of_the_future_being_run() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    settle_run(pin!(ex.run_until(async { tools.use_all(true) }))).expect("it is done");
    tools.assert_after(&ex);
}

#[test]
fn what_makes_a_future_for_another_thread() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    TOOLS.set(Some(Rc::clone(&tools)));
    let guard = OnDrop::new(|| ());
    let task = ex.handle().spawn(move || {
        drop(guard);
        use_tools(true);
        async { 1 }
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), 1);
    tools.assert_after(&ex);
    TOOLS.set(None);
}

#[test]
fn the_drop_of_what_makes_a_future_for_another_thread() {
    for aborted in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        TOOLS.set(Some(Rc::clone(&tools)));
        let closed = ex.new_queue("closed").create().unwrap();
        let guard = OnDrop::new(|| use_tools(true));
        let task = ex.handle().spawn_on("closed", move || {
            drop(guard);
            pending::<()>()
        });
        // It is refused, or aborted, when the executor takes it in.
        if aborted {
            task.abort()
        } else {
            closed.close()
        }
        settle(&ex);
        assert_eq!(output(task).unwrap_err().is_refused(), !aborted);
        tools.assert_after(&ex);
    }
    TOOLS.set(None);
}

#[test]
fn the_payload_of_a_panic() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    TOOLS.set(Some(Rc::clone(&tools)));
    drop(ex.spawn(async { quietly(|| panic_any(OnDrop::new(|| use_tools(true)))) }));
    settle(&ex);
    tools.assert_after(&ex);
    TOOLS.set(None);
}

/// FIFO that holds something.
struct Holds<T>(RunnableFifo, T);

impl<T> Scheduler for Holds<T> {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

#[test]
fn the_drop_of_a_scheduler_whose_queue_is_closed() {
    for in_a_task in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        let scheduler = Holds(RunnableFifo::new(), on_drop(&tools, true));
        let queue: Queue = ex.new_queue("holds").scheduler(scheduler).create().unwrap();
        let close = move || {
            queue.close();
            drop(queue);
        };
        if in_a_task {
            drop(ex.spawn(async move { close() }));
        } else {
            let _entered = ex.enter();
            close();
        }
        settle(&ex);
        tools.assert_after(&ex);
    }
}

#[test]
fn the_drop_of_a_scheduler_that_is_refused() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let _entered = ex.enter();
    let scheduler = Holds(RunnableFifo::new(), on_drop(&tools, true));
    assert!(ex.new_queue("las").scheduler(scheduler).create().unwrap_err().is_name_taken());
    tools.assert_after(&ex);
}

#[test]
fn the_deadline_of_a_shutdown() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let mut asked = false;
    let deadline = poll_fn(|cx: &mut Context<'_>| {
        if asked {
            return Poll::Ready(());
        }
        asked = true;
        tools.use_all(false);
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    let report = settle_run(pin!(ex.shutdown(deadline))).expect("it is done");
    // The victim was aborted, and two tasks wait.
    assert_eq!((report.completed, report.cancelled, report.drained), (0, 3, false));
    assert_balanced(&ex.stats());
}
