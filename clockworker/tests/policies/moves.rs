//! What the schedulers of two queues hear when a task moves from one to the other.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use clockworker::schedulers::{Attributes, Ready, Scheduler, Served, Task, TaskId};
use clockworker::{Executor, JoinHandle, ManualClock, MoveError, Queue, move_to, yield_now};
use futures::channel::oneshot;

use crate::support::*;

const HEARD: [&str; 5] = ["push", "finished", "group_opened", "group_closed", "spawned"];

fn two(poll_cap: u32) -> (Executor, [Queue; 2], [Log; 2]) {
    let ex = Executor::builder().clock(ManualClock::new()).poll_cap(poll_cap).build().unwrap();
    let logs = [Log::default(), Log::default()];
    let of = |at: usize| {
        let spy = Spy::<true>::fifo().logging(&logs[at]);
        ex.new_queue(["one", "other"][at]).scheduler(spy).create().unwrap()
    };
    let queues = [of(0), of(1)];
    (ex, queues, logs)
}

/// Moves the task and goes on; what both heard.
fn heard(ex: &Executor, task: &JoinHandle<()>, to: &Queue, logs: &[Log; 2]) -> [String; 2] {
    logs.iter().for_each(|log| drop(log.take()));
    task.move_to(to).unwrap();
    settle(ex);
    [logs[0].take_only(&HEARD), logs[1].take_only(&HEARD)]
}

#[test]
fn a_task_that_waits_finishes_in_one_and_is_spawned_in_the_other() {
    let (ex, [one, other], logs) = two(1_000);
    let (_gate, opened) = oneshot::channel::<()>();
    let task = one.spawn(async { opened.await.unwrap_or_default() });
    settle(&ex);
    assert_eq!(heard(&ex, &task, &other, &logs), ["finished 0, group_closed 0", "push 0 of 0 Spawned"]);
}

#[test]
fn of_a_task_that_was_not_handed_over_the_first_hears_nothing() {
    let (ex, [one, other], logs) = two(1_000);
    let task = one.spawn(async {});
    let [first, second] = heard(&ex, &task, &other, &logs);
    assert_eq!((first.as_str(), second.as_str()), ("", "push 0 of 0 Spawned, finished 0, group_closed 0"));
}

#[test]
fn of_a_task_that_it_has_the_first_hears_when_it_gives_it_out() {
    let (ex, [one, other], logs) = two(1);
    let task = one.spawn(yield_now());
    tick(&ex);
    let [first, second] = heard(&ex, &task, &other, &logs);
    assert_eq!(
        (first.as_str(), second.as_str()),
        ("finished 0, group_closed 0", "push 0 of 0 Spawned, finished 0, group_closed 0")
    );
}

#[test]
fn groups_are_opened_and_closed_and_attributes_told() {
    let (ex, [one, other], logs) = two(1_000);
    let group = one.new_group(7).weight(3).open().unwrap();
    let there = other.clone();
    let task = group.new_task().priority(5).spawn(async move { move_to(&there).await.unwrap() });
    drop(group);
    settle(&ex);
    assert!(task.is_finished());
    let [first, second] = [logs[0].take_only(&HEARD), logs[1].take_only(&HEARD)];
    assert_eq!(
        first,
        "group_opened 0 for 7 w3, spawned 1 of 0 p5, push 1 of 0 Spawned, finished 1, group_closed 0"
    );
    assert_eq!(
        second,
        "group_opened 0 for 7 w3, spawned 1 of 0 p5, push 1 of 0 Spawned, finished 1, group_closed 0"
    );
}

#[test]
fn a_scheduler_moves_nothing_while_it_is_called() {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    type Subject = Option<(JoinHandle<()>, Queue)>;
    let task = Rc::new(RefCell::new(Subject::None));
    let said: Rc<RefCell<Vec<MoveError>>> = Rc::default();
    let (subject, noted) = (Rc::clone(&task), Rc::clone(&said));
    let spy = Spy::<true>::fifo().listening(move |_| {
        if let Some((task, to)) = &*subject.borrow() {
            noted.borrow_mut().extend(task.move_to(to).err());
        }
    });
    let one = ex.new_queue("one").scheduler(spy).create().unwrap();
    let other = ex.new_queue("other").create().unwrap();
    let waits = one.spawn(std::future::pending());
    settle(&ex);
    task.replace(Some((waits, other.clone())));
    one.spawn(yield_now());
    drop(one.group(7));
    settle(&ex);
    let (waits, other) = task.take().unwrap();
    assert!(!said.borrow().is_empty() && said.borrow().iter().all(MoveError::is_busy));
    waits.move_to(&other).unwrap();
    assert_eq!((one.stats().policy_fault, one.stats().moved), (None, 1));
}

/// A scheduler that panics when it hears of the move loses its place, and no task is lost.
#[test]
fn a_fault_at_a_move_is_one_of_the_scheduler() {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    let spy = Spy::<true>::fifo().listening(|call| {
        assert!(!matches!(call, Call::Finished(_) | Call::GroupOpened(..)), "meant");
    });
    let one = ex.new_queue("one").scheduler(spy).create().unwrap();
    let spy = Spy::<true>::fifo().listening(|call| {
        let is_told = |attributes: &Attributes| attributes.weight.get() == 3;
        assert!(!matches!(call, Call::GroupOpened(_, _, given) if is_told(given)), "meant");
    });
    let other = ex.new_queue("other").scheduler(spy).create().unwrap();
    let tasks = [(); 2].map(|()| {
        let there = other.clone();
        one.spawn(async move {
            move_to(&there).await.unwrap();
            yield_now().await;
        })
    });
    settle(&ex);
    assert!(tasks.iter().all(JoinHandle::is_finished) && one.stats().policy_fault.is_some());
    let there = other.clone();
    let group = one.new_group(7).weight(3).open().unwrap();
    let task = group.spawn(async move { move_to(&there).await.unwrap() });
    settle(&ex);
    assert!(task.is_finished() && other.stats().policy_fault.is_some());
    assert_eq!((other.stats().completed, one.stats().moved), (3, 3));
}

/// Gives out the last task first, but for one. Tells whether what is served and pushed again is what it gave out last.
struct Favours {
    slot: usize,
    tasks: Vec<TaskId>,
    last: Option<TaskId>,
    others: Rc<Cell<u32>>,
}

impl Favours {
    fn is_last(&self, task: Task) {
        self.others.update(|others| others + u32::from(self.last != Some(task.id)));
    }
}

impl Scheduler for Favours {
    fn push(&mut self, task: Task, why: Ready) {
        if why == Ready::Yielded {
            self.is_last(task);
        }
        self.tasks.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let favoured = self.tasks.iter().position(|id| id.slot() == self.slot);
        self.last = favoured.map(|at| self.tasks.remove(at)).or_else(|| self.tasks.pop());
        self.last
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        if let Served::Task { task, .. } = served {
            self.is_last(task);
        }
    }
}

/// A task moves so many of its own queue that those are swept which the scheduler keeps. Not in its own poll.
#[test]
fn a_scheduler_is_not_swept_while_a_task_that_it_gave_out_is_polled() {
    const TASKS: usize = 2_000;
    let (ex, others) = (hosted_builder().poll_cap(64).build().unwrap(), Rc::new(Cell::new(0)));
    let favours = Favours { slot: TASKS, tasks: Vec::new(), last: None, others: Rc::clone(&others) };
    let one = ex.new_queue("one").scheduler(favours).create().unwrap();
    let other = ex.new_queue("other").create().unwrap();
    let spawn = |_| one.spawn(async { std::future::pending::<()>().await });
    let mut tasks: Vec<_> = (0..TASKS).map(spawn).collect();
    let (to, mut polls) = (other.clone(), 0);
    let mover = one.spawn(poll_fn(move |cx| {
        polls += 1;
        let moved = match polls {
            50 => 1_500,
            _ if polls % 100 == 0 => 1,
            _ => 0,
        };
        tasks.drain(..moved).for_each(|task| task.move_to(&to).unwrap());
        cx.waker().wake_by_ref();
        if polls < 20_000 { Poll::Pending } else { Poll::Ready(()) }
    }));
    while !mover.is_finished() {
        tick(&ex);
    }
    assert_eq!((one.stats().moved, others.get(), one.stats().policy_fault), (1_700, 0, None));
}

/// The waker of a parked host is foreign code. It finds the move made: here it gives the queue another scheduler.
#[test]
fn the_host_is_woken_once_both_schedulers_have_heard() {
    let (ex, [one, other], logs) = two(1_000);
    let (_gate, opened) = oneshot::channel::<()>();
    let group = one.new_group(7).open().unwrap();
    let task = group.spawn(async { opened.await.unwrap_or_default() });
    drop(group);
    let log = Log::default();
    let (queue, next) = (one.clone(), Spy::<true>::fifo().logging(&log));
    let hooked = HookedWaker::new(WakerCall::Wake, move || queue.set_scheduler(next).unwrap());
    let mut run = Box::pin(ex.run_until(std::future::pending::<()>()));
    while poll_with(&mut run, &hooked.waker()).is_pending() && task.is_finished() {}
    logs.iter().for_each(|log| drop(log.take()));
    task.move_to(&other).unwrap();
    assert!(hooked.is_done());
    assert_eq!(log.take_only(&HEARD), "");
    assert_eq!(logs[0].take_only(&HEARD), "finished 1, group_closed 0");
    drop(run);
}
