//! Tasks that a scheduler has lost, or starves, while it has others to give out: found after as many polls as its patience
//! says, and never before. Schedulers that promise nothing may starve tasks, but not lose them.

use std::cell::{Cell, RefCell};
use std::collections::{BinaryHeap, VecDeque};
use std::future::{Future, pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::schedulers::{FairTurns, Las, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, ManualClock, PolicyFault, Queue, QueueStats, spawn_local};

use crate::support::{Probe, Random, output, panic_as_meant, quietly, settle, tick};

/// What a watched scheduler says of its patience.
type Patience = fn(usize) -> Option<u64>;

/// FIFO but for one task, the next that is pushed once it is told so: that waits until so many others were popped.
struct Holding {
    ready: VecDeque<TaskId>,
    told: Rc<Cell<bool>>,
    /// The task held back, and the pops that it still waits for. None while it is out.
    held: Option<(TaskId, Option<u64>)>,
    pops: u64,
    patience: Patience,
}

impl Holding {
    fn new(told: &Rc<Cell<bool>>, pops: u64, patience: Patience) -> Self {
        Self { ready: VecDeque::new(), told: Rc::clone(told), held: None, pops, patience }
    }

    fn losing(told: &Rc<Cell<bool>>, patience: Patience) -> Self {
        Self::new(told, u64::MAX, patience)
    }
}

impl Scheduler for Holding {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, _why: Ready) {
        if self.told.take() || self.held.is_some_and(|(id, _)| id == task.id) {
            self.held = Some((task.id, Some(self.pops)));
        } else {
            self.ready.push_back(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        if let Some((id, waits)) = &mut self.held
            && let Some(left) = waits
        {
            if *left == 0 {
                *waits = None;
                return Some(*id);
            }
            *left -= 1;
        }
        self.ready.pop_front()
    }

    fn patience(&self, tasks: usize) -> Option<u64> {
        (self.patience)(tasks)
    }
}

/// Spawns a task that the scheduler will hold back.
fn held<T: 'static>(
    told: &Rc<Cell<bool>>,
    queue: &Queue,
    task: impl Future<Output = T> + 'static,
) -> JoinHandle<T> {
    told.set(true);
    queue.spawn(task)
}

/// One queue, whose slices are of so many polls each: one slice to a tick.
fn executor(polls: u32, scheduler: impl Scheduler + 'static) -> (Executor, Queue) {
    let ex = Executor::builder().clock(ManualClock::new()).poll_cap(polls).build().unwrap();
    let queue = ex.new_queue("watched").scheduler(scheduler).create().unwrap();
    (ex, queue)
}

/// A task that yields for ever.
fn yields(queue: &Queue) {
    drop(queue.spawn(poll_fn(|cx| -> Poll<()> {
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
}

/// Ticks until there is a fault, or so many polls were done.
fn run(ex: &Executor, queue: &Queue, polls: u64) -> QueueStats {
    while queue.stats().polls < polls && queue.stats().policy_fault.is_none() {
        tick(ex);
    }
    queue.stats()
}

#[track_caller]
fn assert_starved_at(stats: &QueueStats, polls: u64) {
    assert_eq!((stats.policy_fault, stats.polls), (Some(PolicyFault::Starved), polls));
}

#[track_caller]
fn assert_lawful(stats: &QueueStats, polls: u64) {
    assert_eq!((stats.policy_fault, stats.polls), (None, polls));
}

#[test]
fn a_task_lost_beside_one_that_yields_for_ever_is_found_and_runs() {
    let told = Rc::default();
    let (ex, queue) = executor(10, Holding::losing(&told, |_| Some(1_000)));
    yields(&queue);
    let probe = Probe::new();
    let lost = held(&told, &queue, probe.future());
    // The first look is after the first slice, the second 1,000 polls later.
    assert_lawful(&run(&ex, &queue, 1_000), 1_000);
    let stats = run(&ex, &queue, 1_000_000);
    assert_starved_at(&stats, 1_010);
    assert_eq!(stats.ready, 2);
    assert_eq!(probe.polls.get(), 0);
    tick(&ex);
    assert_eq!(probe.polls.get(), 1, "FIFO has it");
    probe.finish();
    tick(&ex);
    assert_eq!(output(lost).unwrap(), 2);
    assert_eq!(ex.stats().queues[0].policy_fault, None, "the other queue");
    assert_eq!(run(&ex, &queue, 5_000).policy_fault, Some(PolicyFault::Starved));
}

#[test]
fn a_task_lost_later_on_is_found_in_twice_the_patience() {
    let told = Rc::default();
    let (ex, queue) = executor(10, Holding::losing(&told, |_| Some(1_000)));
    yields(&queue);
    // It looks after polls 10, 1,010 and so on.
    assert_lawful(&run(&ex, &queue, 5_020), 5_020);
    let lost = held(&told, &queue, async {});
    let stats = run(&ex, &queue, 1_000_000);
    assert_starved_at(&stats, 7_010);
    tick(&ex);
    output(lost).unwrap();
}

#[test]
fn whoever_waits_for_less_than_the_patience_is_not_starved() {
    // Held back for 999 pops each time, so of 1,000 polls one is its own; and for twice the patience and a slice.
    for (pops, fault) in [(999, None), (2_006, Some(PolicyFault::Starved))] {
        let told = Rc::default();
        let (ex, queue) = executor(7, Holding::new(&told, pops, |_| Some(1_000)));
        yields(&queue);
        told.set(true);
        yields(&queue);
        assert_eq!(run(&ex, &queue, 100_000).policy_fault, fault);
    }
}

#[test]
fn the_count_is_exact() {
    // In FIFO order each of ten tasks is popped in any ten polls, and one of them is not in nine.
    for (patience, fault) in [
        ((|_| Some(10)) as Patience, None),
        (|_| Some(9), Some(PolicyFault::Starved)),
        (|_| Some(0), Some(PolicyFault::Starved)),
    ] {
        let (ex, queue) = executor(1, Holding::losing(&Rc::default(), patience));
        (0..10).for_each(|_| yields(&queue));
        assert_eq!(run(&ex, &queue, 2_000).policy_fault, fault);
    }
}

#[test]
fn a_task_that_was_lost_is_found_without_a_promise() {
    let told = Rc::default();
    let (ex, queue) = executor(16, Holding::losing(&told, |_| None));
    yields(&queue);
    let lost = held(&told, &queue, async { 5 });
    // Room for four tasks is made at first: it looks after poll 16, and 65,536 + 4 · 2,048 polls later it asks for all tasks.
    let found = 16 + 65_536 + 4 * 2_048;
    assert_lawful(&run(&ex, &queue, found - 16), found - 16);
    let stats = run(&ex, &queue, 1_000_000);
    assert_eq!((stats.policy_fault, stats.polls, stats.ready), (Some(PolicyFault::Lost), found, 2));
    tick(&ex);
    assert_eq!(output(lost).unwrap(), 5, "FIFO has it");
}

/// The task of the highest slot first, and no word of patience.
#[derive(Default)]
struct Strict(BinaryHeap<TaskId>);

impl Scheduler for Strict {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, _why: Ready) {
        self.0.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

#[test]
fn a_strict_scheduler_that_says_nothing_of_patience_may_starve_a_task() {
    let (ex, queue) = executor(16, Strict::default());
    let starved = queue.spawn(async { 6 });
    let first = queue.spawn(poll_fn(|cx| -> Poll<()> {
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    // Some eight times it is asked for all tasks, and each time gives out both.
    assert_lawful(&run(&ex, &queue, 1_200_000), 1_200_000);
    assert!(!starved.is_finished());
    first.abort();
    settle(&ex);
    assert_eq!(output(starved).unwrap(), 6);
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn a_promise_may_be_made_later() {
    let promises = Rc::new(Cell::new(false));
    struct Changing(Strict, Rc<Cell<bool>>);
    impl Scheduler for Changing {
        fn push(&mut self, task: Task, why: Ready) {
            self.0.push(task, why);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop()
        }
        fn patience(&self, _tasks: usize) -> Option<u64> {
            self.1.get().then_some(1_000)
        }
    }
    let (ex, queue) = executor(16, Changing(Strict::default(), Rc::clone(&promises)));
    let starved = queue.spawn(async {});
    yields(&queue);
    assert_lawful(&run(&ex, &queue, 200_000), 200_000);
    promises.set(true);
    assert_eq!(run(&ex, &queue, 1_000_000).policy_fault, Some(PolicyFault::Starved));
    tick(&ex);
    output(starved).unwrap();
}

#[test]
fn patience_that_grows_with_the_tasks_is_waited_for() {
    let patience: Patience = |tasks| Some(if tasks < 100 { 50 } else { 1_000 });
    let told = Rc::default();
    let (ex, queue) = executor(10, Holding::losing(&told, patience));
    yields(&queue);
    let lost = held(&told, &queue, async {});
    tick(&ex);
    // Found after 50 polls, were it not for these.
    (0..100).for_each(|_| drop(queue.spawn(pending::<()>())));
    assert_starved_at(&run(&ex, &queue, 1_000_000), 1_010);
    tick(&ex);
    output(lost).unwrap();
}

#[test]
fn a_lost_task_that_is_aborted_is_not_looked_for() {
    let told = Rc::default();
    let (ex, queue) = executor(10, Holding::losing(&told, |_| Some(1_000)));
    yields(&queue);
    let lost = held(&told, &queue, async {});
    assert_lawful(&run(&ex, &queue, 500), 500);
    lost.abort();
    // Ten polls a turn, but for the turn in which the drop takes the place of one.
    assert_lawful(&run(&ex, &queue, 10_000), 10_009);
    assert!(output(lost).unwrap_err().is_cancelled());
}

#[test]
fn a_task_lost_among_very_many_is_found_part_by_part() {
    let told = Rc::default();
    let (ex, queue) = executor(10, Holding::losing(&told, |_| Some(60_000)));
    for _ in 0..40_000 {
        drop(queue.spawn(pending::<()>()));
    }
    yields(&queue);
    // The slots, of which there may be up to 80,000, are up to five parts. Each task was polled once by the second look.
    assert_lawful(&run(&ex, &queue, 70_000), 70_000);
    let lost = held(&told, &queue, async {});
    let found = run(&ex, &queue, 1_000_000);
    assert_eq!(found.policy_fault, Some(PolicyFault::Starved));
    assert!((120_020..=70_000 + 6 * 60_000).contains(&found.polls), "{} polls", found.polls);
    tick(&ex);
    output(lost).unwrap();
}

#[test]
fn a_random_order_is_lawful() {
    struct Drawn(Vec<TaskId>, Random);
    impl Scheduler for Drawn {
        const NEEDS_SERVICE: bool = false;
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            let n = self.0.len();
            (n > 0).then(|| self.0.swap_remove(self.1.below(n)))
        }
    }
    let (ex, queue) = executor(1_000, Drawn(Vec::new(), Random::new(1)));
    (0..32).for_each(|_| yields(&queue));
    // 65,536 + 32 · 2,048 polls from look to look.
    assert_lawful(&run(&ex, &queue, 600_000), 600_000);
}

/// An old task beside others that never grow old, since each spawns the next.
fn old_and_young(las: impl Scheduler + 'static) -> (Executor, Queue, Rc<Cell<u32>>) {
    fn young(clock: ManualClock) {
        drop(spawn_local(async move {
            clock.advance(Duration::from_micros(1));
            young(clock);
        }));
    }
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).poll_cap(10).build().unwrap();
    let queue = ex.new_queue("watched").scheduler(las).create().unwrap();
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    drop(queue.spawn(poll_fn(move |cx| -> Poll<()> {
        counted.set(counted.get() + 1);
        clock.advance(Duration::from_millis(10));
        if counted.get() == 1 {
            young(clock.clone());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
    (ex, queue, polls)
}

#[test]
fn strict_las_starves_the_old_as_it_may() {
    let (ex, queue, polls) = old_and_young(Las::new().with_fair_turns(FairTurns::NEVER));
    assert_eq!(run(&ex, &queue, 300_000).policy_fault, None);
    assert_eq!(polls.get(), 1);
    // With fair turns it does not.
    let (ex, queue, polls) = old_and_young(Las::new());
    assert_eq!(run(&ex, &queue, 300_000).policy_fault, None);
    // They have 1/32 of the time. Its polls take 10 ms, and 31 times as long are 247,000 of the others'.
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_scheduler_that_panics_when_asked_for_its_patience_is_at_fault() {
    let (ex, queue) = executor(10, Holding::losing(&Rc::default(), |_| panic_as_meant("patience")));
    yields(&queue);
    tick(&ex);
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked));
    let task = queue.spawn(async { 3 });
    tick(&ex);
    assert_eq!(output(task).unwrap(), 3);
}

#[test]
fn a_scheduler_that_calls_back_when_asked_for_its_patience_is_at_fault() {
    #[derive(Default)]
    struct Calls(VecDeque<TaskId>, Rc<RefCell<Option<Queue>>>);
    impl Scheduler for Calls {
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
        fn patience(&self, _tasks: usize) -> Option<u64> {
            if let Some(queue) = &*self.1.borrow() {
                drop(queue.spawn(async {}));
            }
            Some(1)
        }
    }
    let own = Rc::default();
    let (ex, queue) = executor(10, Calls(VecDeque::new(), Rc::clone(&own)));
    yields(&queue);
    own.replace(Some(queue.clone()));
    quietly(|| tick(&ex));
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked));
    let task = queue.spawn(async { 4 });
    quietly(|| tick(&ex));
    assert_eq!(output(task).unwrap(), 4);
    own.take();
}

#[test]
fn what_is_told_to_a_scheduler_is_the_number_of_tasks() {
    thread_local!(static ASKED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) });
    let patience: Patience = |tasks| {
        ASKED.with_borrow_mut(|asked| asked.push(tasks));
        None
    };
    let (ex, queue) = executor(10, Holding::losing(&Rc::default(), patience));
    yields(&queue);
    for _ in 0..99 {
        drop(queue.spawn(pending::<()>()));
    }
    tick(&ex);
    let asked = ASKED.take();
    assert_eq!(asked.len(), 1);
    assert!((100..200).contains(&asked[0]), "{asked:?}");
}

#[test]
fn a_queue_that_runs_empty_is_not_looked_at() {
    let asked = Rc::new(Cell::new(0));
    struct Asked(VecDeque<TaskId>, Rc<Cell<u32>>);
    impl Scheduler for Asked {
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
        fn patience(&self, _tasks: usize) -> Option<u64> {
            self.1.set(self.1.get() + 1);
            Some(1)
        }
    }
    let (ex, queue) = executor(1_000, Asked(VecDeque::new(), Rc::clone(&asked)));
    for _ in 0..100 {
        drop(queue.spawn(async {}));
        settle(&ex);
    }
    assert_eq!(asked.get(), 0);
}
