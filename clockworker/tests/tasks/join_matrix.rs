//! Every combination of how a task ends, what panics, who holds which handle, and when it is awaited, aborted and
//! dropped. The idea is that of tokio's `task_combinations`, which tries 1,920; here are 2,805, each with an exact expectation.

mod case;

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

use clockworker::schedulers::Las;
use clockworker::{AbortHandle, Executor, JoinError, JoinHandle};

use crate::support::{
    CountingWaker, assert_balanced, assert_finished, panic_as_meant, poll_once, said, settle, untimed,
};
use case::When::{AfterSecondPoll, BeforeFirstPoll, BetweenPolls, InFirstPoll, WokenBetweenPolls};
use case::{
    Abort, Case, End, IN_FIRST_POLL, IN_FUTURE_DROP, IN_OUTPUT_DROP, IN_SECOND_POLL, Join, PANICS, Panics,
    SPAWNS, Spawn, When, aborts, joins,
};

/// What happened to the task, seen from any thread.
#[derive(Debug, Default)]
struct Seen {
    polls: AtomicU32,
    future_drops: Mutex<Vec<ThreadId>>,
    output_drops: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

struct Future2 {
    seen: Arc<Seen>,
    panics: Panics,
    /// Runs in the first poll.
    in_first_poll: Option<Box<dyn FnOnce()>>,
    _not_send: Rc<()>,
}

#[derive(Debug)]
struct Output {
    seen: Arc<Seen>,
    panics: bool,
}

impl Future for Future2 {
    type Output = Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let polls = self.seen.polls.fetch_add(1, Ordering::SeqCst) + 1;
        *self.seen.waker.lock().unwrap() = Some(cx.waker().clone());
        if polls == 1 {
            if let Some(then) = self.in_first_poll.take() {
                then();
            }
            if self.panics == Panics::FirstPoll {
                panic_as_meant(IN_FIRST_POLL);
            }
            return Poll::Pending;
        }
        if self.panics == Panics::SecondPoll {
            panic_as_meant(IN_SECOND_POLL);
        }
        Poll::Ready(Output { seen: Arc::clone(&self.seen), panics: self.panics == Panics::OutputDrop })
    }
}

impl Drop for Future2 {
    fn drop(&mut self) {
        self.seen.future_drops.lock().unwrap().push(thread::current().id());
        if self.panics == Panics::FutureDrop {
            panic_as_meant(IN_FUTURE_DROP);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.seen.output_drops.fetch_add(1, Ordering::SeqCst);
        if self.panics {
            panic_as_meant(IN_OUTPUT_DROP);
        }
    }
}

/// What the test holds of the task, shared with its first poll.
#[derive(Default)]
struct Hands {
    handle: Option<JoinHandle<Output>>,
    abort: Option<AbortHandle>,
    /// What polling the handle gave, if it was ready.
    result: Option<Result<Output, JoinError>>,
}

struct Run {
    case: Case,
    ex: Executor,
    seen: Arc<Seen>,
    hands: Rc<RefCell<Hands>>,
    joiner: Arc<CountingWaker>,
    waker: Waker,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.case.fmt(f)
    }
}

impl Run {
    fn start(case: Case) -> Self {
        let ex = untimed();
        let (joiner, waker) = CountingWaker::new();
        let run = Self { case, ex, seen: Arc::default(), hands: Rc::default(), joiner, waker };
        let future = |in_first_poll| Future2 {
            seen: Arc::clone(&run.seen),
            panics: case.panics,
            in_first_poll,
            _not_send: Rc::new(()),
        };
        let handle = match case.spawn {
            Spawn::OnOwner => run.ex.spawn(future(Some(run.in_first_poll()))),
            Spawn::InGroup => {
                let queue = run.ex.new_queue("las").scheduler(Las::new()).create().expect("the name is free");
                queue.group(7).spawn(future(Some(run.in_first_poll())))
            }
            Spawn::Remote => {
                // The closure crosses threads, so what happens in the first poll is found in a thread-local.
                FIRST_POLL.set(Some(run.in_first_poll()));
                let (handle, seen) = (run.ex.handle(), Arc::clone(&run.seen));
                let panics = case.panics;
                let spawn = move || {
                    handle.spawn(move || Future2 {
                        seen,
                        panics,
                        in_first_poll: FIRST_POLL.take(),
                        _not_send: Rc::new(()),
                    })
                };
                elsewhere(spawn)
            }
        };
        let mut hands = run.hands.borrow_mut();
        hands.abort = Some(handle.abort_handle());
        hands.handle = Some(handle);
        drop(hands);
        run
    }

    /// What is to happen during the first poll.
    fn in_first_poll(&self) -> Box<dyn FnOnce()> {
        let (case, hands, waker) = (self.case, Rc::clone(&self.hands), self.waker.clone());
        Box::new(move || Self::happen(case, &hands, &waker, InFirstPoll))
    }

    fn at(&self, when: When) {
        Self::happen(self.case, &self.hands, &self.waker, when);
    }

    /// Does what the case has for that moment.
    fn happen(case: Case, hands: &RefCell<Hands>, waker: &Waker, when: When) {
        let mut hands = hands.borrow_mut();
        let registers = matches!(case.join, Join::AwaitedElsewhere | Join::AwaitedThenDropped(_));
        if (registers && when == BeforeFirstPoll) || case.join == Join::Awaited(when) {
            let handle = hands.handle.as_mut().expect("it is not dropped yet");
            if case.join == Join::AwaitedElsewhere {
                // A waker that is replaced is dropped, and not woken.
                assert!(poll_once(handle).is_pending());
            }
            if let Poll::Ready(result) = Pin::new(handle).poll(&mut Context::from_waker(waker)) {
                hands.result = Some(result);
            }
        }
        let aborts = || hands.abort.clone().expect("it is there");
        match case.abort {
            Abort::Here(then) if then == when => aborts().abort(),
            Abort::Elsewhere(then) if then == when => {
                let handle = aborts();
                elsewhere(move || handle.abort());
            }
            _ => {}
        }
        if case.join == Join::Detached(when) || case.join == Join::AwaitedThenDropped(when) {
            let handle = hands.handle.take();
            drop(hands);
            drop(handle);
        }
    }

    fn check(self) {
        let case = self.case;
        let (end, polls) = case.expected();
        self.at(BeforeFirstPoll);
        settle(&self.ex);
        if polls == 0 {
            // There was no first poll for it to happen in: the moment is now.
            self.at(InFirstPoll);
        }
        self.at(BetweenPolls);
        // A wake that comes after an abort is harmless.
        if let Some(waker) = self.seen.waker.lock().unwrap().clone() {
            waker.wake();
        }
        self.at(WokenBetweenPolls);
        settle(&self.ex);
        self.at(AfterSecondPoll);
        settle(&self.ex);

        // The task is over, and the books say how.
        let stats = self.ex.stats();
        match end {
            End::Completed => assert_finished(&stats, 1, 0, 0),
            End::Cancelled => assert_finished(&stats, 0, 1, 0),
            End::Panicked(_) => assert_finished(&stats, 0, 0, 1),
        }
        assert_eq!((stats.live, stats.ready, stats.polls), (0, 0, u64::from(polls)), "{case:?}");
        assert!(stats.queues.iter().all(|queue| queue.policy_fault.is_none()), "{case:?}");
        assert_eq!(self.seen.polls.load(Ordering::SeqCst), polls, "{case:?}");
        let abort = self.hands.borrow_mut().abort.take().expect("it is there");
        assert!(abort.is_finished(), "{case:?}");
        // Its future was dropped once, here; unless it was never made.
        let made = case.spawn != Spawn::Remote || polls > 0;
        let drops = self.seen.future_drops.lock().unwrap().clone();
        assert_eq!(drops, vec![thread::current().id(); usize::from(made)], "{case:?}");
        self.check_result(end, abort);
    }

    /// The handle gives what it must, the joiner was woken as often as it must, the output was dropped once.
    fn check_result(self, end: End, abort: AbortHandle) {
        let Self { case, ex, seen, hands, joiner, .. } = self;
        let (handle, early) = {
            let mut hands = hands.borrow_mut();
            (hands.handle.take(), hands.result.take())
        };
        let gone = handle.is_none();
        // A joiner that waits when the task ends is woken once; nobody else is.
        let waited = match case.join {
            Join::Detached(_) | Join::AfterExecutor => false,
            Join::Awaited(when) => !case.is_over_before(when),
            Join::AwaitedElsewhere => true,
            Join::AwaitedThenDropped(when) => case.is_over_before(when),
        };
        assert_eq!(joiner.count(), usize::from(waited), "{case:?}: wakes of the joiner");
        assert_eq!(
            early.is_some(),
            matches!(case.join, Join::Awaited(when) if case.is_over_before(when)),
            "{case:?}"
        );

        if gone {
            assert!(matches!(case.join, Join::Detached(_) | Join::AwaitedThenDropped(_)));
        } else {
            let result = match (case.join, early) {
                (_, Some(result)) => result,
                (Join::AwaitedElsewhere, None) => {
                    elsewhere(move || futures::executor::block_on(handle.expect("it is there")))
                }
                (Join::AfterExecutor, None) => {
                    drop(ex);
                    let mut handle = handle.expect("it is there");
                    let Poll::Ready(result) = poll_once(&mut handle) else { panic!("{case:?}: it hangs") };
                    result
                }
                (_, None) => {
                    let mut handle = handle.expect("it is there");
                    let Poll::Ready(result) = poll_once(&mut handle) else { panic!("{case:?}: it hangs") };
                    result
                }
            };
            match (result, end) {
                (Ok(output), End::Completed) => {
                    assert_eq!(seen.output_drops.load(Ordering::SeqCst), 0, "{case:?}");
                    let dropped = catch_unwind(AssertUnwindSafe(|| drop(output)));
                    assert_eq!(dropped.is_err(), case.panics == Panics::OutputDrop, "{case:?}");
                }
                (Err(error), End::Cancelled) => assert!(error.is_cancelled(), "{case:?}: {error}"),
                (Err(error), End::Panicked(text)) => assert_eq!(said(error.into_panic()), text, "{case:?}"),
                (result, _) => panic!("{case:?}: {result:?}"),
            }
        }
        // Given or not, an output that there was is dropped once; one that the future's drop spoilt too.
        let outputs = u32::from(case.expected().1 == 2 && case.panics != Panics::SecondPoll);
        assert_eq!(seen.output_drops.load(Ordering::SeqCst), outputs, "{case:?}: drops of the output");
        drop((abort, seen.waker.lock().unwrap().take()));
    }
}

thread_local! {
    static FIRST_POLL: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Runs on another thread, to its end. One thread serves all cases of a test: there are thousands.
fn elsewhere<T: Send + 'static>(then: impl FnOnce() -> T + Send + 'static) -> T {
    use std::sync::mpsc;
    type Job = Box<dyn FnOnce() + Send>;
    thread_local! {
        static WORKER: mpsc::Sender<Job> = {
            let (send, receive) = mpsc::channel::<Job>();
            thread::spawn(move || receive.into_iter().for_each(|job| job()));
            send
        };
    }
    let (send, receive) = mpsc::channel();
    WORKER.with(|worker| worker.send(Box::new(move || drop(send.send(then()))))).expect("it serves");
    receive.recv().expect("the job did not panic")
}

/// All cases of one way of spawning; how many.
fn run_all(spawn: Spawn) -> usize {
    let mut cases = 0;
    for panics in PANICS {
        for join in joins() {
            for abort in aborts() {
                let case = Case { panics, spawn, join, abort };
                Run::start(case).check();
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn every_combination_ends_as_it_must_on_the_owner_thread() {
    assert_eq!(run_all(Spawn::OnOwner), 5 * 17 * 11);
}

#[test]
fn every_combination_ends_as_it_must_in_a_group() {
    assert_eq!(run_all(Spawn::InGroup), 5 * 17 * 11);
}

#[test]
fn every_combination_ends_as_it_must_when_spawned_from_another_thread() {
    assert_eq!(run_all(Spawn::Remote), 5 * 17 * 11);
}

/// Drops the executor before the first poll, after it, woken after it, or after the second.
fn check_dropped_at(moment: u32, case: Case, waits: bool) {
    let run = Run::start(case);
    let mut handle = run.hands.borrow_mut().handle.take().unwrap();
    if waits {
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&run.waker)).is_pending());
    }
    if moment > 0 {
        settle(&run.ex);
    }
    if moment > 1
        && let Some(waker) = run.seen.waker.lock().unwrap().clone()
    {
        waker.wake();
    }
    if moment > 2 {
        settle(&run.ex);
    }
    assert_balanced(&run.ex.stats());
    let polls = match (moment, case.panics) {
        (0, _) => 0,
        (1 | 2, _) | (_, Panics::FirstPoll) => 1,
        _ => 2,
    };
    let Run { ex, seen, joiner, .. } = run;
    drop(ex);
    let what = format!("{case:?} at {moment}");
    assert_eq!(seen.polls.load(Ordering::SeqCst), polls, "{what}");
    assert_eq!(joiner.count(), usize::from(waits), "{what}");
    let made = usize::from(case.spawn != Spawn::Remote || polls > 0);
    assert_eq!(*seen.future_drops.lock().unwrap(), vec![thread::current().id(); made], "{what}");
    let Poll::Ready(result) = poll_once(&mut handle) else { panic!("{what}: it hangs") };
    match (case.panics, polls) {
        (Panics::FutureDrop, _) if made == 1 => {
            assert_eq!(said(result.unwrap_err().into_panic()), IN_FUTURE_DROP, "{what}");
        }
        (Panics::FirstPoll, 1) => {
            assert_eq!(said(result.unwrap_err().into_panic()), IN_FIRST_POLL, "{what}");
        }
        (Panics::SecondPoll, 2) => {
            assert_eq!(said(result.unwrap_err().into_panic()), IN_SECOND_POLL, "{what}");
        }
        (_, 2) => drop(catch_unwind(AssertUnwindSafe(|| drop(result.unwrap())))),
        _ => assert!(result.unwrap_err().is_cancelled(), "{what}"),
    }
    let outputs = u32::from(polls == 2 && case.panics != Panics::SecondPoll);
    assert_eq!(seen.output_drops.load(Ordering::SeqCst), outputs, "{what}");
}

#[test]
fn an_executor_dropped_at_each_moment_ends_every_combination() {
    for panics in PANICS {
        for spawn in SPAWNS {
            for moment in 0..4 {
                for waits in [false, true] {
                    let case = Case { panics, spawn, join: Join::AfterExecutor, abort: Abort::Never };
                    check_dropped_at(moment, case, waits);
                }
            }
        }
    }
}
