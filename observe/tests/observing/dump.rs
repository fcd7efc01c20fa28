//! Dumps of all tasks, from wherever one can be asked for.

use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;
use clockworker::schedulers::{Las, RunnableFifo};
use clockworker::yield_now;
use clockworker_observe::{DumpedTask, Observation, Observe, TaskDump, TaskState};

use super::observing;
use crate::support::*;

/// The task of that name.
fn named<'a>(dump: &'a TaskDump, name: &str) -> &'a DumpedTask {
    let is_it = |task: &&DumpedTask| task.name.as_deref() == Some(name);
    dump.tasks.iter().find(is_it).unwrap_or_else(|| panic!("no task {name} in\n{dump}"))
}

/// The tasks' names and states.
fn states(dump: &TaskDump) -> String {
    let state = |task: &DumpedTask| format!("{}: {:?}", task.name.as_deref().unwrap_or("-"), task.state);
    dump.tasks.iter().map(state).collect::<Vec<_>>().join(", ")
}

type Seen = Rc<RefCell<Option<TaskDump>>>;

/// Dumps into `seen` when it is dropped.
fn dump_on_drop(ex: &Rc<Executor>, seen: &Seen) -> OnDrop<impl FnOnce() + 'static> {
    let (ex, seen) = (Rc::downgrade(ex), Rc::clone(seen));
    OnDrop::new(move || drop(seen.replace(ex.upgrade().map(|ex| ex.dump()))))
}

#[test]
fn says_of_each_task_what_is_known() {
    let ex = hosted();
    let queue = ex.new_queue("tenants").create().unwrap();
    let acme = queue.new_group(42).name("Acme").open().unwrap();
    settle(&ex);
    let (line, task) = (line!(), acme.new_task().name("upload").spawn(pending::<()>()));
    work(us(30));
    let dump = ex.dump();
    assert_eq!((dump.at, dump.busy_queues.len(), dump.tasks.len()), (us(30), 0, 1));
    let upload = &dump.tasks[0];
    assert_eq!((upload.id, upload.name.as_deref()), (task.id(), Some("upload")));
    let home = (&*upload.queue, upload.group, upload.group_name.as_deref());
    assert_eq!(home, ("tenants", Some(42), Some("Acme")));
    assert_eq!((upload.age, upload.service, upload.last_ready), (us(30), None, None));
    assert_eq!((upload.location.file(), upload.location.line()), (file!(), line));
}

#[test]
fn tells_the_states_apart() {
    let (ex, signal) = (hosted(), Signal::new());
    let (queue, waited) = (ex.default_queue(), signal.clone());
    queue.new_task().name("woken").spawn(async move { waited.wait().await });
    queue.new_task().name("waiting").spawn(pending::<()>());
    settle(&ex);
    assert_eq!(states(&ex.dump()), "woken: Waiting, waiting: Waiting");
    // Its scheduler does not know yet.
    signal.set();
    queue.new_task().name("ready").spawn(async {});
    let aborted = ["aborted", "aborted too"].map(|name| {
        let task = queue.new_task().name(name).spawn(pending::<()>());
        task.abort();
        task
    });
    let all = "woken: Ready, waiting: Waiting, ready: Ready, aborted: Aborted, aborted too: Aborted";
    assert_eq!(states(&ex.dump()), all);
    settle(&ex);
    assert_eq!(states(&ex.dump()), "waiting: Waiting");
    drop(aborted);
}

#[test]
fn inside_a_task_that_one_is_being_polled() {
    let ex = Rc::new(hosted());
    let inner = Rc::clone(&ex);
    let task = ex.default_queue().new_task().name("caller").spawn(async move {
        yield_now().await;
        work(us(5));
        inner.dump()
    });
    ex.spawn(pending::<()>());
    let id = task.id();
    let dump = ex.block_on(task).unwrap();
    assert_eq!(states(&dump), "caller: BeingPolled, -: Waiting");
    assert_eq!((dump.tasks[0].id, dump.tasks[0].age), (id, us(5)));
}

#[test]
fn inside_the_drop_of_a_finished_future_and_of_an_aborted_one() {
    let ex = Rc::new(hosted());
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
        assert_eq!(states(&dump), "dropped: BeingPolled", "aborted: {abort}");
        assert_eq!(ex.dump().tasks, []);
    }
}

#[test]
fn while_an_executor_is_shut_down_or_dropped() {
    for shut_down in [true, false] {
        let ex = Rc::new(hosted());
        let queue = ex.default_queue().clone();
        let seen: Seen = Rc::default();
        ex.spawn(hold(dump_on_drop(&ex, &seen)));
        settle(&ex);
        if shut_down {
            ex.block_on_shutdown(ready(()));
            assert_eq!(seen.take().expect("it was dropped").tasks, []);
            assert_eq!(ex.dump().tasks, []);
        }
        drop(ex);
        // The executor itself is not to be had any more.
        assert!(seen.take().is_none());
        assert_eq!(queue.stats().live, 0);
    }
}

#[test]
fn inside_a_scheduler_its_queue_is_busy() {
    let ex = Rc::new(hosted());
    ex.default_queue().new_task().name("bystander").spawn(pending::<()>());
    settle(&ex);
    // How many of its calls saw its own queue as busy, and how many did not.
    let seen: Rc<[Cell<u32>; 2]> = Rc::default();
    let (weak, sees) = (Rc::downgrade(&ex), Rc::clone(&seen));
    let spy: Spy = Spy::fifo().listening(move |_| {
        let Some(ex) = weak.upgrade() else { return };
        let dump = ex.dump();
        let is_busy = dump.busy_queues.iter().any(|queue| &**queue == "dumping");
        // Other queues are there in any case.
        assert_eq!(named(&dump, "bystander").state, TaskState::Waiting);
        let count = &sees[usize::from(is_busy)];
        count.set(count.get() + 1);
        drop(dump.to_string());
    });
    let queue = ex.new_queue("dumping").scheduler(spy).create().unwrap();
    drop(queue.group(1));
    let tasks = [(); 2].map(|()| queue.spawn(yield_now()));
    tasks[1].abort();
    settle(&ex);
    let [free, busy] = seen.each_ref().map(Cell::get);
    assert!(free > 0 && busy > 0, "{free} calls with the queue free, {busy} with it busy");
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn service_is_what_the_scheduler_was_told() {
    let ex = hosted();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let fifo = ex.new_queue("fifo").scheduler(RunnableFifo::new()).create().unwrap();
    for queue in [&las, &fifo] {
        queue.spawn(async {
            polls("", 3, us(10)).await;
            yield_now().await;
            pending::<()>().await
        });
    }
    settle(&ex);
    let services = ex.dump().tasks.into_iter().map(|task| (task.queue.to_string(), task.service));
    let expected = [("las".to_owned(), Some(us(30))), ("fifo".to_owned(), None)];
    assert_eq!(services.collect::<Vec<_>>(), expected);
}

#[test]
fn a_slot_that_is_used_again_has_nothing_of_its_last_task() {
    let ex = hosted();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    las.new_task().name("first").spawn(polls("", 1, us(10)));
    settle(&ex);
    las.spawn(pending::<()>());
    settle(&ex);
    let dump = ex.dump();
    assert_eq!((dump.tasks.len(), dump.tasks[0].name.as_deref()), (1, None));
    assert_eq!((dump.tasks[0].service, dump.tasks[0].age), (Some(Duration::ZERO), Duration::ZERO));
}

#[test]
fn the_last_time_that_it_was_ready_is_known_once_that_is_observed() {
    let ex = observing(Observation::new().latency().every_poll());
    ex.spawn(pending::<()>());
    work(us(3));
    settle(&ex);
    work(us(4));
    assert_eq!(ex.dump().tasks[0].last_ready, Some(us(7)));
}

#[test]
fn a_task_from_another_thread_is_as_old_as_its_time_here() {
    let ex = hosted();
    let handle = ex.handle();
    elsewhere(|| drop(handle.new_task().name("sent").spawn(pending::<()>)));
    assert_eq!(ex.dump().tasks, [], "it has not come in");
    work(us(50));
    settle(&ex);
    work(us(6));
    assert_eq!(named(&ex.dump(), "sent").age, us(6));
}

#[test]
fn another_thread_gets_what_the_executor_says() {
    let ex = Executor::new();
    ex.default_queue().new_task().name("upload").spawn(pending::<()>());
    let (handle, later) = (ex.handle(), ex.handle());
    let (tell, told) = futures::channel::oneshot::channel();
    let asking =
        std::thread::spawn(move || tell.send(futures::executor::block_on(TaskDump::ask(&handle))).is_ok());
    let dump = ex.block_on(told).unwrap().unwrap();
    assert!(asking.join().unwrap());
    assert_eq!(named(&dump, "upload").id, ex.dump().tasks[0].id);
    assert_eq!(dump.tasks.len(), 1, "the question is not a task");
    drop(ex);
    assert!(futures::executor::block_on(TaskDump::ask(&later)).is_err());
}

#[test]
fn prints_a_table() {
    let ex = hosted();
    settle(&ex);
    let tenants = ex.new_queue("tenants").scheduler(Las::new()).create().unwrap();
    let acme = tenants.new_group(42).name("Acme").open().unwrap();
    ex.spawn(pending::<()>());
    acme.new_task().name("upload").spawn(pending::<()>());
    work(us(1_500));
    let dump = ex.dump();
    let [one, two] = [0, 1].map(|at| (dump.tasks[at].id.to_string(), dump.tasks[at].location));
    let width = one.0.len().max(two.0.len());
    let lines = [
        format!("{:width$}  queue    group    state  age    service  last ready  name, location", "id"),
        format!("{:width$}  default  -        ready  1.5ms  -        -           {}", one.0, one.1),
        format!("{:width$}  tenants  42 Acme  ready  1.5ms  0.0ns    -           upload, {}", two.0, two.1),
    ];
    assert_eq!(dump.to_string(), lines.join("\n") + "\n");
}
