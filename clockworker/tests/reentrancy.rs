//! Calling the executor from where it is least expected: destructors of futures, of outputs, of the future being run,
//! while the executor is being dropped, and while the thread ends.

mod life_support;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::schedulers::{GroupId, Las, Qlas, Ready, Scheduler, Task, TaskId};
use clockworker::{
    AbortHandle, Executor, Group, JoinError, JoinHandle, Queue, should_yield, spawn_local, yield_now,
};
use life_support::{
    OnDrop, Probe, assert_balanced, assert_finished, hold, output, poll_once, settle, settle_run, tick,
};

/// What a destructor can get hold of.
struct Tools {
    queue: Queue,
    probe: Rc<Probe>,
    victim: AbortHandle,
    victim_drops: Rc<Probe>,
    joined: RefCell<Option<JoinHandle<u32>>>,
    detached: RefCell<Option<JoinHandle<()>>>,
    finished: RefCell<Option<JoinHandle<i32>>>,
    last_group: RefCell<Option<Group>>,
    doomed: Queue,
    handle: clockworker::Handle,
    executor: OnceCell<std::rc::Weak<Executor>>,
    /// What it spawned.
    spawned: RefCell<Vec<JoinHandle<i32>>>,
    uses: Cell<u32>,
}

impl Tools {
    fn new(ex: &Rc<Executor>) -> Rc<Self> {
        let queue = ex.queue("las").scheduler(Las::new()).create().unwrap();
        let doomed = ex.queue("doomed").scheduler(Qlas::new()).create().unwrap();
        let (probe, victim_drops) = (Probe::new(), Probe::new());
        let joined = ex.spawn(probe.future());
        let victim = queue.spawn(victim_drops.future()).abort_handle();
        let detached = queue.spawn(pending());
        let finished = ex.spawn(async { 11 });
        settle(ex);
        let tools = Self {
            last_group: RefCell::new(Some(queue.group(5))),
            queue,
            probe,
            victim,
            victim_drops,
            joined: RefCell::new(Some(joined)),
            detached: RefCell::new(Some(detached)),
            finished: RefCell::new(Some(finished)),
            doomed,
            handle: ex.handle(),
            executor: OnceCell::new(),
            spawned: RefCell::default(),
            uses: Cell::new(0),
        };
        tools.executor.set(Rc::downgrade(ex)).unwrap();
        Rc::new(tools)
    }

    /// Uses everything there is. `alive` says that the executor takes tasks.
    fn use_all(&self, alive: bool) {
        self.uses.set(self.uses.get() + 1);
        let mut spawned = self.spawned.borrow_mut();
        spawned.push(spawn_local(async { 1 }));
        spawned.push(self.queue.spawn(async {
            yield_now().await;
            2
        }));
        spawned.push(self.queue.group(9).spawn(async { 3 }));
        spawned.push(self.handle.spawn(|| async { 4 }));
        spawned.push(self.handle.spawn_on("las", || async { 5 }));
        if !alive {
            // Those on other threads' way may be told later.
            assert!(
                spawned
                    .iter_mut()
                    .all(|task| matches!(poll_once(task), Poll::Ready(Err(e)) if e.is_refused()))
            );
            spawned.clear();
        }
        self.probe.waker().wake();
        self.victim.abort();
        let drops = self.victim_drops.drops.get();
        if let Some(mut handle) = self.joined.take() {
            match poll_once(&mut handle) {
                Poll::Pending => drop(self.joined.replace(Some(handle))),
                Poll::Ready(result) => assert!(!alive && result.unwrap_err().is_cancelled()),
            }
        }
        if let Some(handle) = self.finished.take() {
            assert_eq!(output(handle).unwrap(), 11);
        }
        drop(self.detached.take());
        drop(self.last_group.take());
        let created = self.executor.get().and_then(std::rc::Weak::upgrade).map(|ex| {
            let _ = ex.stats();
            ex.queue("created").scheduler(Las::new()).create().map(|queue| queue.close())
        });
        assert!(alive || !matches!(created, Some(Ok(()))));
        self.doomed.close();
        let _ = self.queue.set_share(7);
        let _ = self.queue.stats();
        let _ = format!("{:?} {:?} {:?}", self.queue, self.handle, self.joined);
        let _ = should_yield();
        let mut yielding = pin!(yield_now());
        let _ = yielding.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(self.victim_drops.drops.get(), drops, "no other future is dropped on this stack");
    }

    /// Everything it did came to its end.
    fn assert_after(&self, ex: &Executor) {
        assert_eq!(self.uses.get(), 1);
        settle(ex);
        assert_eq!(self.victim_drops.drops.get(), 1);
        assert_eq!(self.probe.polls.get(), 2);
        let outputs: Vec<i32> = self.spawned.take().into_iter().map(|task| output(task).unwrap()).collect();
        assert_eq!(outputs, [1, 2, 3, 4, 5]);
        let stats = ex.stats();
        assert_balanced(&stats);
        assert!(stats.queues.iter().all(|queue| queue.policy_fault.is_none() && queue.name != "doomed"));
        assert_eq!(stats.ready, 0);
    }
}

fn on_drop(tools: &Rc<Tools>, alive: bool) -> OnDrop<impl FnOnce() + 'static> {
    let tools = Rc::clone(tools);
    OnDrop::new(move || tools.use_all(alive))
}

#[test]
fn a_future_dropped_on_completion_may_use_everything() {
    let ex = Rc::new(Executor::new());
    let tools = Tools::new(&ex);
    let guard = on_drop(&tools, true);
    let mut guard = Some(guard);
    ex.spawn(poll_fn(move |_| {
        let _captured = &mut guard;
        Poll::Ready(())
    }));
    settle(&ex);
    tools.assert_after(&ex);
}

#[test]
fn a_future_dropped_by_an_abort_may_use_everything() {
    for woken in [false, true] {
        let ex = Rc::new(Executor::new());
        let tools = Tools::new(&ex);
        let probe = Probe::new();
        let (inner, guard) = (probe.future(), on_drop(&tools, true));
        let task = ex.spawn(async move {
            let _guard = guard;
            inner.await
        });
        settle(&ex);
        if woken {
            probe.waker().wake();
        }
        task.abort();
        tick(&ex);
        tools.assert_after(&ex);
    }
}

#[test]
fn a_future_dropped_by_an_abort_during_another_tasks_poll_may_use_everything() {
    let ex = Rc::new(Executor::new());
    let tools = Tools::new(&ex);
    let task = tools.queue.spawn(hold(on_drop(&tools, true)));
    settle(&ex);
    // Runs between this task's poll and its being put back.
    let aborter = ex.spawn(async move {
        task.abort();
        yield_now().await;
        task.abort();
        pending::<()>().await;
    });
    settle(&ex);
    tools.assert_after(&ex);
    aborter.abort();
    settle(&ex);
    assert_balanced(&ex.stats());
}

#[test]
fn an_output_that_nobody_reads_may_use_everything_in_its_drop() {
    let ex = Rc::new(Executor::new());
    let tools = Tools::new(&ex);
    let guard = on_drop(&tools, true);
    drop(ex.spawn(async move { guard }));
    settle(&ex);
    tools.assert_after(&ex);
}

#[test]
fn an_output_dropped_with_its_handle_may_use_everything() {
    for inside in [false, true] {
        let ex = Rc::new(Executor::new());
        let tools = Tools::new(&ex);
        let guard = on_drop(&tools, true);
        let task = ex.spawn(async move { guard });
        settle(&ex);
        if inside {
            ex.block_on(async { drop(task) });
        } else {
            // Outside a run there is nothing to spawn beside.
            ex.block_on(async {
                spawn_local(async move { drop(task) }).await.unwrap();
            });
        }
        tools.assert_after(&ex);
    }
}

#[test]
fn the_future_being_run_may_use_everything_in_its_drop() {
    for polls in [0, 1] {
        let ex = Rc::new(Executor::new());
        let tools = Tools::new(&ex);
        let mut run = Box::pin(ex.run_until(hold(on_drop(&tools, true))));
        if polls > 0 {
            assert!(settle_run(run.as_mut()).is_none());
        }
        drop(run);
        tools.assert_after(&ex);
    }
}

#[test]
fn the_output_of_the_future_being_run_is_the_callers() {
    let ex = Rc::new(Executor::new());
    let tools = Tools::new(&ex);
    let queue = tools.queue.clone();
    let guard = OnDrop::new(move || drop(queue.spawn(async {})));
    drop(ex.block_on(async { guard }));
    settle(&ex);
    assert_balanced(&ex.stats());
}

#[test]
fn futures_dropped_with_the_executor_may_use_everything_and_are_refused() {
    for parked in [false, true] {
        let ex = Rc::new(Executor::new());
        let tools = Tools::new(&ex);
        let first = ex.spawn(hold(on_drop(&tools, false)));
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
fn futures_cancelled_by_a_shutdown_may_use_everything_and_are_refused() {
    let ex = Rc::new(Executor::new());
    let tools = Tools::new(&ex);
    let task = ex.spawn(hold(on_drop(&tools, false)));
    settle(&ex);
    let report = ex.block_on_shutdown(async {});
    assert_eq!((report.cancelled, report.drained), (4, false));
    assert_eq!(tools.uses.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_balanced(&ex.stats());
    assert_eq!(ex.stats().live, 0);
}

#[test]
fn spawning_in_the_drop_of_a_future_of_a_dropped_executor_ends() {
    // Each future spawns another one like it when it goes.
    fn respawn(depth: Rc<Cell<u32>>, spawned: Rc<RefCell<Vec<JoinHandle<()>>>>) -> impl Future<Output = ()> {
        hold(OnDrop::new(move || {
            depth.set(depth.get() + 1);
            if depth.get() < 1_000 {
                let again = respawn(Rc::clone(&depth), Rc::clone(&spawned));
                let task = spawn_local(again);
                spawned.borrow_mut().push(task);
            }
        }))
    }
    let (depth, spawned) = (Rc::default(), Rc::default());
    let ex = Executor::new();
    ex.spawn(respawn(Rc::clone(&depth), Rc::clone(&spawned)));
    settle(&ex);
    drop(ex);
    assert_eq!(depth.get(), 1_000, "what is refused is dropped at once, and that is all");
    let refused = spawned.take().into_iter().all(|task| output(task).unwrap_err().is_refused());
    assert!(refused);
}

#[test]
fn a_task_spawned_by_the_drop_of_an_aborted_future_is_in_that_futures_queue_and_group() {
    let ex = Executor::new();
    let own = ex.queue("own").create().unwrap();
    let other = ex.queue("other").create().unwrap();
    for from_task in [false, true] {
        let before = own.stats().spawned;
        let child: Rc<RefCell<Option<JoinHandle<()>>>> = Rc::default();
        let slot = Rc::clone(&child);
        let task = own.spawn(hold(OnDrop::new(move || {
            slot.replace(Some(spawn_local(async {})));
        })));
        settle(&ex);
        if from_task {
            let abort = task.abort_handle();
            other.spawn(async move {
                abort.abort();
                yield_now().await;
            });
        } else {
            task.abort();
        }
        settle(&ex);
        output(child.take().expect("it was spawned")).unwrap();
        assert_eq!(own.stats().spawned - before, 2, "from a task: {from_task}");
    }
}

/// FIFO that notes which groups it hears of.
struct Groups(VecDeque<TaskId>, Rc<RefCell<Vec<(&'static str, GroupId)>>>);

impl Scheduler for Groups {
    fn push(&mut self, task: Task, _why: Ready) {
        self.1.borrow_mut().push(("push", task.group));
        self.0.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop_front()
    }

    fn group_closed(&mut self, group: GroupId) {
        self.1.borrow_mut().push(("closed", group));
    }
}

#[test]
fn a_group_lives_on_in_what_its_last_tasks_drop_spawns() {
    for aborted in [false, true] {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let ex = Executor::new();
        let queue = ex.queue("q").scheduler(Groups(VecDeque::new(), Rc::clone(&heard))).create().unwrap();
        let group = queue.group(5);
        let guard = OnDrop::new(|| drop(spawn_local(async {})));
        let mut guard = Some(guard);
        let task = group.spawn(poll_fn(move |_| {
            let _captured = &mut guard;
            if aborted { Poll::Pending } else { Poll::Ready(()) }
        }));
        drop(group);
        settle(&ex);
        task.abort();
        settle(&ex);
        let heard = heard.take();
        let own = heard[0].1;
        assert_eq!(heard, [("push", own), ("push", own), ("closed", own)], "aborted: {aborted}");
        assert_eq!(ex.stats().live, 0);
    }
}

#[test]
fn a_closed_queue_whose_last_task_is_dropped_by_a_shutdown_is_gone() {
    let ex = Executor::new();
    let queue = ex.queue("closing").create().unwrap();
    let task = queue.spawn(pending::<()>());
    queue.close();
    settle(&ex);
    assert_eq!(ex.stats().queues.len(), 2);
    ex.block_on_shutdown(async {});
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(ex.stats().queues.len(), 1);
    assert!(queue.set_share(2).unwrap_err().is_closed());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_queue_closed_by_a_drop_while_everything_is_cancelled_is_gone_for_good() {
    // Its only task was aborted while ready, so it counts as runnable to the end; another queue may get its place.
    for shutdown in [false, true] {
        let ex = Executor::new();
        let closing = ex.queue("closing").create().unwrap();
        let closes = closing.clone();
        let task = ex.spawn(hold(OnDrop::new(move || closes.close())));
        settle(&ex);
        closing.spawn(pending::<()>()).abort();
        if shutdown {
            ex.block_on_shutdown(async {});
            assert_eq!(ex.stats().queues.len(), 1);
            assert_finished(&ex.stats(), 0, 2, 0);
        } else {
            drop(ex);
        }
        assert!(output(task).unwrap_err().is_cancelled());
        assert!(closing.set_share(3).unwrap_err().is_closed());
    }
}

#[test]
fn a_queue_closed_by_the_drop_of_a_task_aborted_before_admission_keeps_the_books_straight() {
    thread_local! {
        static QUEUE: RefCell<Option<Queue>> = const { RefCell::new(None) };
    }
    let ex = Executor::new();
    QUEUE.set(Some(ex.queue("closing").create().unwrap()));
    let handle = ex.handle();
    let task = thread::spawn(move || {
        let closes = OnDrop::new(|| {
            if let Some(queue) = QUEUE.take() {
                queue.close();
            }
        });
        let task = handle.spawn_on("closing", move || hold(closes));
        task.abort();
        task
    })
    .join()
    .unwrap();
    settle(&ex);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(ex.stats().queues.len(), 1);
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_task_that_is_dropped_while_another_is_polled_may_wake_that_one() {
    let ex = Executor::new();
    let polls = Rc::new(Cell::new(0));
    let waker: Rc<RefCell<Option<Waker>>> = Rc::default();
    let wakes = Rc::clone(&waker);
    let victim = ex.spawn(hold(OnDrop::new(move || wakes.take().expect("it was polled").wake())));
    settle(&ex);
    let (counted, slot) = (Rc::clone(&polls), Rc::clone(&waker));
    ex.spawn(poll_fn(move |cx| {
        counted.set(counted.get() + 1);
        if counted.get() == 1 {
            slot.replace(Some(cx.waker().clone()));
            victim.abort();
        }
        Poll::<()>::Pending
    }));
    settle(&ex);
    assert_eq!(polls.get(), 2);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
    assert_eq!((ex.stats().live, ex.stats().ready), (1, 0));
}

#[test]
fn a_task_that_is_dropped_while_another_is_polled_may_wake_and_abort_that_one() {
    let ex = Executor::new();
    let probe = Probe::new();
    let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let (aborts, woken) = (Rc::clone(&own), Rc::clone(&probe));
    let victim = ex.spawn(hold(OnDrop::new(move || {
        woken.waker().wake();
        // Reaches the scheduler before the poll has been settled.
        drop(spawn_local(async {}));
        aborts.take().expect("set below").abort();
    })));
    settle(&ex);
    let mut inner = probe.future();
    let mut first = true;
    let task = ex.spawn(poll_fn(move |cx| {
        if std::mem::take(&mut first) {
            victim.abort();
        }
        Pin::new(&mut inner).poll(cx)
    }));
    own.replace(Some(task.abort_handle()));
    settle(&ex);
    assert_eq!(probe.drops.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 1, 2, 0);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
}

#[test]
fn a_task_that_is_dropped_while_another_yields_may_wake_and_spawn_a_third() {
    for self_wake in [false, true] {
        let ex = Executor::new();
        let (third, order) = (Probe::new(), Rc::new(RefCell::new(Vec::new())));
        ex.spawn(third.future());
        let (woken, spawned) = (Rc::clone(&third), Rc::clone(&order));
        let victim = ex.spawn(hold(OnDrop::new(move || {
            woken.finish();
            drop(spawn_local(async move { spawned.borrow_mut().push("spawned") }));
            woken.waker().wake();
        })));
        settle(&ex);
        let own = Rc::clone(&order);
        let task = ex.spawn(async move {
            victim.abort();
            if self_wake {
                yield_now().await;
            }
            own.borrow_mut().push("yielded");
        });
        settle(&ex);
        output(task).unwrap();
        assert_eq!(third.polls.get(), 2);
        let expected = if self_wake { ["spawned", "yielded"] } else { ["yielded", "spawned"] };
        assert_eq!(*order.borrow(), expected);
        assert_eq!(ex.stats().queues[0].policy_fault, None);
        assert_finished(&ex.stats(), 3, 1, 0);
    }
}

#[test]
fn what_the_drop_of_an_aborted_future_wakes_does_not_keep_a_yielding_task_from_going_on() {
    let ex = Executor::new();
    let third = Probe::new();
    ex.spawn(third.future());
    let woken = Rc::clone(&third);
    let victim = ex.spawn(hold(OnDrop::new(move || woken.waker().wake())));
    settle(&ex);
    let task = ex.spawn(async move {
        victim.abort();
        for _ in 0..3 {
            yield_now().await;
        }
    });
    settle(&ex);
    output(task).unwrap();
    assert_eq!((third.polls.get(), ex.stats().queues[0].policy_fault), (2, None));
}

#[test]
fn two_tasks_that_hold_each_others_handles_are_dropped_with_the_executor() {
    type Held = Rc<RefCell<Option<JoinHandle<()>>>>;
    let drops = Rc::new(Cell::new(0));
    let ex = Executor::new();
    let (to_a, to_b): (Held, Held) = (Rc::default(), Rc::default());
    let awaits = |held: &Held| {
        let (held, drops) = (Rc::clone(held), Rc::clone(&drops));
        async move {
            let _guard = OnDrop::new(move || drops.set(drops.get() + 1));
            yield_now().await;
            let handle = held.take().expect("set below");
            let _ = handle.await;
        }
    };
    let (a, b) = (ex.spawn(awaits(&to_b)), ex.spawn(awaits(&to_a)));
    to_a.replace(Some(a));
    to_b.replace(Some(b));
    settle(&ex);
    assert_eq!((drops.get(), ex.stats().live), (0, 2));
    drop(ex);
    assert_eq!(drops.get(), 2);
}

#[test]
fn a_task_that_awaits_itself_is_dropped_with_the_executor() {
    let held: Rc<RefCell<Option<JoinHandle<()>>>> = Rc::default();
    let (own, drops) = (Rc::clone(&held), Rc::new(Cell::new(0)));
    let counted = Rc::clone(&drops);
    let ex = Executor::new();
    let task = ex.spawn(async move {
        let _guard = OnDrop::new(move || counted.set(counted.get() + 1));
        let handle = own.take().expect("set below");
        let _ = handle.await;
    });
    held.replace(Some(task));
    settle(&ex);
    drop(ex);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_task_may_hold_its_own_queue_and_group_and_is_still_freed_with_the_executor() {
    let freed = Rc::new(());
    let ex = Executor::new();
    let queue = ex.queue("own").scheduler(Las::new()).create().unwrap();
    let group = queue.group(1);
    let held = (queue.clone(), group.clone(), ex.handle(), Rc::clone(&freed));
    group.spawn(hold(held));
    drop((queue, group));
    settle(&ex);
    assert_eq!(Rc::strong_count(&freed), 2);
    drop(ex);
    assert_eq!(Rc::strong_count(&freed), 1);
}

#[test]
fn what_is_left_of_an_executor_refuses_and_shows_its_last_numbers() {
    let ex = Executor::new();
    let queue = ex.queue("q").create().unwrap();
    let group = queue.group(1);
    queue.spawn(async {});
    settle(&ex);
    drop(ex);
    let refused = |result: Result<(), JoinError>| result.unwrap_err().is_refused();
    assert!(refused(output(queue.spawn(async {}))) && refused(output(group.spawn(async {}))));
    assert_eq!((queue.stats().completed, queue.stats().live), (1, 0));
    queue.close();
    assert!(queue.is_closed());
    drop(group.clone());
    drop(queue.group(2));
}

thread_local! {
    static EXECUTOR: OnceCell<Executor> = const { OnceCell::new() };
    static WAKERS: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
    static HANDLES: RefCell<Vec<JoinHandle<()>>> = const { RefCell::new(Vec::new()) };
    static ABORTS: RefCell<Vec<AbortHandle>> = const { RefCell::new(Vec::new()) };
    static LATE: LateUse = const { LateUse };
}

/// Uses what is left in thread-locals when the thread ends.
struct LateUse;

impl Drop for LateUse {
    fn drop(&mut self) {
        let _ = WAKERS.try_with(|wakers| wakers.take().iter().for_each(Waker::wake_by_ref));
        let _ = ABORTS.try_with(|aborts| aborts.take().iter().for_each(AbortHandle::abort));
        let _ = EXECUTOR.try_with(|ex| ex.get().map(|ex| ex.spawn(async {})));
    }
}

/// A task that, while its thread ends, spawns, wakes and aborts, and says how it went.
async fn last_words(say: mpsc::Sender<&'static str>) {
    let guard = OnDrop::new(move || {
        let _ = WAKERS.try_with(|wakers| wakers.borrow().iter().for_each(Waker::wake_by_ref));
        let _ = should_yield();
        let mut task = spawn_local(async {});
        let refused = matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_refused());
        let _ = say.send(if refused { "refused" } else { "spawned" });
    });
    poll_fn(|cx| {
        WAKERS.with(|wakers| wakers.borrow_mut().push(cx.waker().clone()));
        Poll::<()>::Pending
    })
    .await;
    drop(guard);
}

#[test]
fn an_executor_in_a_thread_local_is_dropped_with_its_thread_in_any_order() {
    // Thread-locals are destroyed in an order that depends on the order of their first use.
    for order in 0..24 {
        let (say, said) = mpsc::channel();
        thread::spawn(move || {
            let touch: [fn(); 4] = [
                || EXECUTOR.with(|ex| drop(ex.get_or_init(Executor::new).stats())),
                || WAKERS.with(|wakers| wakers.borrow_mut().clear()),
                || HANDLES.with(|handles| handles.borrow_mut().clear()),
                || {
                    ABORTS.with(|aborts| aborts.borrow_mut().clear());
                    LATE.with(|_| {});
                },
            ];
            let mut left: Vec<usize> = (0..4).collect();
            for radix in [(order / 6) % 4, (order / 2) % 3, order % 2, 0] {
                touch[left.remove(radix)]();
            }
            EXECUTOR.with(|ex| {
                let ex = ex.get().expect("made above");
                for _ in 0..3 {
                    let task = ex.spawn(last_words(say.clone()));
                    ABORTS.with(|aborts| aborts.borrow_mut().push(task.abort_handle()));
                    HANDLES.with(|handles| handles.borrow_mut().push(task));
                }
                settle(ex);
            });
        })
        .join()
        .expect("nothing panics while the thread ends");
        let said: Vec<_> = said.into_iter().collect();
        assert_eq!(said, ["refused"; 3], "order {order}");
    }
}

#[test]
fn a_current_executor_is_found_again_after_a_nested_one_was_dropped_inside() {
    let outer = Executor::new();
    let task = outer.spawn(async {
        let inner = Executor::new();
        inner.spawn(hold(OnDrop::new(|| {
            assert!(output(spawn_local(async {})).unwrap_err().is_refused(), "this is the inner one's");
        })));
        settle(&inner);
        drop(inner);
        spawn_local(async { 3 }).await.unwrap()
    });
    settle(&outer);
    assert_eq!(output(task).unwrap(), 3);
    assert_finished(&outer.stats(), 2, 0, 0);
}

#[test]
fn executors_that_could_not_be_built_and_those_that_were_never_used_leave_nothing_behind() {
    // What they would leave, LeakSanitizer sees.
    for _ in 0..10 {
        assert!(Executor::builder().share(0).build().unwrap_err().queue_error().is_some());
        assert!(Executor::builder().poll_cap(0).build().unwrap_err().is_poll_cap());
        drop(Executor::new());
        let unrun = Executor::new();
        drop(unrun.spawn(async {}));
        drop(unrun.run_until(async {}));
        let _ = (unrun.handle(), unrun.default_queue().clone());
    }
}
