//! Arrivals: tasks that came to a queue and that its scheduler has not got yet.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use clockworker::schedulers::{Gone, Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, Queue, yield_now};

use crate::support::*;

fn logged<const PER_TASK: bool>(log: &Log) -> (Executor, Queue) {
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(Spy::<PER_TASK>::fifo().logging(log)).create().unwrap();
    (ex, queue)
}

/// The drop of the first task changes the scheduler, while the second is aborted and still to be dropped.
#[test]
fn a_new_scheduler_hears_nothing_of_an_aborted_task_that_no_scheduler_had() {
    let (ex, log) = (untimed(), Log::default());
    let queue = ex.new_queue("q").scheduler(Spy::<false>::fifo()).create().unwrap();
    let (changed, new) = (queue.clone(), log.clone());
    let first = queue.spawn(hold(OnDrop::new(move || {
        changed.set_scheduler(Spy::<false>::fifo().logging(&new)).unwrap();
    })));
    let second = queue.new_task().tag(7).priority(3).spawn(async {});
    first.abort();
    second.abort();
    settle(&ex);
    assert_eq!(log.take_only(&["spawned", "push", "finished"]), "");
}

/// Its group pays for the drop, so the scheduler hears of its end, too.
#[test]
fn of_a_task_aborted_before_it_was_pushed_the_drop_is_served() {
    let log = Log::default();
    let (ex, queue) = logged::<true>(&log);
    let group = queue.group(7);
    group.spawn(async {}).abort();
    settle(&ex);
    let calls = log.take_only(&["push", "served", "finished"]);
    assert_eq!(calls, "served 1 of 0 0, finished 1");
    queue.spawn(async {}).abort();
    settle(&ex);
    assert_eq!(
        log.take_only(&["push", "served", "finished"]),
        "",
        "no group is charged for a task without one"
    );
}

/// It is aborted in the poll in which it came, and its future is dropped in the next slice.
#[test]
fn an_aborted_task_is_not_handed_over() {
    let log = Log::default();
    let (ex, queue) = logged::<false>(&log);
    let inner = queue.clone();
    let task = queue.spawn(async move {
        inner.spawn(async {}).abort();
        yield_now().await;
        inner.stats().ready
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), 0);
    assert_eq!(log.take_only(&["push", "finished"]), "push 0 of 0 Spawned, push 0 of 0 Yielded, finished 0");
    assert_eq!(queue.stats().policy_fault, None);
}

/// First in, first out. Counts how often it was drained, and how often while a task was ready.
#[derive(Default)]
struct Drained {
    ready: VecDeque<TaskId>,
    times: Rc<Cell<u32>>,
}

impl Scheduler for Drained {
    fn push(&mut self, task: Task, _why: Ready) {
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
    }

    fn gone(&mut self, gone: Gone) {
        if gone == Gone::Backlog {
            self.times.set(self.times.get() + 1);
        }
    }
}

/// More tasks than are handed over at a time are aborted, and one after them is ready.
#[test]
fn it_is_drained_once_nothing_is_left() {
    let (ex, scheduler) = (untimed(), Drained::default());
    let times = Rc::clone(&scheduler.times);
    let queue = ex.new_queue("q").scheduler(scheduler).create().unwrap();
    let (inner, seen) = (queue.clone(), Rc::clone(&times));
    let task = queue.spawn(async move {
        let doomed: Vec<_> = (0..30).map(|_| inner.spawn(async {})).collect();
        doomed.iter().for_each(|task| task.abort());
        let last = inner.spawn(async move { seen.get() });
        last.await.unwrap()
    });
    settle(&ex);
    assert_eq!((output(task).unwrap(), times.get()), (0, 1));
}

/// Who yields comes behind all that became ready before, however many they are.
#[test]
fn a_task_that_yields_comes_after_what_it_spawned_and_woke() {
    for spawns in [true, false] {
        let ex = untimed();
        let queue = ex.new_queue("q").scheduler(RunnableFifo::new()).create().unwrap();
        let polled = Rc::new(Cell::new(0));
        let signals: Vec<_> = (0..300).map(|_| Signal::new()).collect();
        let one = |signal: Signal| {
            let polled = Rc::clone(&polled);
            async move {
                signal.wait().await;
                polled.set(polled.get() + 1);
            }
        };
        if !spawns {
            signals.iter().for_each(|signal| drop(queue.spawn(one(signal.clone()))));
            settle(&ex);
        }
        let (inner, seen) = (queue.clone(), Rc::clone(&polled));
        let ones: Vec<_> = signals.iter().cloned().map(one).collect();
        let task = queue.spawn(async move {
            signals.iter().for_each(Signal::set);
            if spawns {
                ones.into_iter().for_each(|one| drop(inner.spawn(one)));
            }
            yield_now().await;
            seen.get()
        });
        settle(&ex);
        assert_eq!(output(task).unwrap(), 300, "spawns: {spawns}");
    }
}

/// A scheduler takes a microsecond for each task that it is given.
#[test]
fn no_poll_pays_for_the_arrivals_of_others() {
    let ex = world();
    let slow = Spy::<true>::fifo().listening(|call| {
        if let Call::Push(..) = call {
            work(us(1));
        }
    });
    let queue = ex.new_queue("slow").scheduler(slow).create().unwrap();
    let [victim, other] = [1, 2].map(|key| queue.group(key));
    drop(victim.spawn(async { work(us(3)) }));
    (0..200).for_each(|_| drop(other.spawn(async { work(us(3)) })));
    drain(&ex);
    assert_eq!(victim.stats().busy, Some(us(3)));
    assert_eq!(queue.stats().busy, us(4 * 201));
}
