//! What other threads are told that the executor does at a moment.

use std::cell::RefCell;
use std::future::pending;
use std::panic::Location;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::task::Context;
use std::thread;

use clockworker_observe::{Activity, ActivityKind, Holder, Observation, Observe, Observer, PollKind};

use super::observing;
use crate::support::*;

const ACTIVITY: Observation = Observation::new().activity();

/// What another thread is told now.
fn seen(observer: &Observer) -> Option<Activity> {
    elsewhere(|| observer.activity())
}

/// Who is polled, from when on and for how long.
fn holder(seen: Option<Activity>) -> (Holder, u128, u128) {
    match seen {
        Some(Activity { kind: ActivityKind::Poll(holder), since, so_far, .. }) => {
            (holder, since.as_micros(), so_far.as_micros())
        }
        other => panic!("no poll: {other:?}"),
    }
}

fn line_of(place: Option<&'static Location<'static>>) -> Option<(&'static str, u32)> {
    place.map(|place| (place.file(), place.line()))
}

/// The poll waits until another thread has asked, without which it would wait for ever.
#[test]
fn a_poll_that_hangs_is_told_with_all_that_is_known() {
    let ex = observing(ACTIVITY);
    let (observer, tenants) = (ex.observer(), ex.new_queue("tenants").create().unwrap());
    let acme = tenants.new_group(42).name("Acme").open().unwrap();
    let ((ask, asked), (tell, told)) = (channel(), channel());
    let asker = thread::spawn(move || {
        asked.recv().unwrap();
        tell.send(observer.activity()).unwrap();
    });
    ex.spawn(polls("", 1, us(7)));
    work(us(10));
    let (line, export) = (
        line!(),
        acme.new_task().name("export").spawn(async move {
            work(us(30));
            ask.send(()).unwrap();
            told.recv().unwrap()
        }),
    );
    let id = export.id();
    let seen = ex.block_on(export).unwrap();
    asker.join().unwrap();
    let text = seen.as_ref().unwrap().to_string();
    let (holder, since, so_far) = holder(seen);
    assert_eq!((since, so_far), (17, 30), "the poll before it has taken 7 µs, from 10 on");
    assert_eq!(
        (holder.kind, holder.task, holder.task_name.as_deref()),
        (PollKind::Task, Some(id), Some("export"))
    );
    let home = (holder.queue.as_deref(), holder.group, holder.group_name.as_deref());
    assert_eq!(home, (Some("tenants"), Some(42), Some("Acme")));
    let place = line_of(holder.spawned_at).unwrap();
    assert!(place.0 == file!() && (line..line + 3).contains(&place.1), "{place:?}");
    let expected =
        format!("for 30.0µs: a poll of queue 'tenants', group 42 'Acme', task {id} 'export', spawned at ");
    assert!(text.starts_with(&expected) && text.lines().count() == 1, "{text}");
}

#[test]
fn a_poll_of_the_main_future_is_told() {
    let ex = observing(ACTIVITY);
    let observer = ex.observer();
    work(us(3));
    let seen = ex.block_on(async {
        work(us(5));
        seen(&observer)
    });
    assert_eq!(seen.as_ref().unwrap().to_string(), "for 5.0µs: a poll of the main future");
    let (holder, since, so_far) = holder(seen);
    assert_eq!((holder.kind, since, so_far), (PollKind::Main, 3, 5));
    assert_eq!((holder.queue, holder.task, holder.spawned_at), (None, None, None));
}

/// What an aborted task holds asks as it is dropped; so does what one holds that has ended, which is part of its poll.
#[test]
fn a_drop_is_told() {
    for (abort, kind) in [(true, PollKind::Drop), (false, PollKind::Task)] {
        let ex = observing(ACTIVITY);
        let (observer, dropped) = (ex.observer(), Rc::new(RefCell::new(None)));
        let told = Rc::clone(&dropped);
        let held = OnDrop::new(move || {
            work(us(40));
            told.replace(seen(&observer));
        });
        let task = ex.spawn(async move {
            let _held = held;
            if abort {
                pending().await
            }
        });
        let id = task.id();
        if abort {
            settle(&ex);
            task.abort();
        }
        settle(&ex);
        let (holder, _, so_far) = holder(dropped.take());
        assert_eq!((holder.kind, holder.task, so_far), (kind, Some(id), 40));
        assert_eq!(holder.queue.as_deref(), Some("default"));
    }
}

#[test]
fn a_host_that_has_the_thread_is_told_since_it_has() {
    let ex = observing(ACTIVITY);
    let observer = ex.observer();
    work(us(20));
    let told = seen(&observer).unwrap();
    assert_eq!((told.kind, told.since, told.so_far), (ActivityKind::Host, us(0), us(20)));
    ex.spawn(polls("", 1, us(100)));
    settle(&ex);
    work(us(1_000));
    let told = seen(&observer).unwrap();
    assert_eq!((told.since, told.so_far), (us(120), us(1_000)));
    assert_eq!(told.to_string(), "for 1.0ms: the host has the thread");
}

/// The main future waits for a thread that looks until it has seen that the executor sleeps.
#[test]
fn a_parked_executor_is_in_the_hands_of_its_host() {
    let ex = observing(ACTIVITY);
    let observer = ex.observer();
    serve(&ex, move || {
        while observer.activity().unwrap().kind != ActivityKind::Host {
            thread::yield_now();
        }
    });
}

/// At the end of a turn with work left the executor wakes its host.
#[test]
fn a_turn_that_polls_nothing_is_told_since_it_began() {
    let ex = observing(ACTIVITY);
    let (observer, woken) = (ex.observer(), Rc::new(RefCell::new(None)));
    let told = Rc::clone(&woken);
    let host = HookedWaker::new(WakerCall::Wake, move || drop(told.replace(seen(&observer))));
    ex.spawn(compute(us(700)));
    work(us(9));
    let run = pin!(ex.run_until(pending::<()>()));
    assert!(run.poll(&mut Context::from_waker(&host.waker())).is_pending());
    let told = woken.take().unwrap();
    assert_eq!((&told.kind, told.since, told.so_far), (&ActivityKind::BetweenPolls, us(9), us(700)));
    assert_eq!(told.to_string(), "for 700.0µs: a turn of the executor, between polls");
}

#[test]
fn nothing_is_told_unless_it_is_asked_for_and_once_the_executor_is_gone() {
    let ex = observing(Observation::new());
    let early = ex.observer();
    ex.observe(ACTIVITY).unwrap();
    assert_eq!(early.activity(), None, "it was made before");
    let observer = ex.observer();
    assert_eq!(seen(&observer).unwrap().kind, ActivityKind::Host);
    ex.observe(Observation::new()).unwrap();
    assert_eq!(seen(&observer), None);
    ex.observe(ACTIVITY).unwrap();
    assert!(seen(&observer).is_some());
    ex.set_probe(None);
    assert_eq!(seen(&observer), None, "nothing listens");
    ex.observe(ACTIVITY).unwrap();
    let observer = ex.observer();
    assert!(seen(&observer).is_some());
    drop(ex);
    assert_eq!(seen(&observer), None);
}

/// What is asked for inside a poll is shown from the next one on, and the turn is known where one is listened to already.
#[test]
fn it_may_be_asked_for_in_a_task() {
    let ex = Rc::new(observing(Observation::new()));
    let inner = Rc::clone(&ex);
    work(us(4));
    let task = ex.spawn(async move {
        work(us(2));
        inner.observe(ACTIVITY).unwrap();
        let first = seen(&inner.observer()).unwrap();
        clockworker::yield_now().await;
        work(us(1));
        (first, holder(seen(&inner.observer())))
    });
    let (first, (second, since, so_far)) = ex.block_on(task).unwrap();
    assert_eq!((first.kind, first.since, first.so_far), (ActivityKind::BetweenPolls, us(4), us(2)));
    assert_eq!((second.kind, since, so_far), (PollKind::Task, 6, 1));
}
