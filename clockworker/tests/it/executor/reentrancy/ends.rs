//! From destructors and deadlines while an executor ends: what they spawn is refused.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::thread;

use clockworker::{JoinHandle, spawn_local};

use super::tools::{Tools, use_all, uses_all_on_drop};
use crate::support::{OnDrop, assert_balanced, hold, output, settle, settle_run, untimed};

#[test]
fn futures_dropped_with_the_executor_may_use_everything() {
    for parked in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        tools.expect_refusals();
        let first = ex.spawn(hold(uses_all_on_drop()));
        let second = tools.queue.group(3).spawn(hold(()));
        if parked {
            settle(&ex);
        }
        drop(Rc::into_inner(ex).expect("the only one"));
        assert_eq!((tools.uses.get(), tools.victim_drops.drops.get(), tools.probe.drops.get()), (1, 1, 1));
        assert!(output(first).unwrap_err().is_cancelled());
        assert!(output(second).unwrap_err().is_cancelled());
        assert!(tools.joined.take().is_none_or(|joined| output(joined).unwrap_err().is_cancelled()));
    }
}

#[test]
fn futures_cancelled_by_a_shutdown_may_use_everything() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    tools.expect_refusals();
    let task = ex.spawn(hold(uses_all_on_drop()));
    settle(&ex);
    let report = ex.block_on_shutdown(async {});
    assert_eq!((report.cancelled, report.drained), (4, false));
    assert_eq!(tools.uses.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_balanced(&ex.stats());
    assert_eq!(ex.stats().live, 0);
}

#[test]
fn the_deadline_of_a_shutdown_may_use_everything() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    tools.expect_refusals();
    let mut asked = false;
    let deadline = poll_fn(|cx: &mut Context<'_>| {
        if asked {
            return Poll::Ready(());
        }
        asked = true;
        use_all();
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    let report = settle_run(pin!(ex.shutdown(deadline))).expect("it is done");
    // The victim was aborted, and two tasks wait.
    assert_eq!((report.completed, report.cancelled, report.drained), (0, 3, false));
    assert_balanced(&ex.stats());
}

/// Each future spawns another one like it when it goes. That is refused inside the drop of the one before, so each is deeper
/// in the stack: by some 2.4 KiB in a debug build, which with some layouts is more than a test's 2 MiB in all.
#[test]
fn spawning_in_the_drop_of_a_future_of_a_dropped_executor_ends() {
    const FUTURES: u32 = 1_000;
    const STACK: usize = 8 << 20;
    fn respawn(depth: Rc<Cell<u32>>, spawned: Rc<RefCell<Vec<JoinHandle<()>>>>) -> impl Future<Output = ()> {
        hold(OnDrop::new(move || {
            depth.set(depth.get() + 1);
            if depth.get() < FUTURES {
                let again = respawn(Rc::clone(&depth), Rc::clone(&spawned));
                let task = spawn_local(again);
                spawned.borrow_mut().push(task);
            }
        }))
    }
    let test = || {
        let (depth, spawned) = (Rc::default(), Rc::default());
        let ex = untimed();
        ex.spawn(respawn(Rc::clone(&depth), Rc::clone(&spawned)));
        settle(&ex);
        drop(ex);
        assert_eq!(depth.get(), FUTURES, "what is refused is dropped at once, and that is all");
        assert!(spawned.take().into_iter().all(|task| output(task).unwrap_err().is_refused()));
    };
    thread::Builder::new().stack_size(STACK).spawn(test).unwrap().join().unwrap();
}
