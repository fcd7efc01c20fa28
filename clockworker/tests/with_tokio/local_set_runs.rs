//! Several runs of one `LocalSet` at once: beside each other, inside each other, ended in any order. No wake may be lost,
//! and no host woken for nothing for ever.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use clockworker::compat::{JoinHandle, LocalSet, spawn_local, yield_now};
use futures::channel::oneshot;

use crate::support::{
    CountingWaker, Probe, WakerCall, bad_waker, complaint_of, poll_once, poll_with, yields,
};

fn untimed() -> LocalSet {
    LocalSet::from(crate::support::untimed())
}

/// A task and its probe.
fn probed(local: &LocalSet) -> (Rc<Probe>, JoinHandle<u32>) {
    crate::support::probed(local.executor())
}

/// A host of its own for a run.
struct Host<'a, T> {
    run: Pin<Box<dyn Future<Output = T> + 'a>>,
    wakes: Arc<CountingWaker>,
    waker: Waker,
    seen: usize,
}

impl<'a, T> Host<'a, T> {
    fn of(run: impl Future<Output = T> + 'a) -> Self {
        let (wakes, waker) = CountingWaker::new();
        Self { run: Box::pin(run), waker, wakes, seen: 0 }
    }

    fn poll(&mut self) -> Poll<T> {
        self.seen = self.wakes.count();
        poll_with(&mut self.run, &self.waker)
    }

    fn is_woken(&self) -> bool {
        self.wakes.count() > self.seen
    }

    /// Polls as a host would: while woken.
    fn settle(&mut self) -> Poll<T> {
        settle_both(self, &mut Host::of(pending::<()>())).0
    }
}

/// Polls both while either is woken.
fn settle_both<A, B>(one: &mut Host<'_, A>, other: &mut Host<'_, B>) -> (Poll<A>, Poll<B>) {
    let mut done = (Poll::Pending, Poll::Pending);
    for _ in 0..1_000 {
        if done.0.is_pending() && one.is_woken() {
            done.0 = one.poll();
        } else if done.1.is_pending() && other.is_woken() {
            done.1 = other.poll();
        } else {
            return done;
        }
    }
    panic!("they are woken for ever");
}

/// While a run is the only one it relies on driving. A second one has it look again, or a wake of its future would reach the
/// second one's host alone.
#[test]
fn a_run_hears_of_its_futures_wake_although_another_drives() {
    let local = untimed();
    let (a, b) = (Probe::new(), Probe::new());
    let (mut one, mut other) = (Host::of(local.run_until(a.future())), Host::of(local.run_until(b.future())));
    assert!(one.poll().is_pending());
    // Drives from now on: what comes for the executor wakes its host.
    assert!(other.poll().is_pending());
    a.finish();
    assert!(one.is_woken(), "although the other one drove last");
    assert_eq!(settle_both(&mut one, &mut other), (Poll::Ready(2), Poll::Pending));
    b.finish();
    assert_eq!(other.settle(), Poll::Ready(2));
    assert_eq!((a.polls.get(), b.polls.get()), (2, 2), "nobody was polled for the other's sake");
}

#[test]
fn runs_go_on_when_the_one_that_drove_is_dropped() {
    let local = untimed();
    let ((a, one), (b, other)) = (probed(&local), probed(&local));
    let (mut one, mut other) = (Host::of(local.run_until(one)), Host::of(local.run_until(other)));
    let mut drives = Host::of(local.run_until(pending::<()>()));
    assert!(one.poll().is_pending() && other.poll().is_pending() && drives.poll().is_pending());
    assert!(!one.is_woken() && !other.is_woken());
    drop(drives);
    assert!(one.is_woken() && other.is_woken(), "either may have to drive");
    let _ = settle_both(&mut one, &mut other);
    a.finish();
    b.finish();
    let done = settle_both(&mut one, &mut other);
    assert!(done.0.is_ready() && done.1.is_ready());
}

#[test]
fn a_run_goes_on_when_the_one_that_drove_is_done_and_kept() {
    let local = untimed();
    let (b, task) = probed(&local);
    let a = Probe::new();
    let (mut stays, mut done) = (Host::of(local.run_until(task)), Host::of(local.run_until(a.future())));
    assert!(stays.poll().is_pending() && done.poll().is_pending());
    a.finish();
    assert!(done.settle().is_ready());
    assert!(stays.is_woken(), "it has to drive");
    assert!(stays.settle().is_pending());
    b.finish();
    assert!(stays.settle().is_ready());
    drop(done);
}

#[test]
fn a_run_goes_on_when_the_one_that_drove_is_kept_but_not_polled() {
    let local = untimed();
    let mut forgotten = Host::of(local.run_until(pending::<()>()));
    assert!(forgotten.poll().is_pending());
    let task = local.spawn_local(async { yield_now().await });
    let mut run = Host::of(local.run_until(async { task.await.unwrap() }));
    assert!(run.poll().is_ready() || run.settle().is_ready());
}

/// Wakes that come while nobody is polled reach the host that drove last, and once.
#[test]
fn an_idle_set_wakes_one_host_once() {
    let local = untimed();
    let (probe, _) = probed(&local);
    let mut one = Host::of(local.run_until(pending::<()>()));
    let mut other = Host::of(local.run_until(pending::<()>()));
    assert!(one.poll().is_pending() && other.poll().is_pending());
    let _ = settle_both(&mut one, &mut other);
    let before = one.wakes.count() + other.wakes.count();
    probe.waker().wake();
    probe.waker().wake();
    assert_eq!(one.wakes.count() + other.wakes.count() - before, 1);
    let _ = settle_both(&mut one, &mut other);
    assert_eq!(probe.polls.get(), 2);
}

#[test]
fn a_run_inside_a_task_of_the_same_set_rides() {
    let local = Rc::new(untimed());
    let inner = Rc::clone(&local);
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&log);
    let task = local.spawn_local(async move {
        let inside = Rc::clone(&seen);
        inner
            .run_until(async move {
                inside.borrow_mut().push("inside");
                let child = spawn_local(async { 7 });
                inside.borrow_mut().push("spawned");
                assert_eq!(child.await.unwrap(), 7);
            })
            .await;
        seen.borrow_mut().push("outside");
    });
    assert!(Host::of(local.run_until(task)).poll().is_ready());
    assert_eq!(*log.borrow(), ["inside", "spawned", "outside"]);
}

/// The run inside is given to a task, whose driver ends; the next driver carries it on.
#[test]
fn a_run_inside_a_task_survives_its_driver() {
    let local = Rc::new(untimed());
    let (inner, probe) = (Rc::clone(&local), Probe::new());
    let waits = probe.future();
    let task = local.spawn_local(async move { inner.run_until(waits).await });
    let mut first = Host::of(local.run_until(pending::<()>()));
    assert!(first.poll().is_pending());
    drop(first);
    probe.finish();
    assert!(Host::of(local.run_until(task)).poll().is_ready());
}

#[test]
fn runs_inside_each_other() {
    let local = untimed();
    let mut run = Host::of(local.run_until(async {
        let one = local.run_until(async { spawn_local(async { 1 }).await.unwrap() });
        let two = local.run_until(async { spawn_local(async { 2 }).await.unwrap() });
        let (one, two) = futures::join!(one, two);
        one + two + local.run_until(async { spawn_local(async { 4 }).await.unwrap() }).await
    }));
    let polled = run.poll();
    let polled = if polled.is_ready() { polled } else { run.settle() };
    assert_eq!(polled, Poll::Ready(7));
}

/// The set awaited as a future beside a run, both to the end.
#[test]
fn a_set_awaited_is_ready_when_it_is_empty_and_keeps_nothing_of_its_host() {
    let mut local = untimed();
    assert!(poll_once(&mut local).is_ready(), "there are no tasks");
    let (probe, _) = probed(&local);
    let mut host = Host::of(&mut local);
    let before = Arc::strong_count(&host.wakes);
    assert!(host.poll().is_pending() && !host.is_woken());
    probe.finish();
    assert!(host.settle().is_ready());
    assert_eq!(Arc::strong_count(&host.wakes), before);
    drop(host);
    // Dropped midway, it keeps its tasks.
    let (probe, task) = probed(&local);
    assert!(Host::of(&mut local).poll().is_pending());
    probe.finish();
    assert!(Host::of(&mut local).poll().is_ready());
    assert!(task.is_finished());
}

/// Beside another run, of which either may drive next, the waker of a run's host is left in two places.
#[test]
fn a_host_whose_waker_panics_when_cloned_is_woken_by_a_better_one() {
    for has_another in [false, true] {
        let local = untimed();
        let another = has_another.then(|| {
            let mut another = Box::pin(local.run_until(pending::<()>()));
            assert!(poll_once(&mut another).is_pending());
            another
        });
        let probe = Probe::new();
        let mut run = Host::of(local.run_until(probe.future()));
        let bad = bad_waker(&[WakerCall::Clone]);
        complaint_of(|| poll_with(&mut run.run, &bad.waker()));
        assert!(bad.is_done());
        for n in 1..=3 {
            assert!(run.poll().is_pending());
            // For its future, or for the executor that it drives.
            if has_another {
                probe.waker().wake();
            } else {
                local.spawn_local(async {});
            }
            assert_eq!(run.wakes.count(), n * (1 + usize::from(has_another)));
        }
        probe.finish();
        assert!(run.settle().is_ready());
        drop((run, another));
    }
}

#[test]
fn a_run_that_is_over_keeps_nothing_of_its_host_and_the_other_is_woken() {
    for (done, last) in [(false, false), (false, true), (true, false), (true, true)] {
        let local = untimed();
        let ((task, _), main) = (probed(&local), Probe::new());
        let mut stays = Host::of(local.run_until(pending::<()>()));
        let mut goes = Host::of(local.run_until(main.future()));
        let before = Arc::strong_count(&goes.wakes);
        assert!(goes.poll().is_pending() && stays.poll().is_pending());
        if last {
            assert!(goes.poll().is_pending(), "it drives last");
        }
        if done {
            main.finish();
            assert!(goes.settle().is_ready());
            assert_eq!(Arc::strong_count(&goes.wakes), before, "not dropped yet");
        }
        let Host { run, wakes, waker, .. } = goes;
        drop((run, waker));
        assert_eq!(Arc::strong_count(&wakes), 1, "done: {done}, it drove last: {last}");
        assert!(stays.settle().is_pending());
        task.waker().wake();
        assert!(stays.is_woken());
    }
}

/// A run dropped at each poll, beside one that goes on; and the other way round.
#[test]
fn runs_dropped_at_every_poll_lose_no_task() {
    for cut in 0..20 {
        let local = untimed();
        let finished = Rc::new(Cell::new(0));
        for i in 0..8 {
            let finished = Rc::clone(&finished);
            local.spawn_local(async move {
                yields(i).await;
                finished.set(finished.get() + 1);
            });
        }
        let mut stays = Host::of(local.run_until(local.executor().drained()));
        let mut dropped = Some(Host::of(local.run_until(pending::<()>())));
        let mut done = stays.poll().is_ready();
        let mut polls = 0;
        while !done {
            if let Some(host) = &mut dropped {
                if polls == 0 || host.is_woken() {
                    assert!(host.poll().is_pending());
                }
                polls += 1;
                if polls > cut {
                    dropped = None;
                }
            }
            if stays.is_woken() {
                done = stays.poll().is_ready();
            } else {
                assert!(dropped.is_some(), "it stalls after a drop at poll {cut}");
            }
        }
        assert_eq!(finished.get(), 8);
    }
}

/// A thread answers questions of two runs, thousands of times: none of the wakes may be lost, whichever drives.
#[test]
fn wakes_from_another_thread_reach_each_of_two_runs() {
    const ROUNDS: usize = 2_000;
    type Questions = mpsc::Sender<oneshot::Sender<()>>;
    async fn ask_all(questions: Questions) {
        for _ in 0..ROUNDS {
            let (answer, answered) = oneshot::channel();
            questions.send(answer).unwrap();
            answered.await.unwrap();
        }
    }
    let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let local = untimed();
    let (questions, asked) = mpsc::channel::<oneshot::Sender<()>>();
    let answerer = thread::spawn(move || asked.into_iter().for_each(|answer| answer.send(()).unwrap()));
    let asks_itself = ask_all(questions.clone());
    let in_a_task = async { spawn_local(ask_all(questions)).await.unwrap() };
    rt.block_on(async { futures::join!(local.run_until(asks_itself), local.run_until(in_a_task)) });
    answerer.join().unwrap();
}
