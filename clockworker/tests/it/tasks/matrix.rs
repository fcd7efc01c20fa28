//! Every product of how a task is spawned, where it panics, when its join handle is polled, read and dropped, and when and
//! by whom it is aborted, or its executor dropped. Each case has an exact expectation. (tokio's `task_combinations` is part
//! of this.)

mod cases;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use clockworker::schedulers::Qlas;
use clockworker::{AbortHandle, Executor, Id, JoinError, JoinHandle};
use futures::executor::block_on;

use crate::support::{
    CountingWaker, DropLog, LoggedDrop, assert_balanced, assert_finished, case, elsewhere, panic_as_meant,
    poll_once, poll_with, said, settle, untimed,
};
use cases::Moment::{InFirstPoll, Over, Parked, Read, Spawned, Woken};
use cases::{
    By, Case, End, IN_FIRST_POLL, IN_FUTURE_DROP, IN_OUTPUT_DROP, IN_SECOND_POLL, Join, MOMENTS, Moment,
    Spawn,
};

/// The task of a case, its handles, and what happened to it.
struct Run {
    case: Case,
    join: RefCell<Option<JoinHandle<Output>>>,
    abort: RefCell<Option<AbortHandle>>,
    /// What the join handle gave.
    result: RefCell<Option<Result<Output, JoinError>>>,
    joiner: (Arc<CountingWaker>, Waker),
    polls: Cell<u32>,
    waker: RefCell<Option<Waker>>,
    future_drops: DropLog,
    output_drops: DropLog,
}

thread_local! {
    /// The run under way, for the future: what makes that may come from another thread.
    static RUN: RefCell<Option<Rc<Run>>> = const { RefCell::new(None) };
}

struct TwoPolls {
    run: Rc<Run>,
    _dropped: LoggedDrop,
}

impl TwoPolls {
    fn new() -> Self {
        let run = RUN.with_borrow(Clone::clone).expect("it is set");
        Self { _dropped: run.future_drops.item(), run }
    }
}

impl Future for TwoPolls {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let run = &self.run;
        run.polls.set(run.polls.get() + 1);
        run.waker.replace(Some(cx.waker().clone()));
        let panics = run.case.panics;
        if run.polls.get() == 1 {
            run.at(InFirstPoll);
            if panics.poll == Some(1) {
                panic_as_meant(IN_FIRST_POLL);
            }
            return Poll::Pending;
        }
        if panics.poll == Some(2) {
            panic_as_meant(IN_SECOND_POLL);
        }
        Poll::Ready(Output { panics: panics.output_drop, _dropped: run.output_drops.item() })
    }
}

impl Drop for TwoPolls {
    fn drop(&mut self) {
        if self.run.case.panics.future_drop {
            panic_as_meant(IN_FUTURE_DROP);
        }
    }
}

#[derive(Debug)]
struct Output {
    panics: bool,
    _dropped: LoggedDrop,
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.panics {
            panic_as_meant(IN_OUTPUT_DROP);
        }
    }
}

impl Run {
    fn spawn(case: Case, ex: &Executor) -> Rc<Self> {
        let run = Rc::new(Self {
            case,
            join: RefCell::default(),
            abort: RefCell::default(),
            result: RefCell::default(),
            joiner: CountingWaker::new(),
            polls: Cell::default(),
            waker: RefCell::default(),
            future_drops: DropLog::new(),
            output_drops: DropLog::new(),
        });
        RUN.set(Some(Rc::clone(&run)));
        let join = match case.spawn {
            Spawn::Local => ex.spawn(TwoPolls::new()),
            Spawn::InGroup => {
                let queue = ex.new_queue("qlas").scheduler(Qlas::new()).create().expect("the name is free");
                queue.group(3).spawn(TwoPolls::new())
            }
            Spawn::Remote => {
                let handle = ex.handle();
                elsewhere(|| handle.spawn(TwoPolls::new))
            }
        };
        run.abort.replace(case.abort_handle_dropped.map(|_| join.abort_handle()));
        run.join.replace(Some(join));
        run
    }

    /// Does what the case has for that moment.
    fn at(&self, when: Moment) {
        if self.case.polled == Some(when) {
            self.poll_join(when);
        }
        if let Some((by, then)) = self.case.aborted
            && then == when
        {
            match by {
                By::JoinHandle => self.join.borrow().iter().for_each(JoinHandle::abort),
                By::AbortHandle => self.abort.borrow().iter().for_each(AbortHandle::abort),
                By::Elsewhere => {
                    let abort = self.abort.borrow().clone();
                    elsewhere(|| abort.iter().for_each(AbortHandle::abort));
                }
            }
        }
        if self.case.join == Join::DroppedAt(when) {
            drop(self.join.take());
        }
        if self.case.abort_handle_dropped == Some(when) {
            drop(self.abort.take());
        }
    }

    fn poll_join(&self, when: Moment) {
        let mut join = self.join.borrow_mut();
        let join = join.as_mut().expect("it is not dropped yet");
        if self.case.join == Join::ReadElsewhere && !self.case.is_over(when) {
            // A waker that is replaced is dropped, and not woken.
            assert!(poll_once(join).is_pending());
        }
        match poll_with(join, &self.joiner.1) {
            Poll::Ready(result) => drop(self.result.replace(Some(result))),
            Poll::Pending => assert!(!self.case.is_over(when)),
        }
    }

    /// Has the join handle give the result, if it is there and has not yet.
    fn read(&self) {
        if self.result.borrow().is_some() {
            return;
        }
        if self.case.join == Join::ReadElsewhere {
            let join = self.join.take().expect("it is not dropped");
            self.result.replace(Some(elsewhere(|| block_on(join))));
        } else if let Some(join) = &mut *self.join.borrow_mut() {
            match poll_once(join) {
                Poll::Ready(result) => drop(self.result.replace(Some(result))),
                Poll::Pending => panic!("it hangs"),
            }
        }
    }

    fn check(&self, id: Id) {
        let (_, polls) = self.case.expected();
        assert_eq!(self.polls.get(), polls);
        self.future_drops.assert_here(usize::from(self.case.is_made(polls)));
        // A joiner that waits when the task ends is woken once; nobody else is.
        assert_eq!(self.joiner.0.count(), usize::from(self.case.is_waited_for()));
        self.check_result(id);
        // Given or not, an output that there was is dropped once.
        self.output_drops.assert_here(usize::from(self.case.has_output()));
    }

    fn check_result(&self, id: Id) {
        let result = self.result.take();
        assert_eq!(result.is_some(), self.case.is_read());
        match (result, self.case.expected().0) {
            (None, _) => {}
            (Some(Ok(output)), End::Completed) => {
                assert_eq!(self.output_drops.count(), 0);
                let panics = output.panics;
                let dropped = catch_unwind(AssertUnwindSafe(|| drop(output)));
                assert_eq!(dropped.is_err(), panics, "the panic is the reader's own");
            }
            (Some(Err(error)), End::Cancelled) => assert!(error.is_cancelled() && error.id() == id),
            (Some(Err(error)), End::Panicked(text)) => {
                assert!(error.is_panic() && error.id() == id);
                assert_eq!(said(error.into_panic()), text);
            }
            (Some(result), end) => panic!("{result:?}, not {end:?}"),
        }
    }
}

fn check_executor(ex: &Executor, case: Case) {
    let (end, polls) = case.expected();
    let stats = ex.stats();
    match end {
        End::Completed => assert_finished(&stats, 1, 0, 0),
        End::Cancelled => assert_finished(&stats, 0, 1, 0),
        End::Panicked(_) => assert_finished(&stats, 0, 0, 1),
    }
    assert_eq!((stats.polls, stats.live, stats.ready), (u64::from(polls), 0, 0));
    assert!(stats.queues.iter().all(|queue| queue.policy_fault.is_none()));
    assert_eq!(ex.block_on(async { clockworker::spawn_local(async { 1 }).await.unwrap() }), 1);
}

fn play(case: Case) {
    let mut ex = Some(untimed());
    let run = Run::spawn(case, ex.as_ref().expect("it was made"));
    let id = run.join.borrow().as_ref().expect("it was spawned").id();
    for moment in MOMENTS {
        match moment {
            Spawned | Parked => {}
            InFirstPoll | Over => ex.iter().for_each(settle),
            // A wake that comes after the end is harmless.
            Woken => run.waker.borrow().iter().for_each(Waker::wake_by_ref),
            Read => {
                assert!(
                    run.abort.borrow().as_ref().is_none_or(|abort| abort.is_finished() && abort.id() == id)
                );
                run.read();
            }
        }
        if moment != InFirstPoll || run.polls.get() == 0 {
            run.at(moment);
        }
        if case.executor_dropped() == Some(moment) {
            let ex = ex.take().expect("it is dropped once");
            assert_balanced(&ex.stats());
        }
    }
    run.check(id);
    ex.iter().for_each(|ex| check_executor(ex, case));
    run.waker.take();
    RUN.take();
}

fn check_all(spawn: Spawn) {
    let cases = Case::all(spawn);
    assert_eq!(cases.len(), 8 * 26 * 47);
    for each in cases {
        case(format_args!("{each:?}"), || play(each));
    }
}

#[test]
fn every_local_task_ends_as_it_must() {
    check_all(Spawn::Local);
}

#[test]
fn every_task_of_a_group_ends_as_it_must() {
    check_all(Spawn::InGroup);
}

#[test]
fn every_task_from_another_thread_ends_as_it_must() {
    check_all(Spawn::Remote);
}
