//! Who keeps what alive: nothing that a task can hold keeps its executor from going, and whatever is left of an executor
//! may go later, in any order, on any thread, and while its thread ends.

use std::cell::{OnceCell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use clockworker::schedulers::{Las, Ready, Scheduler, Task, TaskId};
use clockworker::{AbortHandle, Executor, Group, Handle, JoinHandle, Queue, spawn_local, yield_now};

use crate::support::{Count, OnDrop, hold, output, poll_once, settle, untimed};

/// Everything that can be had of an executor, but the executor.
#[allow(dead_code, reason = "to be held")]
struct Everything {
    queue: Queue,
    group: Group,
    handle: Handle,
    abort: AbortHandle,
    wakers: Rc<RefCell<Vec<Waker>>>,
    join: Rc<RefCell<Vec<JoinHandle<()>>>>,
}

/// Gives the address of what it holds, after it has checked that it stays there.
async fn unmoved<const BYTES: usize>() -> usize {
    let held = [0_u8; BYTES];
    let at = std::ptr::from_ref(&held).addr();
    for _ in 0..3 {
        yield_now().await;
        assert_eq!(std::ptr::from_ref(&held).addr(), at);
    }
    at
}

#[test]
fn futures_of_all_sizes_stay_where_they_are_and_are_dropped_once() {
    fn spawn<const BYTES: usize>(ex: &Executor, drops: &Count) {
        let guarded = || {
            let guard = drops.guard();
            async move {
                let _guard = guard;
                unmoved::<BYTES>().await
            }
        };
        let before = drops.get();
        ex.block_on(async {
            let tasks = [
                ex.spawn(guarded()),
                ex.default_queue().try_spawn(guarded()).expect("there is room"),
                spawn_local(guarded()),
            ];
            for task in tasks {
                assert_ne!(task.await.unwrap(), 0);
            }
            // Never polled.
            ex.spawn(guarded()).abort();
        });
        settle(ex);
        assert_eq!(drops.get() - before, 4);
    }
    let drops = Count::default();
    spawn::<1>(&untimed(), &drops);
    spawn::<500>(&untimed(), &drops);
    spawn::<{ 16 << 10 }>(&untimed(), &drops);
    spawn::<{ 64 << 10 }>(&untimed(), &drops);
}

#[test]
fn a_task_that_holds_all_there_is_goes_with_the_executor() {
    let drops = Count::default();
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(Las::new()).create().unwrap();
    let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
    let join: Rc<RefCell<Vec<JoinHandle<()>>>> = Rc::default();
    for _ in 0..2 {
        let slot: Rc<RefCell<Option<Everything>>> = Rc::default();
        let (inside, guard) = (Rc::clone(&slot), drops.guard());
        let task = queue.group(1).spawn(poll_fn(move |cx| {
            let _guard = &guard;
            if let Some(all) = &*inside.borrow() {
                all.wakers.borrow_mut().push(cx.waker().clone());
            }
            Poll::<()>::Pending
        }));
        slot.replace(Some(Everything {
            queue: queue.clone(),
            group: queue.group(1),
            handle: ex.handle(),
            abort: task.abort_handle(),
            wakers: Rc::clone(&wakers),
            join: Rc::clone(&join),
        }));
        join.borrow_mut().push(task);
    }
    settle(&ex);
    let watch = (Rc::downgrade(&wakers), Rc::downgrade(&join));
    drop((wakers, join, queue));
    assert_eq!((drops.get(), watch.0.strong_count(), watch.1.strong_count()), (0, 2, 2));
    drop(ex);
    assert_eq!((drops.get(), watch.0.strong_count(), watch.1.strong_count()), (2, 0, 0));
}

#[test]
fn two_tasks_that_hold_each_others_wakers_are_freed_when_they_end() {
    for aborted in [false, true] {
        let drops = Count::default();
        let ex = untimed();
        let slots: [Rc<RefCell<Vec<Waker>>>; 2] = Default::default();
        let tasks: Vec<JoinHandle<()>> = (0..2)
            .map(|i| {
                let (own, other) = (Rc::clone(&slots[i]), Rc::clone(&slots[1 - i]));
                let (guard, mut polls) = (drops.guard(), 0);
                ex.spawn(poll_fn(move |cx| {
                    let _held = (&guard, &own);
                    other.borrow_mut().push(cx.waker().clone());
                    polls += 1;
                    if polls < 3 || aborted { Poll::Pending } else { Poll::Ready(()) }
                }))
            })
            .collect();
        settle(&ex);
        for _ in 0..2 {
            let wakers: Vec<Waker> = slots.iter().flat_map(|slot| slot.borrow().clone()).collect();
            wakers.into_iter().for_each(Waker::wake);
            settle(&ex);
        }
        if aborted {
            tasks.iter().for_each(JoinHandle::abort);
            settle(&ex);
        }
        assert_eq!((drops.get(), ex.stats().live), (2, 0), "the futures went, whoever holds the cells");
        drop(tasks);
        let watch = slots.each_ref().map(Rc::downgrade);
        drop(slots);
        assert!(watch.iter().all(|slot| slot.strong_count() == 0));
    }
}

#[test]
fn two_tasks_that_wait_for_each_other_can_be_told_apart_by_aborting_one() {
    let drops = Count::default();
    let ex = untimed();
    let slots: [Rc<RefCell<Option<JoinHandle<bool>>>>; 2] = Default::default();
    let tasks = [0, 1].map(|i| {
        let (other, guard) = (Rc::clone(&slots[1 - i]), drops.guard());
        ex.spawn(async move {
            let _guard = guard;
            clockworker::yield_now().await;
            let other = other.take().expect("set below");
            other.await.is_err()
        })
    });
    let aborts = tasks.each_ref().map(JoinHandle::abort_handle);
    for (slot, task) in slots.iter().zip(tasks) {
        slot.replace(Some(task));
    }
    settle(&ex);
    assert_eq!((drops.get(), ex.stats().live), (0, 2));
    aborts[0].abort();
    settle(&ex);
    // The other one was told, and ended.
    assert_eq!((drops.get(), ex.stats().live, ex.stats().completed), (2, 0, 1));
}

#[test]
fn an_output_may_hold_the_executors_own_things() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let held = Rc::new(());
    let inside = Rc::clone(&held);
    let task = queue.clone().spawn(async move {
        let child = spawn_local(hold(inside));
        (child, queue)
    });
    settle(&ex);
    drop(ex);
    assert_eq!(Rc::strong_count(&held), 1, "the child went with the executor");
    let (child, queue) = output(task).unwrap();
    assert!(output(child).unwrap_err().is_cancelled());
    assert!(output(queue.spawn(async {})).unwrap_err().is_refused());
}

#[test]
fn an_executor_held_by_its_own_task_goes_when_the_task_does() {
    // The one cycle that there is: nothing but the task's end can break it.
    let drops = Count::default();
    let ex = Rc::new(untimed());
    let watch = Rc::downgrade(&ex);
    let guard = drops.guard();
    let own = Rc::clone(&ex);
    let task = ex.spawn(hold((own, guard)));
    settle(&ex);
    task.abort();
    settle(&ex);
    assert_eq!((drops.get(), Rc::strong_count(&ex)), (1, 1));
    drop(ex);
    assert!(watch.upgrade().is_none());
}

#[test]
fn what_is_left_goes_in_any_order() {
    for order in 0..24 {
        let ex = untimed();
        let queue = ex.new_queue("q").create().unwrap();
        let kept: Rc<RefCell<Option<Waker>>> = Rc::default();
        let slot = Rc::clone(&kept);
        let task = queue.group(2).spawn(poll_fn(move |cx| {
            slot.replace(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }));
        settle(&ex);
        let (group, abort, waker) = (queue.group(2), task.abort_handle(), kept.take());
        let mut left: Vec<Box<dyn FnOnce()>> = vec![
            Box::new(move || drop(ex)),
            Box::new(move || drop((queue, group))),
            Box::new(move || drop(task)),
            Box::new(move || {
                abort.abort();
                waker.into_iter().for_each(Waker::wake);
            }),
        ];
        for radix in [(order / 6) % 4, (order / 2) % 3, order % 2, 0] {
            left.remove(radix)();
        }
        assert!(kept.take().is_none());
    }
}

thread_local! {
    static EXECUTOR: OnceCell<Executor> = const { OnceCell::new() };
    static QUEUE: OnceCell<(Queue, Group)> = const { OnceCell::new() };
    static HANDLE: OnceCell<Handle> = const { OnceCell::new() };
    static KEPT: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
    static TESTIMONY: OnceCell<Testimony> = const { OnceCell::new() };
}

/// Uses what it finds when it is dropped, and says that it could.
struct Testimony(mpsc::Sender<u32>);

impl Drop for Testimony {
    fn drop(&mut self) {
        use_all();
        let _ = self.0.send(1);
    }
}

/// Uses each of the thread's things that is still there. Spawns are taken or refused.
fn use_all() {
    let _ = QUEUE.try_with(|queue| {
        if let Some((queue, group)) = queue.get() {
            let _ = poll_once(&mut queue.spawn(async {}));
            let _ = poll_once(&mut group.clone().spawn(async {}));
            let _ = queue.stats();
        }
    });
    let _ = HANDLE.try_with(|handle| {
        if let Some(handle) = handle.get() {
            let _ = poll_once(&mut handle.spawn(|| async {}));
            let _ = handle.is_stopped();
        }
    });
    let _ = KEPT.try_with(|kept| kept.take().into_iter().for_each(Waker::wake));
    let _ = EXECUTOR.try_with(|ex| ex.get().map(|ex| drop(ex.spawn(async {}))));
    let _ = clockworker::should_yield();
}

#[test]
fn queues_groups_handles_and_wakers_in_thread_locals_outlive_the_executor_or_not() {
    // Thread-locals are destroyed in an order that depends on the order of their first use.
    let touch: [fn(); 5] = [
        || EXECUTOR.with(|ex| drop(ex.get_or_init(Executor::new).stats())),
        || QUEUE.with(|_| {}),
        || HANDLE.with(|_| {}),
        || KEPT.with(|kept| kept.borrow_mut().clear()),
        || TESTIMONY.with(|_| {}),
    ];
    for order in 0..120 {
        let (say, said) = mpsc::channel();
        let end = thread::spawn(move || {
            let mut left: Vec<usize> = (0..5).collect();
            for radix in [(order / 24) % 5, (order / 6) % 4, (order / 2) % 3, order % 2, 0] {
                touch[left.remove(radix)]();
            }
            TESTIMONY.with(|testimony| drop(testimony.set(Testimony(say.clone()))));
            EXECUTOR.with(|ex| {
                let ex = ex.get().expect("made above");
                let queue = ex.new_queue("q").create().unwrap();
                let group = queue.group(1);
                for _ in 0..2 {
                    let say = say.clone();
                    let guard = OnDrop::new(move || {
                        use_all();
                        let _ = say.send(10);
                    });
                    drop(group.spawn(poll_fn(move |cx| {
                        let _guard = &guard;
                        KEPT.with(|kept| kept.borrow_mut().push(cx.waker().clone()));
                        Poll::<()>::Pending
                    })));
                }
                settle(ex);
                QUEUE.with(|slot| drop(slot.set((queue, group))));
                HANDLE.with(|slot| drop(slot.set(ex.handle())));
            });
        });
        end.join().expect("nothing panics while the thread ends");
        assert_eq!(said.into_iter().sum::<u32>(), 21, "order {order}: two tasks and one testimony");
    }
}

#[test]
fn a_waker_in_a_thread_local_is_used_after_its_tasks_executor_is_gone() {
    struct Late(Option<Waker>, mpsc::Sender<()>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.take().expect("it was polled").wake();
            let _ = self.1.send(());
        }
    }
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let ex = untimed();
        let task = ex.spawn(poll_fn(move |cx| {
            LATE.set(Some(Late(Some(cx.waker().clone()), say.clone())));
            Poll::Ready(())
        }));
        ex.block_on(task).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(said.into_iter().count(), 1);
}

/// A scheduler that holds queues, its own among them.
struct Holds(#[allow(dead_code, reason = "it is held")] Rc<RefCell<Vec<Queue>>>);

impl Scheduler for Holds {
    fn push(&mut self, _task: Task, _why: Ready) {}

    fn pop(&mut self) -> Option<TaskId> {
        None
    }
}

#[test]
fn a_scheduler_that_holds_queues_goes_with_the_executor_or_with_its_queue() {
    for closed in [false, true] {
        let ex = untimed();
        let held = Rc::new(RefCell::new(vec![ex.default_queue().clone()]));
        let scheduler = Rc::downgrade(&held);
        let queue = ex.new_queue("q").scheduler(Holds(Rc::clone(&held))).create().unwrap();
        held.borrow_mut().push(queue.clone());
        drop(held);
        assert_eq!(scheduler.strong_count(), 1);
        if closed {
            queue.close();
        } else {
            drop(ex);
        }
        assert_eq!(scheduler.strong_count(), 0);
    }
}
