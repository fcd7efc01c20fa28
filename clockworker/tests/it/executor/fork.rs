//! A child process made by `fork` has a copy of the executor, and is told so wherever it uses it. Its parent goes on.
//!
//! Each test runs in a process of its own, so that it forks one with a single thread where it does not start more itself.

#![allow(unsafe_code, reason = "forking and leaving a child are calls of the C library")]

mod of_its_own;

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use clockworker::{Cap, Executor, JoinError, JoinHandle, JoinSet, Queue, spawn_local, yield_now};

use crate::support::{
    CountingWaker, OnDrop, Probe, caught, complaint_of, hold, in_child, output, poll_once, quietly, settle,
    untimed,
};

/// What every error and every panic in a child says.
const FORKED: &str = "the process that this one was forked from";

/// Seconds until a child that hangs is ended.
const PATIENCE: u32 = 60;

/// Which process this is, after a fork.
enum Forked {
    Parent(Parent),
    Child(Child),
}

/// The parent's end.
struct Parent {
    pid: libc::pid_t,
    says: PipeReader,
}

impl Parent {
    /// Waits for the child, and panics if it did.
    #[track_caller]
    fn read(mut self) {
        let mut word = String::new();
        self.says.read_to_string(&mut word).unwrap();
        // SAFETY: no status is asked for.
        let waited = unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
        assert_eq!(waited, self.pid);
        assert_eq!(word, AS_IT_SHOULD_BE, "nothing is said by a child that crashes or hangs");
    }
}

/// The child's end.
struct Child {
    tells: PipeWriter,
}

impl Child {
    /// Ends this process. The parent hears of a panic.
    fn end(mut self, last: impl FnOnce()) -> ! {
        let word = caught(last).map_or_else(|said| said, |()| AS_IT_SHOULD_BE.to_owned());
        let _ = self.tells.write_all(word.as_bytes());
        // SAFETY: no condition. What the test harness does at an exit is for the parent to do.
        unsafe { libc::_exit(0) }
    }
}

const AS_IT_SHOULD_BE: &str = "as it should be";

/// Forks; both processes go on.
fn fork_and_go_on() -> Forked {
    let (says, tells) = io::pipe().unwrap();
    // SAFETY: the child does what the test asks for, which takes no lock that another thread may hold, and ends.
    match unsafe { libc::fork() } {
        -1 => panic!("{}", io::Error::last_os_error()),
        0 => {
            // SAFETY: no condition.
            unsafe { libc::alarm(PATIENCE) };
            Forked::Child(Child { tells })
        }
        pid => Forked::Parent(Parent { pid, says }),
    }
}

/// Runs `child` in a copy of this process, and waits for its end.
#[track_caller]
fn fork(child: impl FnOnce()) {
    match fork_and_go_on() {
        Forked::Child(report) => report.end(|| quietly(child)),
        Forked::Parent(report) => report.read(),
    }
}

/// It panics, and says why.
#[track_caller]
fn assert_panics<T>(then: impl FnOnce() -> T) {
    let message = complaint_of(then);
    assert!(message.contains(FORKED), "{message}");
}

#[track_caller]
fn assert_refused<T>(task: JoinHandle<T>) {
    let Err(error) = output(task) else { panic!("an output") };
    assert!(error.is_refused() && error.is_cancelled() && error.to_string().contains(FORKED), "{error}");
}

#[track_caller]
fn assert_left_behind<T>(result: Poll<Result<T, JoinError>>) {
    let Poll::Ready(Err(error)) = result else { panic!("no error") };
    assert!(error.is_cancelled() && !error.is_refused() && error.to_string().contains(FORKED), "{error}");
}

/// The executor takes and runs tasks as ever.
#[track_caller]
fn assert_usable(ex: &Executor) {
    let task = ex.spawn(async { spawn_local(async { 42 }).await.unwrap() });
    let remote = ex.handle().spawn(|| async { 43 });
    settle(ex);
    assert_eq!((output(task).unwrap(), output(remote).unwrap()), (42, 43));
    ex.new_queue("created").create().unwrap().close();
}

/// In the child a waiter is told; in the parent it goes on waiting, and is woken for the parent's room only.
#[test]
fn waiting_for_room_ends_in_the_child_alone() {
    in_child(|| {
        let ex = untimed();
        let queue = ex.new_queue("full").max_live(1).create().unwrap();
        let task = queue.try_spawn(pending::<()>()).unwrap();
        let (wakes, waker) = CountingWaker::new();
        let mut cx = Context::from_waker(&waker);
        let mut waiters = [1, 2].map(|output| queue.spawn_when_room(ready(output)));
        assert!(waiters.iter_mut().all(|waiter| pin!(waiter).poll(&mut cx).is_pending()));
        match fork_and_go_on() {
            Forked::Child(report) => report.end(|| {
                let error = queue.try_spawn(async {}).unwrap_err();
                assert!(error.is_stopped() && error.to_string().contains(FORKED), "{error}");
                let Poll::Ready(Err(error)) = pin!(&mut waiters[0]).poll(&mut cx) else { panic!("no error") };
                assert!(error.is_stopped(), "{error}");
                drop(ex);
                drop(waiters);
                assert_eq!(wakes.count(), 0, "the host is the parent's");
            }),
            Forked::Parent(report) => report.read(),
        }
        task.abort();
        settle(&ex);
        assert_eq!(wakes.count(), 1);
        let Poll::Ready(Ok(_)) = pin!(&mut waiters[0]).poll(&mut cx) else { panic!("it was called") };
    });
}

#[test]
fn running_it_is_a_panic() {
    in_child(|| {
        let ex = untimed();
        let task = ex.spawn(async { 1 });
        fork(|| {
            assert_panics(|| ex.block_on(async {}));
            assert_panics(|| poll_once(&mut ex.run_until(pending::<()>())));
            assert_panics(|| poll_once(&mut pin!(ex.shutdown(pending::<()>()))));
            assert_panics(|| ex.block_on_shutdown(async {}));
            assert_panics(|| poll_once(&mut pin!(ex.drained())));
            assert_eq!((ex.stats().live, ex.stats().polls), (1, 0), "and nothing happened");
        });
        assert_usable(&ex);
        assert_eq!(output(task).unwrap(), 1);
    });
}

#[test]
fn going_on_with_a_run_is_a_panic_and_the_parent_goes_on() {
    in_child(|| {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        {
            let mut run = pin!(ex.run_until(task));
            assert!(poll_once(&mut run).is_pending());
            fork(|| {
                probe.finish();
                assert_panics(|| poll_once(&mut run));
                assert_panics(|| poll_once(&mut ex.run_until(pending::<()>())));
                assert_eq!(probe.polls.get(), 1);
            });
            probe.finish();
            let Poll::Ready(result) = poll_once(&mut run) else { panic!("not finished") };
            assert_eq!(result.unwrap(), 2);
        }
        assert_usable(&ex);
    });
}

#[test]
fn spawning_gives_an_error() {
    in_child(|| {
        let ex = untimed();
        let queue = ex.new_queue("other").create().unwrap();
        let (group, handle) = (queue.group(7), ex.handle());
        let probe = Probe::new();
        fork(|| {
            assert_refused(ex.spawn(probe.future()));
            assert_refused(queue.spawn(probe.future()));
            assert_refused(group.spawn(probe.future()));
            let entered = ex.enter();
            assert_refused(spawn_local(probe.future()));
            drop(entered);
            assert_refused(handle.spawn(|| async { 1 }));
            assert_refused(handle.spawn_on("other", || async { 1 }));
            assert_refused(handle.spawn_on("no such queue", || async { 1 }));
            assert!(handle.is_stopped() && !handle.has_queue("other"));
            assert_eq!((probe.polls.get(), probe.drops.get()), (0, 4));
            let error = ex.new_queue("third").create().unwrap_err();
            assert!(error.is_stopped() && error.to_string().contains(FORKED), "{error}");
            assert_eq!(
                (queue.set_share(2).unwrap_err(), queue.set_request(Duration::MAX).unwrap_err()),
                (error.clone(), error)
            );
            assert_eq!(queue.share(), 1);
            assert_eq!(ex.stats().spawned, 0);
        });
        assert!(!handle.is_stopped() && handle.has_queue("other"));
        assert_usable(&ex);
    });
}

#[test]
fn a_handle_that_is_awaited_says_that_its_task_stayed_behind() {
    in_child(|| {
        let ex = untimed();
        let mut finished = ex.spawn(async { 1 });
        settle(&ex);
        let probe = Probe::new();
        let (mut unpolled, mut waiting) = (ex.spawn(pending::<()>()), ex.spawn(probe.future()));
        settle(&ex);
        assert!(poll_once(&mut waiting).is_pending());
        fork(|| {
            assert!(matches!(poll_once(&mut finished), Poll::Ready(Ok(1))));
            assert_left_behind(poll_once(&mut unpolled));
            assert_left_behind(poll_once(&mut waiting));
            assert_left_behind(poll_once(&mut waiting));
            assert!(!waiting.is_finished());
            drop((unpolled, waiting));
        });
        assert_usable(&ex);
    });
}

#[test]
fn a_set_gives_what_had_finished_and_says_that_the_rest_stayed_behind() {
    in_child(|| {
        let ex = untimed();
        let probe = Probe::new();
        let mut set: JoinSet<u32> = [ex.spawn(async { 1 }), ex.spawn(probe.future())].into_iter().collect();
        let join = |set: &mut JoinSet<u32>| poll_once(&mut pin!(set.join_next())).map(Option::unwrap);
        assert!(join(&mut set).is_pending());
        settle(&ex);
        fork(|| {
            assert!(matches!(join(&mut set), Poll::Ready(Ok(1))));
            assert_left_behind(join(&mut set));
            assert!(set.is_empty());
        });
        assert!(matches!(join(&mut set), Poll::Ready(Ok(1))));
        assert!(join(&mut set).is_pending());
        probe.finish();
        settle(&ex);
        assert!(matches!(join(&mut set), Poll::Ready(Ok(2))));
        assert_usable(&ex);
    });
}

#[test]
fn asking_gives_an_error() {
    in_child(|| {
        let ex = untimed();
        let handle = ex.handle();
        let mut asked = Box::pin(handle.stats());
        assert!(poll_once(&mut asked).is_pending());
        fork(|| {
            for question in [&mut asked, &mut Box::pin(handle.stats())] {
                let Poll::Ready(Err(error)) = poll_once(question) else { panic!("no error") };
                assert!(
                    error.is_forked() && !error.is_dropped() && error.to_string().contains(FORKED),
                    "{error}"
                );
            }
            #[cfg(feature = "observe")]
            assert_eq!(ex.dump().tasks, []);
        });
        settle(&ex);
        assert!(matches!(poll_once(&mut asked), Poll::Ready(Ok(_))));
    });
}

#[test]
fn dropping_it_drops_the_copies_of_its_futures() {
    in_child(|| {
        let mut ex = Some(untimed());
        let executor = ex.as_ref().unwrap();
        let (parked, arriving) = (Probe::new(), Probe::new());
        let mut task = executor.spawn(parked.future());
        let mut others = vec![executor.spawn(arriving.future())];
        // Its drop wakes, spawns and creates.
        let drops = Rc::new(Cell::new(0));
        let (queue, handle) = (executor.default_queue().clone(), executor.handle());
        let wakes = OnDrop::new({
            let (parked, drops) = (Rc::clone(&parked), Rc::clone(&drops));
            move || {
                parked.waker().wake();
                let refused =
                    [queue.spawn(async { 1 }), spawn_local(async { 2 }), handle.spawn(|| async { 3 })];
                drops.set(if refused.into_iter().all(|task| output(task).is_err()) {
                    drops.get() + 1
                } else {
                    100
                });
                queue.close();
            }
        });
        executor.spawn(hold(wakes));
        settle(executor);
        arriving.waker().wake();
        others.push(executor.handle().spawn(|| async { 1 }));
        let late = parked.waker();
        fork(|| {
            drop(ex.take());
            assert_eq!((drops.get(), parked.drops.get(), arriving.drops.get()), (1, 1, 1));
            late.wake();
            assert!(matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_cancelled()));
            others.drain(..).for_each(|task| assert!(output(task).unwrap_err().is_cancelled()));
        });
        let ex = ex.unwrap();
        assert_eq!((drops.get(), parked.drops.get(), arriving.drops.get()), (0, 0, 0));
        assert_usable(&ex);
        assert_eq!(arriving.polls.get(), 2);
        assert_eq!(others.pop().map(output).unwrap().unwrap(), 1);
        drop(ex);
        assert_eq!((drops.get(), parked.drops.get(), arriving.drops.get()), (1, 1, 1));
    });
}

#[test]
fn nothing_in_it_wakes_the_parents_host() {
    in_child(|| {
        let ex = untimed();
        let queue = ex.default_queue().clone();
        let probe = Probe::new();
        let (wakes, host) = CountingWaker::new();
        let mut host = Context::from_waker(&host);
        let task = ex.spawn(probe.future());
        let main = Probe::new();
        let mut run = Some(Box::pin(ex.run_until(main.future())));
        assert!(run.as_mut().unwrap().as_mut().poll(&mut host).is_pending());
        fork(|| {
            probe.waker().wake();
            let waker = probe.waker();
            thread::spawn(move || waker.wake()).join().unwrap();
            task.abort();
            main.waker().wake();
            assert_refused(queue.spawn(async {}));
            queue.close();
            drop(run.take());
            assert_eq!(wakes.count(), 0);
        });
        assert_eq!(wakes.count(), 0);
        main.finish();
        assert_eq!(wakes.count(), 1, "there it is woken");
        assert!(run.take().unwrap().as_mut().poll(&mut host).is_ready());
        assert_usable(&ex);
    });
}

#[test]
fn a_task_that_forks_ends_the_childs_copy_of_the_run() {
    in_child(|| {
        let ex = untimed();
        let others = [Probe::new(), Probe::new()];
        let forked = Rc::new(Cell::new(None));
        let mut tasks = vec![ex.spawn(others[0].future())];
        let forks = ex.spawn({
            let forked = Rc::clone(&forked);
            async move {
                forked.set(Some(fork_and_go_on()));
                // Also a task that is ready again is not polled.
                clockworker::yield_now().await;
            }
        });
        tasks.push(ex.spawn(others[1].future()));
        let ran = caught(|| settle(&ex));
        let polls = others.each_ref().map(|other| other.polls.get());
        match forked.take().unwrap() {
            Forked::Child(report) => report.end(|| {
                assert!(ran.expect_err("a panic").contains(FORKED));
                assert_eq!(polls, [1, 0]);
                assert!(!forks.is_finished());
                assert_panics(|| ex.block_on(async {}));
            }),
            Forked::Parent(report) => report.read(),
        }
        ran.unwrap();
        assert_eq!(polls, [1, 1]);
        assert!(forks.is_finished());
        assert_usable(&ex);
    });
}

#[test]
fn a_task_that_forks_while_executors_are_entered_ends_the_childs_run() {
    in_child(|| {
        for (before, inside) in [(true, false), (false, true), (true, true)] {
            let (ex, entered) = (untimed(), Rc::new(untimed()));
            let _before = before.then(|| entered.enter());
            let other = Probe::new();
            let forked = Rc::new(Cell::new(None));
            drop(ex.spawn({
                let (forked, entered) = (Rc::clone(&forked), Rc::clone(&entered));
                async move {
                    let _inside = inside.then(|| entered.enter());
                    forked.set(Some(fork_and_go_on()));
                }
            }));
            let task = ex.spawn(other.future());
            let ran = caught(|| settle(&ex));
            match forked.take().unwrap() {
                Forked::Child(report) => report.end(|| {
                    assert!(ran.expect_err("a panic").contains(FORKED));
                    assert_eq!(other.polls.get(), 0);
                }),
                Forked::Parent(report) => report.read(),
            }
            ran.unwrap();
            assert_eq!(other.polls.get(), 1);
            other.finish();
            settle(&ex);
            assert!(task.is_finished());
        }
    });
}

#[test]
fn a_future_being_run_that_forks_ends_the_childs_copy_of_the_run() {
    in_child(|| {
        let ex = untimed();
        let other = Probe::new();
        let task = ex.spawn(other.future());
        let forked = Cell::new(None);
        let ran = caught(|| {
            poll_once(&mut ex.run_until(poll_fn(|_| {
                forked.set(Some(fork_and_go_on()));
                Poll::<()>::Pending
            })))
        });
        match forked.take().unwrap() {
            Forked::Child(report) => report.end(|| {
                assert!(ran.expect_err("a panic").contains(FORKED));
                assert_eq!(other.polls.get(), 0);
            }),
            Forked::Parent(report) => report.read(),
        }
        assert!(ran.unwrap().is_pending());
        assert_eq!(other.polls.get(), 1);
        drop(task);
        assert_usable(&ex);
    });
}

#[test]
fn a_future_that_forks_and_is_done_at_once_is_done_in_both() {
    in_child(|| {
        let ex = untimed();
        match ex.block_on(async { fork_and_go_on() }) {
            Forked::Child(report) => report.end(|| assert_panics(|| ex.block_on(async {}))),
            Forked::Parent(report) => report.read(),
        }
        assert_usable(&ex);
    });
}
