//! The product of tokio's `task_combinations`: where the task panics, whether its output does when dropped, whether the
//! join handle is polled first, when each handle is dropped, and when and by which handle the task is aborted. Every
//! case is told exactly what it must come to. (`join_matrix` has the threads, the wakes and the executor's end.)

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use clockworker::schedulers::Qlas;
use clockworker::{AbortHandle, Executor, Id, JoinError, JoinHandle};

use crate::support::{CountingWaker, assert_finished, panic_as_meant, poll_once, said, settle, untimed};

/// Where the future panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panics {
    Nowhere,
    InPoll,
    InDrop,
    InPollAndDrop,
}

/// The moments at which a handle is dropped or the task aborted, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    AtOnce,
    AfterFirstPoll,
    /// Its result, if it gave one, is not yet read.
    WhenOver,
    /// If there is a join handle to read it with.
    WhenRead,
}

/// Who aborts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aborter {
    JoinHandle,
    AbortHandle,
}

/// How it is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spawn {
    OnDefault,
    InGroup,
    /// By a handle for other threads.
    Remote,
}

use Moment::{AfterFirstPoll, AtOnce, WhenOver, WhenRead};

const WHENS: [Moment; 4] = [AtOnce, AfterFirstPoll, WhenOver, WhenRead];

#[derive(Clone, Copy, Debug)]
struct Case {
    spawn: Spawn,
    panics: Panics,
    output_panics: bool,
    /// The join handle is polled, and so registered, before anything else.
    polled: bool,
    join_dropped: Moment,
    aborted: Option<Moment>,
    aborter: Aborter,
    /// An abort handle is made and dropped then. One that aborts is kept to the end.
    abort_dropped: Option<Moment>,
}

/// How the task must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Completed,
    Cancelled,
    Panicked(&'static str),
}

const IN_POLL: &str = "in the poll";
const IN_DROP: &str = "in the future's drop";
const IN_OUTPUT: &str = "in the output's drop";

impl Case {
    /// When it is aborted, if whoever is to abort is still there.
    fn aborted(self) -> Option<Moment> {
        // At one moment, the abort comes first.
        let there = |when| self.aborter == Aborter::AbortHandle || when <= self.join_dropped;
        self.aborted.filter(|&when| there(when))
    }

    fn expected(self) -> (End, u32) {
        let cancelled = matches!(self.aborted(), Some(AtOnce | AfterFirstPoll));
        let polls = match self.aborted() {
            Some(AtOnce) => 0,
            Some(AfterFirstPoll) => 1,
            _ => 2,
        };
        let in_poll = matches!(self.panics, Panics::InPoll | Panics::InPollAndDrop) && polls == 2;
        // A future spawned from another thread is made in its first poll.
        let made = self.spawn != Spawn::Remote || polls > 0;
        let in_drop = matches!(self.panics, Panics::InDrop | Panics::InPollAndDrop) && made;
        let end = match (in_poll, in_drop, cancelled) {
            // Of two panics the first is told.
            (true, _, _) => End::Panicked(IN_POLL),
            (_, true, _) => End::Panicked(IN_DROP),
            (_, _, true) => End::Cancelled,
            _ => End::Completed,
        };
        (end, polls)
    }
}

/// What happened to the task.
#[derive(Default)]
struct Seen {
    polls: AtomicU32,
    future_drops: AtomicU32,
    output_drops: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

struct TwoPolls {
    seen: Arc<Seen>,
    case: Case,
    _not_send: Rc<()>,
}

impl TwoPolls {
    fn new(seen: Arc<Seen>, case: Case) -> Self {
        Self { seen, case, _not_send: Rc::new(()) }
    }
}

impl Future for TwoPolls {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        if self.seen.polls.fetch_add(1, SeqCst) == 0 {
            *self.seen.waker.lock().unwrap() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if matches!(self.case.panics, Panics::InPoll | Panics::InPollAndDrop) {
            panic_as_meant(IN_POLL);
        }
        Poll::Ready(Output { seen: Arc::clone(&self.seen), panics: self.case.output_panics })
    }
}

impl Drop for TwoPolls {
    fn drop(&mut self) {
        self.seen.future_drops.fetch_add(1, SeqCst);
        if matches!(self.case.panics, Panics::InDrop | Panics::InPollAndDrop) {
            panic_as_meant(IN_DROP);
        }
    }
}

struct Output {
    seen: Arc<Seen>,
    panics: bool,
}

impl Drop for Output {
    fn drop(&mut self) {
        self.seen.output_drops.fetch_add(1, SeqCst);
        if self.panics {
            panic_as_meant(IN_OUTPUT);
        }
    }
}

/// The handles of a case's task, as long as they are there.
struct Hands {
    case: Case,
    join: Option<JoinHandle<Output>>,
    abort: Option<AbortHandle>,
}

impl Hands {
    fn new(case: Case, join: JoinHandle<Output>) -> Self {
        let wanted = case.aborter == Aborter::AbortHandle || case.abort_dropped.is_some();
        let abort = wanted.then(|| join.abort_handle());
        Self { case, join: Some(join), abort }
    }

    /// Does what the case has for that moment.
    fn at(&mut self, when: Moment) {
        if self.case.aborted == Some(when) {
            match self.case.aborter {
                Aborter::JoinHandle => self.join.iter().for_each(JoinHandle::abort),
                Aborter::AbortHandle => self.abort.iter().for_each(AbortHandle::abort),
            }
        }
        if self.case.join_dropped == when {
            drop(self.join.take());
        }
        if self.case.abort_dropped == Some(when) {
            drop(self.abort.take());
        }
    }
}

fn spawn(ex: &Executor, case: Case, seen: &Arc<Seen>) -> JoinHandle<Output> {
    let seen = Arc::clone(seen);
    match case.spawn {
        Spawn::OnDefault => ex.spawn(TwoPolls::new(seen, case)),
        Spawn::InGroup => {
            let queue = ex.new_queue("qlas").scheduler(Qlas::new()).create().expect("the name is free");
            queue.group(3).spawn(TwoPolls::new(seen, case))
        }
        Spawn::Remote => {
            // What matters is the way it takes, which is the same from any thread.
            ex.handle().spawn(move || TwoPolls::new(seen, case))
        }
    }
}

fn check(case: Case) {
    let ex = untimed();
    let seen = Arc::<Seen>::default();
    let (joiner, waker) = CountingWaker::new();
    let mut join = spawn(&ex, case, &seen);
    let id = join.id();
    if case.polled {
        assert!(Pin::new(&mut join).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let mut hands = Hands::new(case, join);
    hands.at(AtOnce);
    settle(&ex);
    hands.at(AfterFirstPoll);
    if let Some(waker) = seen.waker.lock().unwrap().take() {
        waker.wake();
    }
    settle(&ex);
    hands.at(WhenOver);
    let result = hands.join.as_mut().map(|join| match poll_once(join) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("{case:?}: it hangs"),
    });
    hands.at(WhenRead);

    let (end, polls) = case.expected();
    let stats = ex.stats();
    match end {
        End::Completed => assert_finished(&stats, 1, 0, 0),
        End::Cancelled => assert_finished(&stats, 0, 1, 0),
        End::Panicked(_) => assert_finished(&stats, 0, 0, 1),
    }
    assert_eq!((stats.polls, stats.live, stats.ready), (u64::from(polls), 0, 0), "{case:?}");
    assert_eq!(seen.polls.load(SeqCst), polls, "{case:?}");
    let made = case.spawn != Spawn::Remote || polls > 0;
    assert_eq!(seen.future_drops.load(SeqCst), u32::from(made), "{case:?}");
    assert!(hands.abort.as_ref().is_none_or(|abort| abort.is_finished() && abort.id() == id), "{case:?}");
    // Whoever has asked and still waits is woken once.
    let over = if case.aborted() == Some(AtOnce) { AtOnce } else { AfterFirstPoll };
    assert_eq!(joiner.count(), usize::from(case.polled && case.join_dropped > over), "{case:?}");

    assert_eq!(result.is_some(), case.join_dropped == WhenRead, "{case:?}");
    check_result(case, id, result, &seen);
    // An output that there was is dropped once, whoever had it, also if the future's drop spoilt it.
    let outputs = polls == 2 && matches!(case.panics, Panics::Nowhere | Panics::InDrop);
    assert_eq!(seen.output_drops.load(SeqCst), u32::from(outputs), "{case:?}");
    drop(hands);
    assert_eq!(ex.block_on(async { clockworker::spawn_local(async { 1 }).await.unwrap() }), 1);
}

/// What the handle gave, if it was there to be read.
fn check_result(case: Case, id: Id, result: Option<Result<Output, JoinError>>, seen: &Seen) {
    let (end, _) = case.expected();
    match (result, end) {
        (None, _) => {}
        (Some(Ok(output)), End::Completed) => {
            assert_eq!(seen.output_drops.load(SeqCst), 0, "{case:?}");
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(output)));
            assert_eq!(dropped.is_err(), case.output_panics, "{case:?}: the reader's own panic");
        }
        (Some(Err(error)), End::Cancelled) => assert!(error.is_cancelled() && error.id() == id, "{case:?}"),
        (Some(Err(error)), End::Panicked(text)) => {
            assert!(error.is_panic() && error.id() == id, "{case:?}");
            assert_eq!(said(error.into_panic()), text, "{case:?}");
        }
        (Some(result), _) => panic!("{case:?}: {:?}", result.map(|_| "an output")),
    }
}

/// All cases of one way of spawning; how many.
fn check_all(spawn: Spawn) -> usize {
    let mut cases = 0;
    let whens = || WHENS.map(Some).into_iter().chain([None]);
    let handles: Vec<(Aborter, Option<Moment>)> =
        whens().map(|dropped| (Aborter::JoinHandle, dropped)).chain([(Aborter::AbortHandle, None)]).collect();
    for panics in [Panics::Nowhere, Panics::InPoll, Panics::InDrop, Panics::InPollAndDrop] {
        for output_panics in [false, true] {
            for polled in [false, true] {
                for join_dropped in WHENS {
                    for aborted in whens() {
                        for &(aborter, abort_dropped) in &handles {
                            check(Case {
                                spawn,
                                panics,
                                output_panics,
                                polled,
                                join_dropped,
                                aborted,
                                aborter,
                                abort_dropped,
                            });
                            cases += 1;
                        }
                    }
                }
            }
        }
    }
    cases
}

#[test]
fn every_product_ends_as_it_must_on_the_default_queue() {
    assert_eq!(check_all(Spawn::OnDefault), 1_920);
}

#[test]
fn every_product_ends_as_it_must_in_a_group() {
    assert_eq!(check_all(Spawn::InGroup), 1_920);
}

#[test]
fn every_product_ends_as_it_must_through_a_handle() {
    assert_eq!(check_all(Spawn::Remote), 1_920);
}
