//! [`Queue::set_scheduler`]: another order for a queue whose tasks run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::{
    ArrivalFifo, Attributes, GroupId, Las, Ready, RunnableFifo, Scheduler, Task, TaskId,
};
use clockworker::{Executor, PolicyFault, Queue, spawn_local, yield_now};
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile};
use clockworker_testing::policy::Policy;

use crate::support::{
    Random, Signal, assert_balanced, assert_finished, output, panic_as_meant, settle, tick, untimed, yields,
};

type Notes = Rc<RefCell<Vec<String>>>;

/// Last in, first out; notes what it is told, and calls something when it is dropped.
struct Lifo {
    ready: Vec<TaskId>,
    notes: Notes,
    at_drop: Box<dyn Fn()>,
}

impl Lifo {
    fn new(notes: &Notes) -> Self {
        Self { ready: Vec::new(), notes: Rc::clone(notes), at_drop: Box::new(|| {}) }
    }
}

impl Scheduler for Lifo {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        self.notes.borrow_mut().push(format!("push {} {why:?}", task.id.slot()));
        self.ready.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop()
    }

    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        let note = format!("opened {} for {key} w{}", group.index(), attributes.weight.get());
        self.notes.borrow_mut().push(note);
    }

    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        let note = format!("spawned {} p{}", task.id.slot(), attributes.priority.unwrap_or_default());
        self.notes.borrow_mut().push(note);
    }
}

impl Drop for Lifo {
    fn drop(&mut self) {
        (self.at_drop)();
    }
}

/// Says its number at each of its polls.
async fn says(number: usize, polls: usize, order: Rc<RefCell<Vec<usize>>>) {
    for poll in 0..polls {
        order.borrow_mut().push(number);
        if poll + 1 < polls {
            yield_now().await;
        }
    }
}

fn fifo(ex: &Executor) -> Queue {
    ex.new_queue("q").scheduler(RunnableFifo::new()).create().unwrap()
}

#[test]
fn ready_tasks_go_over_in_the_old_order_after_groups_and_attributes() {
    let (ex, notes, unheard) = (untimed(), Notes::default(), Notes::default());
    let queue = ex.new_queue("q").scheduler(Lifo::new(&unheard)).create().unwrap();
    let group = queue.new_group(7).weight(3).open().unwrap();
    let waits = queue.new_task().priority(2).spawn(pending::<()>());
    settle(&ex);
    for _ in 0..3 {
        group.spawn(async {});
    }
    queue.set_scheduler(Lifo::new(&notes)).unwrap();
    let told = ["opened 0 for 7 w3", "spawned 1 p2", "push 4 Woken", "push 3 Woken", "push 2 Woken"];
    assert_eq!(*notes.borrow(), told);
    settle(&ex);
    assert_eq!(queue.stats().live, 1);
    waits.abort();
    settle(&ex);
    assert_finished(&ex.stats(), 3, 1, 0);
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn the_order_is_the_new_schedulers_from_then_on() {
    let (ex, order) = (untimed(), Rc::default());
    let queue = fifo(&ex);
    for number in 0..4 {
        queue.spawn(says(number, 1, Rc::clone(&order)));
    }
    queue.set_scheduler(Lifo::new(&Notes::default())).unwrap();
    settle(&ex);
    assert_eq!(*order.borrow(), [3, 2, 1, 0]);
}

#[test]
fn a_task_changes_the_scheduler_of_its_own_queue_after_its_poll() {
    let (ex, order): (_, Rc<RefCell<Vec<usize>>>) = (untimed(), Rc::default());
    let (queue, notes) = (fifo(&ex), Notes::default());
    let (changed, new) = (Rc::clone(&order), Rc::clone(&notes));
    queue.spawn(async move {
        changed.borrow_mut().push(0);
        let own = Queue::current().unwrap();
        own.set_scheduler(Lifo::new(&new)).unwrap();
        assert!(new.borrow().is_empty(), "after the poll");
        drop(spawn_local(says(9, 1, Rc::clone(&changed))));
        yield_now().await;
        assert!(format!("{own:?}").contains("Lifo"), "{own:?}");
        changed.borrow_mut().push(10);
    });
    for number in 1..4 {
        queue.spawn(says(number, 1, Rc::clone(&order)));
    }
    settle(&ex);
    // The spawned task came before the yielded one, which is the last in.
    assert_eq!(*order.borrow(), [0, 10, 9, 3, 2, 1]);
    assert_finished(&ex.stats(), 5, 0, 0);
    assert_eq!((queue.stats().policy_fault, queue.stats().preemptions), (None, 0));
}

#[test]
fn another_queues_task_and_a_destructor_change_it_at_once_or_after_the_poll() {
    let (ex, notes) = (untimed(), Notes::default());
    let queue = fifo(&ex);
    (0..3).for_each(|_| drop(queue.spawn(async {})));
    let (other, of_other, new) =
        (ex.new_queue("other").share(100).create().unwrap(), queue.clone(), Rc::clone(&notes));
    other.spawn(async move {
        of_other.set_scheduler(Lifo::new(&new)).unwrap();
        assert_eq!(new.borrow().len(), 3, "at once");
    });
    settle(&ex);
    assert_eq!(*notes.borrow(), ["push 0 Woken", "push 1 Woken", "push 2 Woken"]);
    struct AtDrop(Queue, Notes);
    impl Drop for AtDrop {
        fn drop(&mut self) {
            self.0.set_scheduler(Lifo::new(&self.1)).unwrap();
        }
    }
    let (second, again) = (Notes::default(), queue.clone());
    let guard = AtDrop(again, Rc::clone(&second));
    let aborted = queue.spawn(async move {
        let _guard = guard;
        pending::<()>().await;
    });
    let beside = queue.spawn(yields(1));
    tick(&ex);
    aborted.abort();
    settle(&ex);
    assert!(output(aborted).unwrap_err().is_cancelled() && output(beside).is_ok());
    output(queue.spawn_after(&ex)).unwrap();
    assert_eq!(second.borrow().last().map(String::as_str), Some("push 0 Spawned"));
    assert_eq!(queue.stats().policy_fault, None);
}

trait SpawnAfter {
    fn spawn_after(&self, ex: &Executor) -> clockworker::JoinHandle<()>;
}

impl SpawnAfter for Queue {
    /// A task that was spawned and has run.
    fn spawn_after(&self, ex: &Executor) -> clockworker::JoinHandle<()> {
        let task = self.spawn(async {});
        settle(ex);
        task
    }
}

/// FIFO that has its own queue given another scheduler when it is asked for its first task.
struct Resigns {
    ready: VecDeque<TaskId>,
    queue: Rc<RefCell<Option<Queue>>>,
    notes: Notes,
}

impl Scheduler for Resigns {
    fn push(&mut self, task: Task, _: Ready) {
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        if let Some(queue) = self.queue.take() {
            queue.set_scheduler(Lifo::new(&self.notes)).unwrap();
        }
        self.ready.pop_front()
    }
}

#[test]
fn a_scheduler_may_ask_for_its_own_successor() {
    let (ex, notes, own) = (untimed(), Notes::default(), Rc::default());
    let resigns = Resigns { ready: VecDeque::new(), queue: Rc::clone(&own), notes: Rc::clone(&notes) };
    let queue = ex.new_queue("q").scheduler(resigns).create().unwrap();
    own.replace(Some(queue.clone()));
    let tasks: Vec<_> = (0..3).map(|_| queue.spawn(async {})).collect();
    settle(&ex);
    tasks.into_iter().for_each(|task| output(task).unwrap());
    // The first was polled in the slice that was under way.
    assert_eq!(*notes.borrow(), ["push 1 Woken", "push 2 Woken"]);
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn the_old_scheduler_is_dropped_once_and_its_drop_may_do_anything() {
    let (ex, drops) = (untimed(), Rc::new(Cell::new(0)));
    let queue = fifo(&ex);
    let (counted, own) = (Rc::clone(&drops), queue.clone());
    let mut old = Lifo::new(&Notes::default());
    old.at_drop = Box::new(move || {
        counted.set(counted.get() + 1);
        own.spawn(async {});
        own.set_scheduler(ArrivalFifo::new()).unwrap();
        panic_as_meant("the old scheduler, in its drop");
    });
    queue.set_scheduler(old).unwrap();
    queue.spawn(async {});
    queue.set_scheduler(Las::new()).unwrap();
    assert_eq!(drops.get(), 1);
    assert!(format!("{queue:?}").contains("ArrivalFifo"), "{queue:?}");
    settle(&ex);
    assert_finished(&ex.stats(), 2, 0, 0);
    assert_eq!((queue.stats().policy_fault, drops.get()), (None, 1));
}

#[test]
fn aborted_tasks_go_over_too_and_are_never_polled() {
    let ex = untimed();
    let queue = fifo(&ex);
    let doomed: Vec<_> = (0..4).map(|_| queue.spawn(async { panic!("polled") })).collect();
    let other = queue.group(3);
    let lives = other.spawn(async { 7 });
    doomed.iter().for_each(|task: &clockworker::JoinHandle<()>| task.abort());
    let change = queue.clone();
    ex.new_queue("other").share(100).create().unwrap().spawn(async move {
        change.set_scheduler(Las::new()).unwrap();
    });
    settle(&ex);
    queue.set_scheduler(ArrivalFifo::new()).unwrap();
    settle(&ex);
    assert_eq!(output(lives).unwrap(), 7);
    assert!(doomed.into_iter().all(|task| output(task).unwrap_err().is_cancelled()));
    assert_eq!((queue.stats().policy_fault, queue.stats().ready), (None, 0));
    assert_finished(&ex.stats(), 2, 4, 0);
}

#[test]
fn whatever_is_wrong_with_the_old_one_nothing_is_lost_and_the_fault_is_forgotten() {
    for &fault in Fault::ALL {
        for after in 0..6 {
            let ex = untimed();
            let hostile = Hostile::<Faulty>::new(Faulty::once(fault, after));
            let queue = ex.new_queue("q").scheduler(hostile).create().unwrap();
            let tasks: Vec<_> = (0..5).map(|_| queue.spawn(yields(2))).collect();
            tick(&ex);
            let more: Vec<_> = (0..5).map(|_| queue.spawn(yields(2))).collect();
            queue.set_scheduler(RunnableFifo::new()).unwrap();
            assert_eq!(queue.stats().policy_fault, None, "{fault:?} after {after}");
            settle(&ex);
            tasks.into_iter().chain(more).for_each(|task| output(task).unwrap());
            assert_finished(&ex.stats(), 10, 0, 0);
            assert_eq!(queue.stats().policy_fault, None, "{fault:?} after {after}");
        }
    }
}

#[test]
fn a_new_scheduler_that_panics_when_it_is_told_is_replaced_by_fifo() {
    for call in [Call::GroupOpened, Call::Push] {
        let (ex, order) = (untimed(), Rc::default());
        let queue = ex.new_queue("q").scheduler(Lifo::new(&Notes::default())).create().unwrap();
        let group = queue.group(1);
        (0..3).for_each(|number| drop(group.spawn(says(number, 1, Rc::clone(&order)))));
        queue.set_scheduler(Hostile::<Faulty>::new(Faulty::once(Fault::Panics(call), 0))).unwrap();
        assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked), "{call:?}");
        assert!(format!("{queue:?}").contains("RunnableFifo"), "{queue:?}");
        settle(&ex);
        assert_eq!(*order.borrow(), [0, 1, 2]);
        // The watchdog and all else begin anew.
        queue.set_scheduler(Lifo::new(&Notes::default())).unwrap();
        assert_eq!(queue.stats().policy_fault, None);
        assert!(output(queue.spawn_after(&ex)).is_ok());
    }
}

#[test]
fn tasks_that_wait_end_under_a_scheduler_that_was_never_given_them() {
    for &policy in Policy::ALL {
        let ex = untimed();
        let queue = fifo(&ex);
        for number in 0..60 {
            let task = if number % 2 == 0 { queue.group(number % 8).new_task() } else { queue.new_task() };
            task.priority((number % 3) as i8).spawn(pending::<()>());
        }
        settle(&ex);
        policy.set(&queue).unwrap();
        assert_eq!(queue.abort_all(), 60);
        settle(&ex);
        let later: Vec<_> = (0..60).map(|number| queue.group(number % 8).spawn(yields(2))).collect();
        settle(&ex);
        later.into_iter().for_each(|task| output(task).unwrap());
        assert_finished(&ex.stats(), 60, 60, 0);
        assert_eq!(queue.stats().policy_fault, None, "{policy:?}");
    }
}

#[test]
fn a_queue_that_is_gone_takes_no_scheduler() {
    let ex = untimed();
    let queue = fifo(&ex);
    queue.close();
    assert!(queue.set_scheduler(Las::new()).unwrap_err().is_closed());
    let queue = fifo(&ex);
    drop(ex);
    assert!(queue.set_scheduler(Las::new()).unwrap_err().is_stopped());
}

/// One world: tasks that yield, wait and wake each other in groups, whose scheduler is changed at random moments, by themselves
/// and from outside. Each counts its polls.
fn change_at_random(seed: u64) {
    let (ex, random) = (untimed(), Rc::new(RefCell::new(Random::new(seed))));
    let queue = fifo(&ex);
    let tasks = 2 + random.borrow_mut().below(12);
    let signals: Vec<Signal> = (0..tasks).map(|_| Signal::new()).collect();
    let one_of_all = |random: &mut Random| Policy::ALL[random.below(Policy::ALL.len())];
    for number in 0..tasks {
        let (random, signals, queue) = (Rc::clone(&random), signals.clone(), queue.clone());
        let group = queue.group(number as u64 % 3);
        let task = if number % 2 == 0 { group.new_task().priority(1) } else { queue.new_task() };
        task.spawn(async move {
            for _ in 0..6 {
                let choice = random.borrow_mut().below(8);
                match choice {
                    0 | 1 => {
                        let policy = one_of_all(&mut random.borrow_mut());
                        policy.set(&queue).unwrap();
                    }
                    2 => signals[number].wait().await,
                    3 => drop(spawn_local(yields(2))),
                    4 => signals[(number + 1) % signals.len()].set(),
                    5 => queue.group(number as u64).spawn(pending::<()>()).abort(),
                    _ => yield_now().await,
                }
            }
        });
    }
    for _ in 0..8 {
        let policy = one_of_all(&mut random.borrow_mut());
        policy.set(&queue).unwrap();
        tick(&ex);
        signals.iter().for_each(Signal::set);
    }
    for _ in 0..=6 {
        settle(&ex);
        signals.iter().for_each(Signal::set);
    }
    settle(&ex);
    let stats = queue.stats();
    assert_eq!((stats.policy_fault, stats.live, stats.ready), (None, 0, 0), "seed {seed}: {stats:?}");
    assert_eq!(stats.panicked, 0, "seed {seed}");
    assert_balanced(&ex.stats());
}

#[test]
fn changes_at_random_moments_lose_no_task_and_hand_none_over_twice() {
    (0..600).for_each(change_at_random);
}
