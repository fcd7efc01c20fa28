//! Panics in user code besides tasks (`panics`), wakers (`waker_panics`) and schedulers (`policies`): in closures of remote
//! spawns, in deadlines, in what is refused. The executor goes on, and each task is answered.

use std::fmt::Debug;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, Handle, JoinHandle, JoinSet};

use crate::support::{
    MEANT, OnDrop, assert_finished, assert_usable, bomb, complaint_of, elsewhere, hold, in_child, output,
    panic_as_meant, panic_of, probed, settle, untimed,
};

#[test]
fn what_makes_a_future_panics_and_the_spawner_is_told() {
    let ex = untimed();
    let task = ex.handle().spawn(|| -> std::future::Ready<()> { panic_as_meant("the closure") });
    settle(&ex);
    assert_eq!(elsewhere(|| panic_of(output(task))), "the closure");
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
}

/// Spawns what makes a future, and panics when it is dropped.
fn spawn_bomb(handle: &Handle, queue: &str) -> JoinHandle<()> {
    let guard = bomb("the bomb");
    handle.spawn_on(queue, move || {
        let _guard = guard;
        pending()
    })
}

#[test]
fn what_makes_a_future_panics_when_dropped_and_the_spawner_is_told() {
    for how in ["aborted", "its queue is closed", "shut down", "its executor is dropped"] {
        let ex = untimed();
        let queue = ex.new_queue("closed").create().unwrap();
        let task = spawn_bomb(&ex.handle(), "closed");
        match how {
            "aborted" => task.abort(),
            "its queue is closed" => queue.close(),
            "shut down" => _ = ex.block_on_shutdown(ready(())),
            _ => {}
        }
        if how == "its executor is dropped" {
            drop(ex);
        } else {
            settle(&ex);
            assert_finished(&ex.stats(), 0, 0, 1);
        }
        assert_eq!(panic_of(output(task)), "the bomb", "{how}");
    }
}

#[test]
fn a_future_that_is_refused_and_panics_when_dropped_tells_its_handle() {
    let ex = untimed();
    let (queue, handle) = (ex.new_queue("closed").create().unwrap(), ex.handle());
    queue.close();
    let assert_told = |task: JoinHandle<()>| assert_eq!(panic_of(output(task)), "the bomb");
    assert_told(queue.spawn(hold(bomb("the bomb"))));
    assert_told(spawn_bomb(&handle, "closed"));
    ex.block_on_shutdown(ready(()));
    assert_told(spawn_bomb(&handle, "closed"));
    drop(ex);
    assert_told(queue.spawn(hold(bomb("the bomb"))));
    assert_told(spawn_bomb(&handle, "default"));
}

#[test]
fn futures_refused_during_a_panic_may_panic_when_dropped() {
    // Two panics at once would abort the process.
    in_child(|| {
        let ex = untimed();
        let queue = ex.default_queue().clone();
        queue.close();
        let said = complaint_of(|| {
            let _guard = OnDrop::new(|| drop(queue.spawn(hold(bomb("the bomb")))));
            panic_as_meant("the first");
        });
        assert_eq!(said, "the first");
    });
}

#[test]
fn a_deadline_that_panics_ends_the_shutdown_and_the_next_one_finishes_it() {
    for in_drop in [false, true] {
        let ex = untimed();
        let (probe, task) = probed(&ex);
        let guard = in_drop.then(|| bomb("the bomb"));
        let deadline = poll_fn(move |_| {
            let _guard = &guard;
            assert!(in_drop, "{MEANT}the deadline");
            Poll::Ready(())
        });
        let said = complaint_of(|| ex.block_on_shutdown(deadline));
        assert_eq!(said, if in_drop { "the bomb" } else { "the deadline" });
        assert!(output(ex.spawn(async {})).unwrap_err().is_refused());
        let report = ex.block_on_shutdown(ready(()));
        // Where the drop panicked, the tasks were cancelled before.
        assert_eq!(report.cancelled, u64::from(!in_drop));
        assert!(output(task).unwrap_err().is_cancelled());
        assert_eq!(probe.drops.get(), 1);
        assert_finished(&ex.stats(), 0, 1, 0);
    }
}

/// A future, an output and a scheduler without `Debug`.
struct Mute(RunnableFifo);

impl Future for Mute {
    type Output = Mute;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Mute> {
        Poll::Ready(Mute(RunnableFifo::new()))
    }
}

impl Scheduler for Mute {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

/// Nothing of the executor's needs, so nothing can call, `Debug` of what users give it. What is panicked with is `Any`.
#[test]
fn debug_of_user_types_is_never_called() {
    fn shown(value: impl Debug) -> bool {
        !format!("{value:?}").is_empty()
    }
    let mute = || Mute(RunnableFifo::new());
    let ex = Executor::builder().scheduler(mute()).build().unwrap();
    assert!(shown(Executor::builder().scheduler(mute())));
    assert!(shown(ex.new_queue("mute").scheduler(mute())));
    let queue = ex.new_queue("mute").scheduler(mute()).create().unwrap();
    let task = queue.spawn(mute());
    let panics: JoinHandle<Mute> = queue.spawn(poll_fn(|_| std::panic::panic_any(7_u8)));
    assert!(shown(&task) && shown(task.abort_handle()) && shown(&queue) && shown(queue.group(1)));
    assert!(shown(ex.run_until(mute())) && shown(&ex) && shown(ex.handle()) && shown(ex.stats()));
    settle(&ex);
    let Err(error) = output(panics) else { panic!("an output") };
    assert!(shown(&error) && error.to_string().ends_with("panicked"));
    let set: JoinSet<Mute> = [task].into_iter().collect();
    assert!(shown(&set));
}
