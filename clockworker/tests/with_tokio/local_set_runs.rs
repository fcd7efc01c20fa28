//! Several runs of one `LocalSet` at once: beside each other, inside each other, ended in any order. No wake may be lost,
//! and no host woken for nothing for ever.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::compat::{LocalSet, spawn_local, yield_now};
use futures::channel::oneshot;

use crate::support::{
    CountingWaker, HookedWaker, WakerCall, complaint_of, panic_as_meant, poll_once, yields,
};

fn untimed() -> LocalSet {
    LocalSet::from(crate::support::untimed())
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
        self.run.as_mut().poll(&mut Context::from_waker(&self.waker))
    }

    fn is_woken(&self) -> bool {
        self.wakes.count() > self.seen
    }

    /// Polls as a host would: while woken.
    fn settle(&mut self) -> Poll<T> {
        for _ in 0..1_000 {
            if !self.is_woken() {
                return Poll::Pending;
            }
            if let Poll::Ready(output) = self.poll() {
                return Poll::Ready(output);
            }
        }
        panic!("it is woken for ever");
    }
}

/// Polls both while either is woken.
fn settle_both<'a, T>(one: &mut Host<'a, T>, other: &mut Host<'a, T>) -> [Poll<T>; 2] {
    let mut done = [Poll::Pending, Poll::Pending];
    for _ in 0..1_000 {
        let mut idle = true;
        for (host, done) in [&mut *one, &mut *other].into_iter().zip(&mut done) {
            if done.is_pending() && host.is_woken() {
                idle = false;
                *done = host.poll();
            }
        }
        if idle {
            return done;
        }
    }
    panic!("they are woken for ever");
}

/// A future that is ready once told so, and counts its polls.
#[derive(Clone, Default)]
struct Gate {
    open: Rc<Cell<bool>>,
    polls: Rc<Cell<u32>>,
    waker: Rc<RefCell<Option<Waker>>>,
}

impl Gate {
    fn wait(&self) -> impl Future<Output = ()> + 'static {
        let gate = self.clone();
        poll_fn(move |cx| {
            gate.polls.set(gate.polls.get() + 1);
            *gate.waker.borrow_mut() = Some(cx.waker().clone());
            if gate.open.get() { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    fn open(&self) {
        self.open.set(true);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.borrow().clone();
        waker.expect("it was polled").wake();
    }
}

/// While a run is the only one it relies on driving. A second one has it look again, or a wake of its future would reach the
/// second one's host alone.
#[test]
fn a_run_that_was_the_only_one_hears_of_its_futures_wake_when_another_drives() {
    let local = untimed();
    let gates = [Gate::default(), Gate::default()];
    let mut first = Host::of(local.run_until(gates[0].wait()));
    assert!(first.poll().is_pending());
    let mut second = Host::of(local.run_until(gates[1].wait()));
    assert!(second.poll().is_pending());
    gates[0].open();
    assert!(first.is_woken());
    assert!(first.settle().is_ready());
    gates[1].open();
    assert!(second.settle().is_ready());
}

#[test]
fn each_run_is_woken_for_its_own_future() {
    let local = untimed();
    let (a, b) = (Gate::default(), Gate::default());
    let mut one = Host::of(local.run_until(a.wait()));
    let mut other = Host::of(local.run_until(b.wait()));
    assert!(one.poll().is_pending());
    // Drives from now on: what comes for the executor wakes its host.
    assert!(other.poll().is_pending());
    a.open();
    assert!(one.is_woken(), "although the other one drove last");
    assert_eq!(settle_both(&mut one, &mut other), [Poll::Ready(()), Poll::Pending]);
    b.open();
    assert_eq!(other.settle(), Poll::Ready(()));
    assert_eq!((a.polls.get(), b.polls.get()), (2, 2), "nobody was polled for the other's sake");
}

#[test]
fn runs_go_on_when_the_one_that_drove_is_dropped() {
    let local = untimed();
    let gates = [Gate::default(), Gate::default()];
    let [one, other] = gates.each_ref().map(|gate| local.spawn_local(gate.wait()));
    let (mut one, mut other) = (Host::of(local.run_until(one)), Host::of(local.run_until(other)));
    let mut drives = Host::of(local.run_until(pending::<()>()));
    assert!(one.poll().is_pending() && other.poll().is_pending() && drives.poll().is_pending());
    assert!(!one.is_woken() && !other.is_woken());
    drop(drives);
    assert!(one.is_woken() && other.is_woken(), "either may have to drive");
    let _ = settle_both(&mut one, &mut other);
    gates.iter().for_each(Gate::open);
    assert!(settle_both(&mut one, &mut other).iter().all(Poll::is_ready));
}

#[test]
fn a_run_goes_on_when_the_one_that_drove_is_done_and_kept() {
    let local = untimed();
    let (a, b) = (Gate::default(), Gate::default());
    let task = local.spawn_local(b.wait());
    let mut stays = Host::of(local.run_until(async { task.await.unwrap() }));
    let mut done = Host::of(local.run_until(a.wait()));
    assert!(stays.poll().is_pending() && done.poll().is_pending());
    a.open();
    assert!(done.settle().is_ready());
    assert!(stays.is_woken(), "it has to drive");
    assert!(stays.settle().is_pending());
    b.open();
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

/// Wakes that come while nobody is polled reach whoever drove last, and once.
#[test]
fn an_idle_set_wakes_one_host_once() {
    let local = untimed();
    let gate = Gate::default();
    local.spawn_local(gate.wait());
    let mut one = Host::of(local.run_until(pending::<()>()));
    let mut other = Host::of(local.run_until(pending::<()>()));
    assert!(one.poll().is_pending() && other.poll().is_pending());
    assert!(settle_both(&mut one, &mut other).iter().all(Poll::is_pending));
    let before = (one.wakes.count(), other.wakes.count());
    gate.wake();
    gate.wake();
    let after = (one.wakes.count(), other.wakes.count());
    assert_eq!((after.0 - before.0) + (after.1 - before.1), 1);
    let _ = settle_both(&mut one, &mut other);
    assert_eq!(gate.polls.get(), 2);
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
    let (inner, gate) = (Rc::clone(&local), Gate::default());
    let waits = gate.wait();
    let task = local.spawn_local(async move { inner.run_until(waits).await });
    let mut first = Host::of(local.run_until(pending::<()>()));
    assert!(first.poll().is_pending());
    drop(first);
    gate.open();
    let mut second = Host::of(local.run_until(task));
    assert!(second.poll().is_ready());
}

#[test]
fn runs_inside_each_other() {
    let local = untimed();
    let sum = Host::of(local.run_until(async {
        let one = local.run_until(async { spawn_local(async { 1 }).await.unwrap() });
        let two = local.run_until(async { spawn_local(async { 2 }).await.unwrap() });
        let (one, two) = futures::join!(one, two);
        one + two + local.run_until(async { spawn_local(async { 4 }).await.unwrap() }).await
    }))
    .settle_from_start();
    assert_eq!(sum, 7);
}

impl<T> Host<'_, T> {
    fn settle_from_start(mut self) -> T {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => match self.settle() {
                Poll::Ready(output) => output,
                Poll::Pending => panic!("it stalls"),
            },
        }
    }
}

#[test]
fn a_run_rides_while_the_executor_itself_is_run() {
    let local = untimed();
    let ex = local.executor();
    let gate = Gate::default();
    let mut native = Host::of(ex.run_until(pending::<()>()));
    assert!(native.poll().is_pending());
    let task = local.spawn_local(gate.wait());
    let mut run = Host::of(local.run_until(async { task.await.unwrap() }));
    assert!(run.poll().is_pending());
    assert!(settle_both_kinds(&mut native, &mut run).is_pending());
    gate.open();
    assert!(native.is_woken(), "it drives");
    assert!(settle_both_kinds(&mut native, &mut run).is_ready());
    // And takes over when that is gone.
    let task = local.spawn_local(async { yield_now().await });
    let mut run = Host::of(local.run_until(async { task.await.unwrap() }));
    assert!(run.poll().is_pending());
    drop(native);
    assert!(run.is_woken());
    assert!(run.settle().is_ready());
}

fn settle_both_kinds<A, B>(one: &mut Host<'_, A>, other: &mut Host<'_, B>) -> Poll<B> {
    for _ in 0..1_000 {
        if one.is_woken() {
            assert!(one.poll().is_pending());
        } else if other.is_woken() {
            if let Poll::Ready(output) = other.poll() {
                return Poll::Ready(output);
            }
        } else {
            return Poll::Pending;
        }
    }
    panic!("they are woken for ever");
}

/// The set awaited as a future beside a run, both to the end.
#[test]
fn a_set_awaited_is_ready_when_it_is_empty() {
    let mut local = untimed();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pin!(&mut local).poll(&mut cx).is_ready(), "there are no tasks");
    let gate = Gate::default();
    local.spawn_local(gate.wait());
    let mut host = Host::of(&mut local);
    assert!(host.poll().is_pending() && !host.is_woken());
    gate.open();
    assert!(host.settle().is_ready());
    drop(host);
    // Dropped midway, it keeps its tasks.
    let gate = Gate::default();
    let task = local.spawn_local(gate.wait());
    assert!(Host::of(&mut local).poll().is_pending());
    gate.open();
    assert!(Host::of(&mut local).poll().is_ready());
    assert!(task.is_finished());
}

/// The host of a run that drives registers its waker twice, that of one that rides once.
#[test]
fn a_host_whose_waker_panics_when_cloned_is_woken_when_it_has_a_better_one() {
    for rides in [false, true] {
        let local = untimed();
        let native = rides.then(|| {
            let mut native = Box::pin(local.executor().run_until(pending::<()>()));
            assert!(poll_once(&mut native).is_pending());
            native
        });
        let gate = Gate::default();
        let mut run = Host::of(local.run_until(gate.wait()));
        let hooked = HookedWaker::new(WakerCall::Clone, || panic_as_meant("the waker"));
        let waker = hooked.waker();
        complaint_of(|| run.run.as_mut().poll(&mut Context::from_waker(&waker)));
        assert!(hooked.is_done());
        for n in 1..=3 {
            assert!(run.poll().is_pending());
            // For its future, or for the executor that it drives.
            if rides {
                gate.wake();
            } else {
                local.spawn_local(async {});
            }
            assert_eq!(run.wakes.count(), n, "it rides: {rides}");
        }
        gate.open();
        assert!(run.settle().is_ready());
        drop((run, native));
    }
}

#[test]
fn a_run_that_is_over_keeps_nothing_of_its_host_and_the_other_is_woken_as_ever() {
    for (done, last) in [(false, false), (false, true), (true, false), (true, true)] {
        let local = untimed();
        let (gate, task) = (Gate::default(), Gate::default());
        local.spawn_local(task.wait());
        let mut stays = Host::of(local.run_until(pending::<()>()));
        let mut goes = Host::of(local.run_until(gate.wait()));
        let before = Arc::strong_count(&goes.wakes);
        assert!(goes.poll().is_pending() && stays.poll().is_pending());
        if last {
            assert!(goes.poll().is_pending(), "it drives last");
        }
        if done {
            gate.open();
            assert!(goes.settle().is_ready());
            assert_eq!(Arc::strong_count(&goes.wakes), before, "not dropped yet");
        }
        let Host { run, wakes, waker, .. } = goes;
        drop((run, waker));
        assert_eq!(Arc::strong_count(&wakes), 1, "done: {done}, it drove last: {last}");
        assert!(settle_both(&mut stays, &mut Host::of(pending::<()>())).iter().all(Poll::is_pending));
        task.wake();
        assert!(stays.is_woken());
    }
}

#[test]
fn a_set_that_was_awaited_keeps_nothing_of_its_host() {
    let mut local = untimed();
    let gate = Gate::default();
    local.spawn_local(gate.wait());
    let mut host = Host::of(&mut local);
    let before = Arc::strong_count(&host.wakes);
    assert!(host.poll().is_pending());
    gate.open();
    assert!(host.settle().is_ready());
    assert_eq!(Arc::strong_count(&host.wakes), before);
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

/// A thread opens gates of two runs in turn, thousands of times: none of the wakes may be lost, whoever drives.
#[test]
fn wakes_from_another_thread_reach_each_of_two_runs() {
    const ROUNDS: usize = 2_000;
    let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let local = untimed();
    let (questions, asked) = std::sync::mpsc::channel::<oneshot::Sender<()>>();
    let answerer = thread::spawn(move || asked.into_iter().for_each(|answer| answer.send(()).unwrap()));
    let ask = |questions: &std::sync::mpsc::Sender<oneshot::Sender<()>>| {
        let (answer, answered) = oneshot::channel();
        questions.send(answer).unwrap();
        answered
    };
    let asks_itself = async {
        for _ in 0..ROUNDS {
            ask(&questions).await.unwrap();
        }
    };
    let questions_too = questions.clone();
    let in_a_task = async {
        let task = spawn_local(async move {
            for _ in 0..ROUNDS {
                ask(&questions_too).await.unwrap();
            }
        });
        task.await.unwrap();
    };
    rt.block_on(async { futures::join!(local.run_until(asks_itself), local.run_until(in_a_task)) });
    drop(questions);
    answerer.join().unwrap();
}
