//! Dumps of all tasks, from wherever one can be asked for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{pending, ready};
use std::rc::{Rc, Weak};
use std::time::Duration;

use clockworker::observe::{DumpedTask, Observation, TaskDump, TaskState};
use clockworker::schedulers::{Las, Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_testing::driving::settle;

use super::support::{OnDrop, hold};
use super::{observing, us};

fn untimed() -> (Rc<Executor>, ManualClock) {
    let clock = ManualClock::new();
    (Rc::new(Executor::builder().clock(clock.clone()).build().unwrap()), clock)
}

/// The task of that name.
fn named<'a>(dump: &'a TaskDump, name: &str) -> &'a DumpedTask {
    let is_it = |task: &&DumpedTask| task.name.as_deref() == Some(name);
    dump.tasks.iter().find(is_it).unwrap_or_else(|| panic!("no task {name} in\n{dump}"))
}

fn states(dump: &TaskDump) -> Vec<TaskState> {
    dump.tasks.iter().map(|task| task.state).collect()
}

type Seen = Rc<RefCell<Option<TaskDump>>>;

/// Dumps into `seen` when it is dropped.
fn dump_on_drop(ex: &Rc<Executor>, seen: &Seen) -> OnDrop<impl FnOnce() + 'static> {
    let (ex, seen) = (Rc::downgrade(ex), Rc::clone(seen));
    OnDrop::new(move || drop(seen.replace(ex.upgrade().map(|ex| ex.dump()))))
}

#[test]
fn says_of_each_task_what_is_known() {
    let (ex, clock) = untimed();
    let queue = ex.new_queue("tenants").create().unwrap();
    let acme = queue.new_group(42).name("Acme").open().unwrap();
    settle(&ex);
    let spawn = || acme.new_task().name("upload").spawn(pending::<()>());
    let (line, task) = (line!() - 1, spawn());
    clock.advance(us(30));
    let dump = ex.dump();
    assert_eq!((dump.at, dump.busy_queues.len(), dump.tasks.len()), (us(30), 0, 1));
    let upload = &dump.tasks[0];
    assert_eq!((upload.id, upload.name.as_deref()), (task.id(), Some("upload")));
    assert_eq!(
        (&*upload.queue, upload.group, upload.group_name.as_deref()),
        ("tenants", Some(42), Some("Acme"))
    );
    assert_eq!((upload.age, upload.service, upload.last_ready), (us(30), None, None));
    assert_eq!((upload.location.file(), upload.location.line()), (file!(), line));
}

#[test]
fn tells_the_states_apart() {
    let (ex, _clock) = untimed();
    let queue = ex.default_queue();
    queue.new_task().name("waiting").spawn(pending::<()>());
    settle(&ex);
    queue.new_task().name("ready").spawn(async {});
    let aborted = queue.new_task().name("aborted while it waits").spawn(pending::<()>());
    let too = queue.new_task().name("aborted while it is ready").spawn(pending::<()>());
    aborted.abort();
    too.abort();
    let dump = ex.dump();
    assert_eq!(named(&dump, "waiting").state, TaskState::Waiting);
    assert_eq!(named(&dump, "ready").state, TaskState::Ready);
    assert_eq!(named(&dump, "aborted while it waits").state, TaskState::Aborted);
    assert_eq!(named(&dump, "aborted while it is ready").state, TaskState::Aborted);
    settle(&ex);
    assert_eq!(states(&ex.dump()), [TaskState::Waiting]);
}

#[test]
fn a_woken_task_is_ready_before_its_scheduler_is_told() {
    let (ex, _clock) = untimed();
    let (wake, woken) = futures::channel::oneshot::channel::<()>();
    ex.spawn(woken);
    settle(&ex);
    assert_eq!(states(&ex.dump()), [TaskState::Waiting]);
    wake.send(()).unwrap();
    assert_eq!(states(&ex.dump()), [TaskState::Ready]);
}

#[test]
fn inside_a_task_that_one_is_being_polled() {
    let (ex, clock) = untimed();
    let seen = ex.clone();
    let task = ex.default_queue().new_task().name("caller").spawn(async move {
        yield_now().await;
        clock.advance(us(5));
        seen.dump()
    });
    ex.spawn(pending::<()>());
    let id = task.id();
    let dump = ex.block_on(task).unwrap();
    let caller = named(&dump, "caller");
    assert_eq!((caller.id, caller.state, caller.age), (id, TaskState::BeingPolled, us(5)));
    assert_eq!(dump.tasks.len(), 2);
}

#[test]
fn inside_the_drop_of_a_finished_future_and_of_an_aborted_one() {
    let (ex, _clock) = untimed();
    for abort in [false, true] {
        let seen: Seen = Rc::default();
        let held = dump_on_drop(&ex, &seen);
        let task = ex.default_queue().new_task().name("dropped").spawn(async move {
            let _held = held;
            if abort {
                pending().await
            }
        });
        if abort {
            settle(&ex);
            task.abort();
        }
        settle(&ex);
        let dump = seen.take().expect("it was dropped");
        assert_eq!(named(&dump, "dropped").state, TaskState::BeingPolled, "aborted: {abort}");
        assert_eq!(ex.dump().tasks, []);
    }
}

#[test]
fn after_a_shutdown_and_while_it_cancels() {
    let (ex, _clock) = untimed();
    let seen: Seen = Rc::default();
    ex.spawn(hold(dump_on_drop(&ex, &seen)));
    settle(&ex);
    ex.block_on_shutdown(ready(()));
    assert_eq!(seen.take().expect("it was dropped").tasks, []);
    assert_eq!(ex.dump().tasks, []);
}

#[test]
fn of_an_executor_that_is_dropped_just_now() {
    let (ex, _clock) = untimed();
    let queue = ex.default_queue().clone();
    let seen: Seen = Rc::default();
    ex.spawn(hold(dump_on_drop(&ex, &seen)));
    settle(&ex);
    drop(ex);
    // The executor itself is not to be had any more.
    assert!(seen.take().is_none());
    assert_eq!(queue.stats().live, 0);
}

/// FIFO that dumps in each of its methods.
struct Dumping {
    order: VecDeque<Task>,
    ex: Weak<Executor>,
    /// How many of its calls saw its own queue as busy, and how many did not.
    seen: Rc<[Cell<u32>; 2]>,
}

impl Dumping {
    fn dump(&self) {
        let Some(ex) = self.ex.upgrade() else { return };
        let dump = ex.dump();
        let is_busy = dump.busy_queues.iter().any(|queue| &**queue == "dumping");
        // Other queues are there in any case.
        assert_eq!(named(&dump, "bystander").state, TaskState::Waiting);
        let count = &self.seen[usize::from(is_busy)];
        count.set(count.get() + 1);
        drop(dump.to_string());
    }
}

impl Scheduler for Dumping {
    const NEEDS_SERVICE: bool = true;

    fn push(&mut self, task: Task, _: Ready) {
        self.dump();
        self.order.push_back(task);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.dump();
        self.order.pop_front().map(|task| task.id)
    }

    fn served(&mut self, _: Task, _: u64) {
        self.dump();
    }

    fn finished(&mut self, _: Task) {
        self.dump();
    }
}

#[test]
fn inside_a_scheduler_its_queue_is_busy() {
    let (ex, _clock) = untimed();
    ex.default_queue().new_task().name("bystander").spawn(pending::<()>());
    settle(&ex);
    let seen: Rc<[Cell<u32>; 2]> = Rc::default();
    let scheduler = Dumping { order: VecDeque::new(), ex: Rc::downgrade(&ex), seen: Rc::clone(&seen) };
    let queue = ex.new_queue("dumping").scheduler(scheduler).create().unwrap();
    let tasks = [(); 2].map(|()| queue.spawn(yield_now()));
    tasks[1].abort();
    settle(&ex);
    let [free, busy] = [0, 1].map(|at| seen[at].get());
    assert!(free > 0 && busy > 0, "{free} calls with the queue free, {busy} with it busy");
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn service_is_what_the_scheduler_was_told() {
    let (ex, clock) = untimed();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let fifo = ex.new_queue("fifo").scheduler(RunnableFifo::new()).create().unwrap();
    for queue in [&las, &fifo] {
        let clock = clock.clone();
        queue.spawn(async move {
            for _ in 0..3 {
                clock.advance(us(10));
                yield_now().await;
            }
            pending::<()>().await
        });
    }
    settle(&ex);
    let services: Vec<_> =
        ex.dump().tasks.iter().map(|task| (task.queue.to_string(), task.service)).collect();
    assert_eq!(services, [("las".to_owned(), Some(us(30))), ("fifo".to_owned(), None)]);
}

#[test]
fn a_slot_that_is_used_again_has_nothing_of_its_last_task() {
    let (ex, clock) = untimed();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let busy = clock.clone();
    las.new_task().name("first").spawn(async move { busy.advance(us(10)) });
    settle(&ex);
    las.spawn(pending::<()>());
    settle(&ex);
    let dump = ex.dump();
    assert_eq!((dump.tasks.len(), dump.tasks[0].name.as_deref()), (1, None));
    assert_eq!((dump.tasks[0].service, dump.tasks[0].age), (Some(Duration::ZERO), Duration::ZERO));
}

#[test]
fn the_last_time_that_it_was_ready_is_known_once_that_is_observed() {
    let (ex, clock) = observing(Observation::new().latency().every_poll());
    ex.spawn(pending::<()>());
    clock.advance(us(3));
    settle(&ex);
    clock.advance(us(4));
    assert_eq!(ex.dump().tasks[0].last_ready, Some(us(7)));
}

#[test]
fn a_task_from_another_thread_is_as_old_as_its_time_here() {
    let (ex, clock) = untimed();
    let handle = ex.handle();
    std::thread::spawn(move || drop(handle.new_task().name("sent").spawn(pending::<()>))).join().unwrap();
    assert_eq!(ex.dump().tasks, [], "it has not come in");
    clock.advance(us(50));
    settle(&ex);
    clock.advance(us(6));
    assert_eq!(named(&ex.dump(), "sent").age, us(6));
}

#[test]
fn a_lent_task_is_in_the_queue_that_serves_it_and_as_old_as_before() {
    let (ex, clock) = untimed();
    let strong = ex.new_queue("strong").share(9).create().unwrap();
    let weak = ex.new_queue("weak").create().unwrap();
    let borrower = weak.new_task().name("borrower").spawn(pending::<()>());
    settle(&ex);
    clock.advance(us(7));
    strong.spawn(async move { drop(borrower.lending().await) });
    settle(&ex);
    let dump = ex.dump();
    let borrower = named(&dump, "borrower");
    assert_eq!((&*borrower.queue, borrower.age), ("strong", us(7)));
}

#[test]
fn another_thread_gets_what_the_executor_says() {
    let ex = Executor::new();
    ex.default_queue().new_task().name("upload").spawn(pending::<()>());
    let handle = ex.handle();
    let (tell, told) = futures::channel::oneshot::channel();
    let asking = std::thread::spawn(move || tell.send(futures::executor::block_on(handle.dump())).is_ok());
    let dump = ex.block_on(told).unwrap().unwrap();
    assert!(asking.join().unwrap());
    assert_eq!(named(&dump, "upload").id, ex.dump().tasks[0].id);
    assert_eq!(dump.tasks.len(), 1, "the question is not a task");
    let handle = ex.handle();
    drop(ex);
    assert!(futures::executor::block_on(handle.dump()).unwrap_err().is_dropped());
}

#[test]
fn prints_a_table() {
    let (ex, clock) = untimed();
    settle(&ex);
    let tenants = ex.new_queue("tenants").scheduler(Las::new()).create().unwrap();
    let acme = tenants.new_group(42).name("Acme").open().unwrap();
    let ids = [
        ex.spawn(pending::<()>()).id().to_string(),
        acme.new_task().name("upload").spawn(pending::<()>()).id().to_string(),
    ];
    clock.advance(us(1_500));
    let (dump, width) = (ex.dump(), ids[0].len().max(ids[1].len()));
    let place = |at: usize| dump.tasks[at].location;
    let lines = [
        format!("{:width$}  queue    group    state  age    service  last ready  name, location", "id"),
        format!("{:width$}  default  -        ready  1.5ms  -        -           {}", ids[0], place(0)),
        format!(
            "{:width$}  tenants  42 Acme  ready  1.5ms  0.0ns    -           upload, {}",
            ids[1],
            place(1)
        ),
    ];
    assert_eq!(dump.to_string(), lines.join("\n") + "\n");
}
