//! Drains: tasks under way go on spawning, nobody else does. And requests to stop.

mod matrix;

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;

use clockworker::{Executor, Handle, Queue, ShutdownReport, move_to, spawn_local, yield_now};
use futures::FutureExt;

use crate::support::{
    CountingWaker, OnDrop, Probe, Signal, elsewhere, hold, output, panic_as_meant, poll_with, settle,
    settle_run, untimed, yields,
};

fn numbers(report: ShutdownReport) -> (u64, u64, u64, bool) {
    (report.completed, report.cancelled, report.panicked, report.drained)
}

/// Spawns itself again, for ever.
fn respawn() -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async {
        yield_now().await;
        spawn_local(respawn());
    })
}

/// Begins to drain the queue.
fn begin<'a>(ex: &'a Executor, queue: &'a Queue) -> Pin<Box<dyn Future<Output = ShutdownReport> + 'a>> {
    let mut drain = Box::pin(ex.run_until(queue.drain(pending::<()>())));
    assert_eq!(settle_run(drain.as_mut()), None);
    drain
}

#[test]
fn what_respawns_itself_for_ever_ends_at_the_deadline() {
    let ex = untimed();
    let task = ex.spawn(respawn());
    let report = futures::executor::block_on(ex.drain(yields(20)));
    assert!(task.is_finished() && report.completed > 10, "{report}");
    assert_eq!((report.cancelled, report.drained, ex.stats().live), (1, false, 0));

    let ex = untimed();
    let parent = ex.new_queue("parent").create().unwrap();
    let [one, two] = ["one", "two"].map(|name| parent.new_queue(name).create().unwrap());
    one.spawn(respawn());
    two.spawn(respawn());
    let report = ex.block_on(parent.drain(yields(20)));
    assert!(report.completed > 10, "{report}");
    assert_eq!((report.cancelled, report.drained, ex.stats().live), (2, false, 0));
    assert_eq!(ex.queues().len(), 1);
}

#[test]
fn at_the_deadline_no_destructor_has_children() {
    for is_queue in [false, true] {
        let ex = untimed();
        let queue = ex.new_queue("q").create().unwrap();
        let (late, own) = (Rc::new(RefCell::new(None)), queue.clone());
        let slot = Rc::clone(&late);
        queue.spawn(hold(OnDrop::new(move || *slot.borrow_mut() = Some(own.spawn(async {})))));
        settle(&ex);
        let report = match is_queue {
            true => ex.block_on(queue.drain(ready(()))),
            false => futures::executor::block_on(ex.drain(ready(()))),
        };
        assert_eq!(numbers(report), (0, 1, 0, false));
        assert!(output(late.take().unwrap()).unwrap_err().is_refused());
    }
}

#[test]
fn what_was_sent_before_is_taken_in() {
    let ex = untimed();
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn(|| async {}));
    assert_eq!(numbers(futures::executor::block_on(ex.drain(pending::<()>()))), (1, 0, 0, true));
    assert!(output(task).is_ok());
}

#[test]
fn a_child_that_is_still_on_its_way_is_waited_for() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let start = Signal::new();
    let started = start.clone();
    let task = queue.spawn(async move {
        started.wait().await;
        // It is admitted when its parent is gone.
        Some(Handle::current()?.spawn_on("q", || async {}))
    });
    let mut drain = begin(&ex, &queue);
    start.set();
    assert_eq!(numbers(settle_run(Pin::new(&mut drain)).unwrap()), (2, 0, 0, true));
    assert!(output(output(task).unwrap().unwrap()).is_ok());
}

#[test]
fn a_child_spawned_while_its_parent_unwinds_is_let_in() {
    let ex = untimed();
    let start = Signal::new();
    let started = start.clone();
    ex.spawn(async move {
        let _guard = OnDrop::new(|| drop(spawn_local(async {})));
        started.wait().await;
        panic_as_meant("while it drains");
    });
    settle(&ex);
    let mut drain = pin!(ex.drain(pending::<()>()));
    assert_eq!(settle_run(drain.as_mut()), None);
    start.set();
    assert_eq!(numbers(settle_run(drain).unwrap()), (1, 0, 1, true));
}

#[test]
fn a_task_of_an_open_queue_is_an_outsider() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let probe = Probe::new();
    queue.spawn(probe.future());
    let mut drain = begin(&ex, &queue);
    let own = queue.clone();
    let stranger = ex.spawn(async move {
        let (spawned, moved) = (own.spawn(async {}).await, move_to(&own).await);
        let by_handle = Handle::current().unwrap().spawn_on("q", || async {}).await;
        spawned.unwrap_err().is_refused() && moved.is_err() && by_handle.unwrap_err().is_refused()
    });
    assert_eq!(settle_run(Pin::new(&mut drain)), None);
    assert!(output(stranger).unwrap());
    let stuck = ex.spawn(pending::<()>());
    assert!(stuck.move_to(&queue).is_err());
    probe.finish();
    // What the handle sent was refused when it came in, and counts as any that is sent too late.
    assert_eq!(numbers(settle_run(Pin::new(&mut drain)).unwrap()), (1, 1, 0, true));
}

#[test]
fn queues_are_found_by_children_only() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let closed = ex.new_queue("closed").create().unwrap();
    closed.spawn(pending::<()>());
    let start = Signal::new();
    let started = start.clone();
    let outside = ex.handle();
    let task = queue.spawn(async move {
        let inside = Handle::current().unwrap();
        started.wait().await;
        let find = |name| (Queue::find(name).is_some(), inside.has_queue(name), outside.has_queue(name));
        assert_eq!((find("q"), find("closed")), ((true, true, false), (false, false, false)));
        assert_eq!((inside.is_stopped(), outside.is_stopped()), (false, true));
        assert_eq!((inside.queue_names().len(), outside.queue_names().len()), (2, 0));
    });
    settle(&ex);
    closed.close();
    let deadline = Signal::new();
    let mut drain = pin!(ex.drain(deadline.wait()));
    assert_eq!(settle_run(drain.as_mut()), None);
    let handle = ex.handle();
    drop(elsewhere(|| handle.spawn_on("q", || async {})));
    assert_eq!(ex.stats().refused, 1);
    assert!(ex.queue("q").is_none() && ex.new_queue("new").create().unwrap_err().is_stopped());
    start.set();
    assert_eq!(settle_run(drain.as_mut()), None);
    output(task).unwrap();
    deadline.set();
    assert_eq!(numbers(settle_run(drain).unwrap()), (1, 1, 0, false));
}

#[test]
fn tasks_of_a_closed_queue_are_under_way_too_but_it_stays_closed() {
    let ex = untimed();
    let (closed, open) = (ex.new_queue("closed").create().unwrap(), ex.new_queue("open").create().unwrap());
    let start = Signal::new();
    let (started, other) = (start.clone(), open.clone());
    let task = closed.spawn(async move {
        started.wait().await;
        (spawn_local(async {}).await.is_err(), other.spawn(async {}).await.is_ok())
    });
    settle(&ex);
    closed.close();
    let mut drain = pin!(ex.drain(pending::<()>()));
    assert_eq!(settle_run(drain.as_mut()), None);
    start.set();
    assert_eq!(numbers(settle_run(drain).unwrap()), (2, 0, 0, true));
    assert_eq!(output(task).unwrap(), (true, true));
}

/// Who refuses children once goes on with that, and a drain that was dropped may be followed by it.
#[test]
fn the_stricter_end_counts() {
    for first_drains in [true, false] {
        for (ends_queue, dropped) in [(false, true), (true, true), (true, false)] {
            let ex = untimed();
            let queue = ex.new_queue("q").create().unwrap();
            let start = Signal::new();
            let started = start.clone();
            let task = queue.spawn(async move {
                started.wait().await;
                spawn_local(async {}).await
            });
            settle(&ex);
            let ends: [bool; 2] = [first_drains, !first_drains];
            let end = |drains| -> Pin<Box<dyn Future<Output = ShutdownReport> + '_>> {
                match (ends_queue, drains) {
                    (false, true) => Box::pin(ex.drain(pending::<()>())),
                    (false, false) => Box::pin(ex.shutdown(pending::<()>())),
                    (true, true) => Box::pin(ex.run_until(queue.drain(pending::<()>()))),
                    (true, false) => Box::pin(ex.run_until(queue.retire(pending::<()>()))),
                }
            };
            let [mut first, mut second] = ends.map(end);
            assert_eq!(settle_run(Pin::new(&mut first)), None);
            if dropped {
                drop(first);
            }
            assert_eq!(settle_run(Pin::new(&mut second)), None);
            start.set();
            assert_eq!(numbers(settle_run(Pin::new(&mut second)).unwrap()), (1, 0, 0, true));
            assert!(output(task).unwrap().unwrap_err().is_refused());
        }
    }
}

#[test]
fn a_drain_that_is_dropped_goes_on() {
    for is_queue in [true, false] {
        let ex = untimed();
        let queue = ex.new_queue("q").create().unwrap();
        let start = Signal::new();
        let started = start.clone();
        let task = queue.spawn(async move {
            started.wait().await;
            spawn_local(yields(2)).await
        });
        match is_queue {
            true => drop(begin(&ex, &queue)),
            false => assert_eq!(settle_run(pin!(ex.drain(pending::<()>()))), None),
        }
        assert!(output(queue.spawn(async {})).unwrap_err().is_refused());
        start.set();
        settle(&ex);
        assert!(output(task).unwrap().is_ok());
        assert_eq!(ex.queues().len(), if is_queue { 1 } else { 2 });
    }
}

#[test]
fn closing_a_queue_that_only_waits_for_its_siblings_lets_it_go() {
    let ex = untimed();
    let parent = ex.new_queue("parent").create().unwrap();
    let [busy, empty] = ["busy", "empty"].map(|name| parent.new_queue(name).create().unwrap());
    let probe = Probe::new();
    busy.spawn(probe.future());
    let mut drain = begin(&ex, &parent);
    let names = || ex.queues().iter().map(Queue::name).collect::<Vec<_>>();
    assert_eq!(names(), ["default", "parent", "busy", "empty"]);
    empty.close();
    assert_eq!(names(), ["default", "parent", "busy"]);
    probe.finish();
    assert!(settle_run(Pin::new(&mut drain)).unwrap().drained);
    assert_eq!(names(), ["default"]);
}

#[test]
fn a_queue_that_has_drained_takes_no_child_of_another() {
    let ex = untimed();
    let (one, two) = (ex.new_queue("one").create().unwrap(), ex.new_queue("two").create().unwrap());
    let start = Signal::new();
    let (started, other) = (start.clone(), two.clone());
    let task = one.spawn(async move {
        started.wait().await;
        (other.spawn(async {}).await, other.spawn_when_room(async {}).await.is_err())
    });
    let mut drain = begin(&ex, &one);
    assert_eq!(numbers(ex.block_on(two.drain(pending::<()>()))), (0, 0, 0, true));
    start.set();
    assert!(settle_run(Pin::new(&mut drain)).unwrap().drained);
    let (spawned, is_refused) = output(task).unwrap();
    assert!(spawned.unwrap_err().is_refused() && is_refused);
}

#[test]
fn of_those_in_line_children_keep_their_places() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(4).create().unwrap();
    let probe = Probe::new();
    queue.spawn(probe.future());
    let order = Rc::new(RefCell::new(Vec::new()));
    let waits = |name: &'static str| {
        let (queue, order) = (queue.clone(), Rc::clone(&order));
        async move {
            let noted = Rc::clone(&order);
            let child = queue.spawn_when_room(async move { noted.borrow_mut().push(name) }).await;
            child.map_or("refused", |_| "taken")
        }
    };
    let tasks = ["one", "two", "three"].map(|name| queue.spawn(waits(name)));
    settle(&ex);
    let outsider = ex.spawn(waits("outsider"));
    settle(&ex);
    let mut drain = begin(&ex, &queue);
    assert_eq!(output(outsider).unwrap(), "refused");
    probe.finish();
    assert_eq!(numbers(settle_run(Pin::new(&mut drain)).unwrap()), (7, 0, 0, true));
    assert!(tasks.into_iter().all(|task| output(task).unwrap() == "taken"));
    assert_eq!(*order.borrow(), ["one", "two", "three"]);
}

#[test]
fn who_stands_in_line_of_a_queue_that_goes_is_told() {
    let ex = untimed();
    let (one, two) =
        (ex.new_queue("one").create().unwrap(), ex.new_queue("two").max_live(1).create().unwrap());
    let probe = Probe::new();
    two.spawn(probe.future());
    let own = two.clone();
    let task =
        one.spawn(async move { own.spawn_when_room(async {}).await.map_err(|error| error.is_closed()) });
    let mut first = begin(&ex, &one);
    let mut second = begin(&ex, &two);
    two.close();
    settle(&ex);
    assert!(output(task).unwrap().unwrap_err());
    assert!(settle_run(Pin::new(&mut first)).unwrap().drained);
    probe.finish();
    assert!(settle_run(Pin::new(&mut second)).unwrap().drained);
}

#[test]
fn a_request_to_stop_reaches_all_who_wait_and_those_who_come_later() {
    let ex = untimed();
    let handle = ex.handle();
    let (wakes, waker) = CountingWaker::new();
    let both = async { futures::join!(ex.stop_requested(), ex.stop_requested()) };
    let mut both = Box::pin(ex.run_until(both));
    assert!(poll_with(&mut both, &waker).is_pending());
    {
        let mut given_up = Box::pin(ex.stop_requested());
        assert!(poll_with(&mut given_up, &waker).is_pending());
    }
    let before = wakes.count();
    elsewhere(|| handle.request_stop());
    assert_eq!(wakes.count(), before + 1, "the host is woken");
    assert!(poll_with(&mut both, &waker).is_ready());
    handle.request_stop();
    assert!(ex.stop_requested().now_or_never().is_some());
    drop(both);
    // Nothing else has happened.
    let task = ex.spawn(async {});
    settle(&ex);
    assert!(output(task).is_ok() && !handle.is_stopped());
    drop(ex);
    handle.request_stop();
}

#[test]
fn a_request_to_stop_before_the_first_run_counts() {
    let ex = untimed();
    ex.handle().request_stop();
    let seen = Cell::new(false);
    let main = async {
        ex.stop_requested().await;
        seen.set(true);
    };
    assert_eq!(settle_run(pin!(ex.run_until(main))), Some(()));
    assert!(seen.get());
}

#[test]
fn a_queues_handle_is_an_outsider_unless_a_task_made_it() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let outside = queue.handle();
    let (signal, own) = (Signal::new(), queue.clone());
    let waited = signal.clone();
    let request = queue.spawn(async move {
        waited.wait().await;
        let inside = own.handle();
        let spawned = [inside.spawn(|| async { 1 }), outside.spawn(|| async { 2 })];
        let elsewhere = elsewhere(move || inside.spawn(|| async { 3 }));
        (futures::future::join_all(spawned).await, elsewhere.await)
    });
    let mut drain = begin(&ex, &queue);
    signal.set();
    let report = settle_run(Pin::new(&mut drain)).unwrap();
    let (spawned, elsewhere) = output(request).unwrap();
    let results: Vec<_> = spawned.into_iter().chain([elsewhere]).map(Result::ok).collect();
    assert_eq!(results, [Some(1), None, Some(3)]);
    assert_eq!((report.completed, report.drained), (3, true));
}
