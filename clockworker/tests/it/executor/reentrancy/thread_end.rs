//! Thread-locals, while their thread ends.

use std::cell::{OnceCell, RefCell};
use std::env;
use std::future::poll_fn;
use std::process::{Command, exit};
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, should_yield, spawn_local};

use crate::support::{OnDrop, poll_once, settle};

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

/// On glibc, `exit` destroys the thread's locals: the executor is torn down inside the poll of its task.
#[test]
fn a_task_may_end_the_process_while_its_executor_is_in_a_thread_local() {
    const CHILD: &str = "CLOCKWORKER_TEST_EXITS";
    const NAME: &str =
        "executor::reentrancy::thread_end::a_task_may_end_the_process_while_its_executor_is_in_a_thread_local";
    thread_local! {
        static KEPT: Executor = Executor::new();
    }
    if env::var_os(CHILD).is_some() {
        let exits = async || {
            if env::var_os(CHILD).is_some() {
                exit(7)
            }
        };
        KEPT.with(|ex| ex.block_on(async { ex.spawn(exits()).await.unwrap() }));
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--test-threads=1"])
        .env(CHILD, "1")
        .output();
    let child = child.unwrap();
    assert_eq!(child.status.code(), Some(7), "{}", String::from_utf8_lossy(&child.stderr));
}
