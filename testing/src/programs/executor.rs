//! Clockworker, as the programs see it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use clockworker::schedulers::RunnableFifo;
use clockworker::{AbortHandle, DEFAULT_QUEUE, Executor, Handle, JoinError, JoinHandle, ManualClock, Queue};

use super::elsewhere::{answer_from_elsewhere, elsewhere};
use super::event::{End, Entry};
use super::interpreter::Interpreter;
use super::op::TaskName;
use super::subject::{Stopped, Subject, Until};
use super::task::{Output, TaskFuture, Ticket};
use crate::host::Host;
use crate::policy::Policy;

/// An executor inside a host.
pub(super) struct Clockworker {
    /// None once dropped.
    ex: RefCell<Option<Rc<Executor>>>,
    handle: Handle,
    host: Host,
    queues: RefCell<Vec<Queue>>,
    aborts: RefCell<Vec<Option<AbortHandle>>>,
}

pub(super) struct Join(JoinHandle<Output>);

impl Future for Join {
    type Output = Result<Output, End>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = |error: JoinError| if error.is_panic() { End::Panicked } else { End::Cancelled };
        Pin::new(&mut self.0).poll(cx).map_err(end)
    }
}

impl Clockworker {
    pub(super) fn new(host: Host, clock: ManualClock) -> Self {
        let ex = match Executor::builder().scheduler(RunnableFifo::new()).clock(clock).build() {
            Ok(ex) => ex,
            Err(error) => unreachable!("the defaults are in range: {error}"),
        };
        let queues = RefCell::new(vec![ex.default_queue().clone()]);
        Self {
            handle: ex.handle(),
            ex: RefCell::new(Some(Rc::new(ex))),
            host,
            queues,
            aborts: RefCell::default(),
        }
    }

    /// Polls of each queue so far, by its number.
    pub(super) fn polls(&self) -> Vec<u64> {
        self.queues.borrow().iter().map(|queue| queue.stats().polls).collect()
    }

    fn keep_abort(&self, task: TaskName, join: JoinHandle<Output>) -> Join {
        let mut aborts = self.aborts.borrow_mut();
        if aborts.len() <= usize::from(task) {
            aborts.resize(usize::from(task) + 1, None);
        }
        aborts[usize::from(task)] = Some(join.abort_handle());
        Join(join)
    }
}

fn name_of(slot: u8) -> &'static str {
    [DEFAULT_QUEUE, "second", "third", "fourth"][usize::from(slot)]
}

thread_local! {
    static CURRENT: RefCell<Weak<Interpreter<Clockworker>>> = const { RefCell::new(Weak::new()) };
}

impl Interpreter<Clockworker> {
    /// Makes it the one that is run on this thread.
    pub(super) fn enter(self: &Rc<Self>) {
        CURRENT.replace(Rc::downgrade(self));
    }
}

impl Subject for Clockworker {
    type Join = Join;

    fn current() -> Option<Rc<Interpreter<Self>>> {
        CURRENT.with_borrow(Weak::upgrade)
    }

    fn create(&self, slot: u8, share: u32, policy: Policy) -> bool {
        let Some(ex) = self.ex.borrow().clone() else { return false };
        let Ok(queue) = policy.create(ex.new_queue(name_of(slot)).share(share)) else { return false };
        self.queues.borrow_mut().push(queue);
        true
    }

    fn share(&self, queue: u16, share: u32) {
        // An error says that the queue is gone.
        let _ = self.queues.borrow()[usize::from(queue)].set_share(share);
    }

    fn set_scheduler(&self, queue: u16, policy: Policy) {
        // As for a share.
        let _ = policy.set(&self.queues.borrow()[usize::from(queue)]);
    }

    fn close(&self, queue: u16) {
        self.queues.borrow()[usize::from(queue)].close();
    }

    fn spawn(&self, queue: u16, beside: bool, task: TaskName, future: TaskFuture<Self>) -> Join {
        let join = if beside {
            clockworker::spawn_local(future)
        } else {
            let queue = self.queues.borrow()[usize::from(queue)].clone();
            queue.spawn(future)
        };
        self.keep_abort(task, join)
    }

    fn spawn_elsewhere(&self, slot: u8, _queue: Option<u16>, task: TaskName, ticket: Ticket) -> Join {
        let handle = self.handle.clone();
        let make = move || ticket.redeem::<Clockworker>();
        match answer_from_elsewhere(move || handle.spawn_on(name_of(slot), make)) {
            Some(join) => self.keep_abort(task, join),
            None => unreachable!("the other thread is there as long as this one"),
        }
    }

    fn wake_elsewhere(&self, _task: TaskName, waker: Waker) {
        elsewhere(move || waker.wake());
    }

    fn drop_waker_elsewhere(&self, waker: Waker) {
        elsewhere(move || drop(waker));
    }

    fn drop_handle_elsewhere(&self, handle: Join) {
        elsewhere(move || drop(handle));
    }

    fn abort(&self, task: TaskName, from_elsewhere: bool) {
        let Some(handle) = self.aborts.borrow().get(usize::from(task)).cloned().flatten() else { return };
        if from_elsewhere { elsewhere(move || handle.abort()) } else { handle.abort() }
    }

    fn run(&self, until: Until<'_, Join>, _told: &[Entry]) -> Stopped {
        let Some(ex) = self.ex.borrow().clone() else { return Stopped { idle: true, joined: None } };
        let mut stopped = Stopped { idle: false, joined: None };
        let main = async {
            match until {
                Until::Turn => clockworker::yield_now().await,
                Until::Idle => stopped.idle = idle_or(&ex, |_| false).await,
                Until::Joined(handle) => {
                    let look = |cx: &mut Context<'_>| match Pin::new(&mut *handle).poll(cx) {
                        Poll::Ready(result) => {
                            stopped.joined = Some(result);
                            true
                        }
                        Poll::Pending => false,
                    };
                    stopped.idle = idle_or(&ex, look).await;
                }
            }
        };
        if let Err(error) = self.host.run(&ex, main) {
            unreachable!("the host started before: {error}");
        }
        stopped
    }

    fn tear_down(&self) {
        let ex = self.ex.take();
        debug_assert!(ex.as_ref().is_none_or(|ex| Rc::strong_count(ex) == 1));
        drop(ex);
    }
}

/// Yields until nothing was polled in between: true. Or until `enough`: false.
async fn idle_or(ex: &Executor, mut enough: impl FnMut(&mut Context<'_>) -> bool) -> bool {
    let mut before = None;
    poll_fn(|cx| {
        if enough(cx) {
            return Poll::Ready(false);
        }
        let polls = ex.stats().polls;
        if before.replace(polls) == Some(polls) {
            return Poll::Ready(true);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
