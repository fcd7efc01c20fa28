//! Thread-locals, while their thread ends.

use std::cell::{OnceCell, RefCell};
use std::env;
use std::future::poll_fn;
use std::process::{Command, exit};
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, Group, Handle, JoinHandle, Queue, should_yield, spawn_local};

use crate::support::{OnDrop, orders, poll_once, settle};

thread_local! {
    static EXECUTOR: OnceCell<Executor> = const { OnceCell::new() };
    static QUEUE: OnceCell<(Queue, Group)> = const { OnceCell::new() };
    static HANDLE: OnceCell<Handle> = const { OnceCell::new() };
    static WAKERS: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
    static TASKS: RefCell<Vec<(JoinHandle<()>, AbortHandle)>> = const { RefCell::new(Vec::new()) };
    static LATE: OnceCell<LateUse> = const { OnceCell::new() };
}

/// Uses what is left in thread-locals when the thread ends, and says that it could.
struct LateUse(mpsc::Sender<&'static str>);

impl Drop for LateUse {
    fn drop(&mut self) {
        use_all();
        let _ = self.0.send("late");
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
    let _ = WAKERS.try_with(|wakers| wakers.borrow().iter().for_each(Waker::wake_by_ref));
    let _ = TASKS.try_with(|tasks| tasks.borrow().iter().for_each(|(_, abort)| abort.abort()));
    let _ = EXECUTOR.try_with(|ex| ex.get().map(|ex| drop(ex.spawn(async {}))));
    let _ = should_yield();
}

/// A task that, while its thread ends, uses all there is and spawns, and says how it went.
async fn last_words(say: mpsc::Sender<&'static str>) {
    let guard = OnDrop::new(move || {
        use_all();
        let mut task = spawn_local(async {});
        let refused = matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_refused());
        let _ = say.send(if refused { "refused" } else { "spawned" });
    });
    poll_fn(|cx| {
        WAKERS.with_borrow_mut(|wakers| wakers.push(cx.waker().clone()));
        Poll::<()>::Pending
    })
    .await;
    drop(guard);
}

/// Thread-locals are destroyed in an order that depends on the order of their first use.
#[test]
fn what_is_in_thread_locals_is_dropped_with_its_thread_in_any_order() {
    const TOUCH: [fn(); 6] = [
        || EXECUTOR.with(|ex| drop(ex.get_or_init(Executor::new).stats())),
        || QUEUE.with(|_| {}),
        || HANDLE.with(|_| {}),
        || WAKERS.with(|_| {}),
        || TASKS.with(|_| {}),
        || LATE.with(|_| {}),
    ];
    for order in orders(TOUCH.len()) {
        let (say, said) = mpsc::channel();
        let first_uses = order.clone();
        let thread = thread::spawn(move || {
            first_uses.into_iter().for_each(|at| TOUCH[at]());
            LATE.with(|late| drop(late.set(LateUse(say.clone()))));
            EXECUTOR.with(|ex| {
                let ex = ex.get().expect("made above");
                let queue = ex.new_queue("q").create().unwrap();
                let group = queue.group(1);
                for _ in 0..2 {
                    let task = group.spawn(last_words(say.clone()));
                    let abort = task.abort_handle();
                    TASKS.with_borrow_mut(|tasks| tasks.push((task, abort)));
                }
                settle(ex);
                QUEUE.with(|slot| drop(slot.set((queue, group))));
                HANDLE.with(|slot| drop(slot.set(ex.handle())));
            });
        });
        thread.join().expect("nothing panics while the thread ends");
        let mut said: Vec<_> = said.into_iter().collect();
        said.sort_unstable();
        assert_eq!(said, ["late", "refused", "refused"], "order {order:?}");
    }
}

/// On glibc, `exit` destroys the thread's locals: the executor is torn down inside the poll of its task.
#[test]
fn a_task_may_end_the_process_while_its_executor_is_in_a_thread_local() {
    const CHILD: &str = "CLOCKWORKER_TEST_EXITS";
    const NAME: &str = "a_task_may_end_the_process_while_its_executor_is_in_a_thread_local";
    thread_local! {
        static KEPT: Executor = Executor::new();
    }
    if env::var_os(CHILD).is_some() {
        KEPT.with(|ex| ex.block_on(async { ex.spawn(async { exit(7) }).await.unwrap() }));
    }
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child.args([NAME, "--test-threads=1"]).env(CHILD, "1").output().unwrap();
    assert_eq!(child.status.code(), Some(7), "{}", String::from_utf8_lossy(&child.stderr));
}
