//! Clockworker, as the programs see it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use clockworker::schedulers::RunnableFifo;
use clockworker::{
    AbortHandle, Cap, DEFAULT_QUEUE, Executor, Group, Handle, JoinError, JoinHandle, ManualClock, Queue,
    QueueError, yield_now,
};

use super::event::{End, Entry, Event, Trace, spawning};
use super::interpreter::{Elsewhere, Interpreter, Run, Stopped, Subject, Table, Until, Waiting};
use super::op::{Change, GroupChange, Limit, On, Op, SLOTS, TaskName, Thread, Wait};
use super::outcome::{Accounts, Outcome};
use super::plan::{HOSTILE_QUEUE, HOSTILE_SLOT, Hostility};
use super::program::{Ending, Program};
use super::task::{Output, TaskFuture, Ticket, end_of};
use super::threads::Threads;
use super::waits;
use crate::driving::CountingWaker;
use crate::host::Host;
use crate::hostile::Hostile;
use crate::panics::drop_contained;
use crate::policy::Policy;

/// Until all that is ready was polled.
const MOST_YIELDS: u32 = 200_000;
/// Without a poll, even if all that is ready is in a queue that has a hundredth of the time.
const MOST_IDLE_TURNS: u32 = 1_000;
/// How far the clock moves in each of them.
const TURN: Duration = Duration::from_millis(1);

/// An executor inside a host.
pub(super) struct Clockworker {
    /// None once dropped.
    ex: RefCell<Option<Rc<Executor>>>,
    handle: Handle,
    host: Host,
    pub(super) threads: Threads,
    queues: RefCell<Vec<Queue>>,
    /// Whether any task may have moved.
    has_moves: Cell<bool>,
    groups: Table<(Group, u16)>,
    aborts: Table<AbortHandle>,
    /// Tasks that other threads spawned.
    pub(super) foreign: RefCell<BTreeSet<TaskName>>,
    /// What is known of the queue whose scheduler is hostile, the second.
    hostility: Option<Rc<Hostility>>,
}

pub(super) struct Join(pub(super) JoinHandle<Output>);

fn end(error: JoinError) -> End {
    if error.is_panic() { End::Panicked } else { End::Cancelled }
}

impl Future for Join {
    type Output = Result<Output, End>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(end)
    }
}

/// A join handle of that task has given this, to that task or to none.
fn note_joined(trace: &Trace, of: TaskName, by: Option<TaskName>, result: Result<Output, JoinError>) {
    let result = result.map_err(end);
    trace.note(Event::Joined(of, by, end_of(&result)));
    drop_contained(result);
}

/// Has a handle awaited on a thread of its own.
fn wait_elsewhere(
    threads: &Mutex<Vec<thread::JoinHandle<()>>>,
    trace: Trace,
    of: TaskName,
    handle: JoinHandle<Output>,
) {
    let wait = move || note_joined(&trace, of, None, Executor::new().block_on(handle));
    threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread::spawn(wait));
}

fn name_of(slot: u8) -> &'static str {
    const NAMES: [&str; SLOTS as usize] =
        [DEFAULT_QUEUE, "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
    NAMES[usize::from(slot)]
}

fn micros(us: impl Into<u64>) -> Duration {
    Duration::from_micros(us.into())
}

fn set_limit(queue: &Queue, limit: Limit) -> Result<(), QueueError> {
    match limit {
        Limit::Live(most) => queue.set_max_live(Some(most.into())),
        Limit::LivePerGroup(most) => queue.set_max_live_per_group(Some(most.into())),
        Limit::Cap(percent) => {
            let period = TURN * (1 + u32::from(percent % 8));
            queue.set_cap(Cap::percent(percent.into(), period).ok())
        }
        Limit::None => {
            queue.set_max_live(None)?;
            queue.set_max_live_per_group(None)?;
            queue.set_cap(None)
        }
    }
}

impl Clockworker {
    /// On a manual clock, unless there are free threads, which need one that moves.
    fn new(program: &Program, host: Host, threads: usize, clock: &ManualClock) -> Self {
        let setup = &program.setup;
        let mut builder = Executor::builder().scheduler(RunnableFifo::new());
        if threads == 0 {
            builder = builder.clock(clock.clone());
        }
        if let Some(cap) = setup.poll_cap {
            builder = builder.poll_cap(cap.into());
        }
        if let Some(budget) = setup.host_budget_us {
            builder = builder.host_budget(micros(budget));
        }
        let ex = builder.build().expect("the options are in range");
        Self {
            handle: ex.handle(),
            host,
            threads: Threads::start(threads),
            queues: RefCell::new(vec![ex.default_queue().clone()]),
            has_moves: Cell::new(false),
            ex: RefCell::new(Some(Rc::new(ex))),
            groups: Table::default(),
            aborts: Table::default(),
            foreign: RefCell::default(),
            hostility: setup.plan.as_ref().map(|plan| Hostility::new(plan, setup.only_in, program.names)),
        }
    }

    pub(super) fn queue(&self, queue: u16) -> Queue {
        self.queues.borrow()[usize::from(queue)].clone()
    }

    /// From now on queues are looked up at each poll.
    pub(super) fn note_moves(&self) {
        self.has_moves.set(true);
    }

    pub(super) fn keep_abort(&self, task: TaskName, join: JoinHandle<Output>) -> Join {
        self.aborts.put(task, join.abort_handle());
        Join(join)
    }

    /// The hostile scheduler's fault is reported, if and only if it has one.
    fn check_faults(&self) {
        if let Some(hostility) = &self.hostility {
            hostility.check(self.queue(HOSTILE_QUEUE).stats().policy_fault);
        }
    }

    /// Runs the executor until `main` is done.
    fn drive<T>(&self, main: impl AsyncFnOnce(&Executor) -> T) -> Option<T> {
        let ex = self.ex.borrow().clone()?;
        Some(self.host.run(&ex, main(&ex)))
    }

    /// Yields until nothing was polled in between: true. Or until `enough`: false.
    async fn idle_or(&self, ex: &Executor, mut enough: impl FnMut(&mut Context<'_>) -> bool) -> bool {
        let (mut before, mut yields) = (None, 0);
        poll_fn(|cx| {
            if enough(cx) {
                return Poll::Ready(false);
            }
            self.check_faults();
            let polls = ex.stats().polls;
            if before.replace(polls) == Some(polls) {
                return Poll::Ready(true);
            }
            yields += 1;
            assert!(yields < MOST_YIELDS, "the executor does not come to rest");
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    /// Runs all that is ready, and until no task is left if all are to end.
    fn settle(&self, clock: &ManualClock, all_end: bool) {
        let settled = self.drive(async |ex| {
            let (mut before, mut idle_turns) = (None, 0);
            while idle_turns < MOST_IDLE_TURNS || self.threads.are_free {
                let stats = ex.stats();
                let is_quiet = before.replace(stats.polls) == Some(stats.polls);
                if is_quiet && stats.ready == 0 && (stats.live == 0 || !all_end) {
                    return true;
                }
                idle_turns = if is_quiet { idle_turns + 1 } else { 0 };
                clock.advance(TURN);
                yield_now().await;
                self.check_faults();
            }
            false
        });
        assert_ne!(settled, Some(false), "some tasks are ready for ever, or do not end");
    }

    /// Polls a run by hand, with another waker each time, and drops it.
    fn cut_short(&self, run: &Run<Self>, acts: &[Op], visits: &[Op]) {
        let Some(ex) = self.ex.borrow().clone() else { return };
        let mut main = pin!(ex.run_until(async {
            run.act_as_main(acts);
            pending::<()>().await;
        }));
        let mut turn = || {
            let (_, waker) = CountingWaker::new();
            let _never: Poll<()> = main.as_mut().poll(&mut Context::from_waker(&waker));
            self.check_faults();
        };
        for op in visits {
            turn();
            run.visit(op);
        }
        turn();
    }

    fn shut_down(&self, clock: &ManualClock, yields: u8) {
        let Some(ex) = self.ex.borrow().clone() else { return };
        let deadline = async {
            for _ in 0..yields {
                clock.advance(TURN);
                yield_now().await;
            }
        };
        self.host.shut_down(&ex, deadline);
        self.threads.end_free();
        // What other threads spawned at the last moment is answered by one more run.
        self.host.run(&ex, yield_now());
    }
}

impl Interpreter<Clockworker> {
    /// Begins a program in a host, with so many free threads.
    pub(super) fn begin(program: &Program, host: Host, threads: usize) -> Run<Clockworker> {
        let clock = ManualClock::new();
        let run = Interpreter::new(Clockworker::new(program, host, threads, &clock), clock);
        CURRENT.replace(Rc::downgrade(&run));
        if program.setup.plan.is_some() {
            let policy = Policy::RunnableFifo;
            run.change(HOSTILE_SLOT, Change::Create { below: None, share: 1, policy, idle: false });
        }
        run
    }

    /// Ends the program as its setup says.
    pub(super) fn finish(self: &Rc<Self>, program: &Program) -> Outcome {
        let (subject, ending) = (&self.subject, program.setup.ending);
        match ending {
            Ending::Dropped => {}
            Ending::ShutDown(yields) => subject.shut_down(&self.clock, yields),
            Ending::Drained => self.drain(program.names),
        }
        subject.check_faults();
        let mut accounts = Accounts::default();
        if let Some(ex) = &*subject.ex.borrow() {
            let now = (!subject.threads.are_free).then(|| self.clock.now());
            let is_over = ending != Ending::Dropped;
            accounts = Accounts::before_drop(&ex.stats(), &subject.queues.borrow(), now, is_over);
        }
        self.end();
        subject.threads.join();
        let hostile = subject.hostility.as_ref().map(|_| HOSTILE_QUEUE.into());
        accounts.after_drop(&subject.queues.take(), hostile);
        Outcome { trace: self.trace.with(std::mem::take), accounts }
    }

    /// Ends all tasks, whose names are below that.
    fn drain(&self, names: TaskName) {
        let subject = &self.subject;
        // What free threads are asked for after their end would not be done.
        self.finishing.set(subject.threads.are_free);
        subject.threads.end_free();
        subject.settle(&self.clock, false);
        // The drops of what was aborted are throttled too, and are not counted as ready.
        let uncap = |queue: &Queue| drop(queue.set_cap(None));
        subject.queues.borrow().iter().for_each(uncap);
        self.rest();
        let names = subject.hostility.as_ref().map_or(names, |hostility| hostility.names());
        self.asking.set(true);
        self.wake_all(names);
        self.rest();
        self.asking.set(false);
        self.finishing.set(true);
        self.wake_all(names);
        self.rest();
        // Those whose wakers were dropped.
        subject.queues.borrow().iter().map(Queue::abort_all).for_each(drop);
        subject.settle(&self.clock, true);
        subject.drive(async |ex| ex.drained().await);
    }

    /// Runs all that is ready.
    fn rest(&self) {
        self.subject.settle(&self.clock, false);
        self.trace.note(Event::Rest);
    }
}

thread_local! {
    static CURRENT: RefCell<Weak<Interpreter<Clockworker>>> = const { RefCell::new(Weak::new()) };
}

impl Subject for Clockworker {
    type Join = Join;

    fn current() -> Option<Run<Self>> {
        CURRENT.with_borrow(Weak::upgrade)
    }

    fn create(&self, slot: u8, below: Option<u16>, change: Change) -> bool {
        let Change::Create { share, policy, idle, .. } = change else { return false };
        let (Some(ex), name, parent) =
            (self.ex.borrow().clone(), name_of(slot), below.map(|at| self.queue(at)))
        else {
            return false;
        };
        let mut queue = parent.as_ref().map_or_else(|| ex.new_queue(name), |parent| parent.new_queue(name));
        queue = queue.share(share);
        if idle {
            queue = queue.idle();
        }
        let hostility =
            self.hostility.as_ref().filter(|_| self.queues.borrow().len() == HOSTILE_QUEUE.into());
        let created = match hostility {
            Some(hostility) => queue.scheduler(Hostile::<Rc<Hostility>>::new(Rc::clone(hostility))).create(),
            None => policy.create(queue),
        };
        // What makes no sense for that queue is refused, and a name that is taken.
        created.map(|queue| self.queues.borrow_mut().push(queue)).is_ok()
    }

    fn change(&self, number: u16, change: Change) -> bool {
        let queue = self.queue(number);
        let stays = |hostility: &Rc<Hostility>| number == HOSTILE_QUEUE && !hostility.may_be_replaced();
        let changed = match change {
            Change::Scheduler(_) if self.hostility.as_ref().is_some_and(stays) => Ok(()),
            Change::Scheduler(policy) | Change::OwnScheduler(policy) => policy.set(&queue),
            Change::Share(share) => queue.set_share(share),
            Change::Rename(slot) => queue.rename(name_of(slot)),
            Change::Request(us) => queue.set_request(micros(us)),
            Change::Limit(limit) => set_limit(&queue, limit),
            Change::Close => {
                queue.close();
                Ok(())
            }
            Change::AbortAll => {
                queue.abort_all();
                Ok(())
            }
            Change::Create { .. } => Ok(()),
        };
        // Of a queue that is gone, or of a parent: a refusal is an answer too.
        changed.is_ok()
    }

    fn change_group(&self, at: u8, queue: Option<u16>, change: GroupChange) {
        let at = at.into();
        match (change, queue, self.groups.get(at)) {
            (GroupChange::Open { key, weight, .. }, Some(number), _) => {
                let (queue, key) = (self.queue(number), key.into());
                let opened = match weight {
                    1 => Ok(queue.group(key)),
                    _ => queue.new_group(key).weight(weight.into()).open(),
                };
                opened.into_iter().for_each(|group| self.groups.put(at, (group, number)));
            }
            (GroupChange::Weight(weight), _, Some((group, _))) => drop(group.set_weight(weight.into())),
            (GroupChange::AbortAll, _, Some((group, _))) => {
                group.abort_all();
            }
            (GroupChange::Forget, ..) => drop(self.groups.take(at)),
            _ => {}
        }
    }

    fn group_queue(&self, group: u8) -> Option<u16> {
        self.groups.get(group.into()).map(|(_, queue)| queue)
    }

    fn spawn(&self, on: On, queue: u16, task: TaskName, future: TaskFuture<Self>) -> Option<Join> {
        let queue = self.queue(queue);
        let identity = |queue: &Queue| (queue.name(), queue.is_closed());
        let join = match on {
            // A future may be dropped in another queue than its own, or outside of all. Of one name one queue at most is open.
            On::Beside if Queue::current().is_some_and(|current| identity(&current) == identity(&queue)) => {
                clockworker::spawn_local(future)
            }
            On::Group(group) => {
                let (group, _) = self.groups.get(group.into())?;
                let (priority, due) = ((task % 9) as i8, micros(task % 9 * 100));
                match task % 2 {
                    0 => group.spawn(future),
                    _ => group.new_task().priority(priority).deadline(due).spawn(future),
                }
            }
            On::Try(_) => match queue.try_spawn(future) {
                Ok(join) => join,
                Err(refused) => {
                    drop_contained(refused.into_future());
                    return None;
                }
            },
            On::Beside | On::Queue(_) | On::Elsewhere(..) => queue.spawn(future),
        };
        Some(self.keep_abort(task, join))
    }

    fn spawn_elsewhere(&self, slot: u8, key: Option<u8>, _: Option<u16>, ticket: Ticket) -> Option<Join> {
        let (task, trace, handle) = (ticket.task, ticket.trace.clone(), self.handle.clone());
        self.foreign.borrow_mut().insert(task);
        let make = move || ticket.redeem::<Clockworker>();
        let spawn = move || {
            spawning(task, || match key {
                Some(key) => handle.spawn_in(name_of(slot), key.into(), make),
                None => handle.spawn_on(name_of(slot), make),
            })
        };
        if !self.threads.are_free {
            return self.threads.ask(spawn).map(|join| self.keep_abort(task, join));
        }
        let waiting = self.threads.waiting.clone();
        self.threads.have(move || {
            let join = spawn();
            match task % 8 {
                0 => join.abort(),
                1 | 5 => wait_elsewhere(&waiting, trace, task, join),
                _ => {}
            }
        });
        None
    }

    fn elsewhere(&self, task: TaskName, act: Elsewhere<Join>) {
        match (act, Self::current()) {
            (Elsewhere::DropHandle(Join(handle)), Some(run)) if self.threads.are_free && task % 4 == 1 => {
                wait_elsewhere(&self.threads.waiting, run.trace.clone(), task, handle);
            }
            (Elsewhere::DropHandle(handle), _) => self.threads.have(move || drop(handle)),
            (Elsewhere::DropWaker(waker), _) => self.threads.have(move || drop(waker)),
            (Elsewhere::Wake(waker), _) => self.threads.have(move || waker.wake()),
        }
    }

    fn abort(&self, task: TaskName, on: Thread) {
        match (self.aborts.get(task), on) {
            (Some(handle), Thread::Owner) => handle.abort(),
            (Some(handle), Thread::Other) => self.threads.have(move || handle.abort()),
            (None, _) => {}
        }
    }

    fn move_task(&self, task: TaskName, Join(join): &Join, queue: u16) -> Option<bool> {
        let queue = self.queue(queue);
        let before = queue.stats().spawned;
        self.note_moves();
        join.move_to(&queue).ok()?;
        let has_come = queue.stats().spawned > before;
        if has_come {
            self.hostility.iter().for_each(|hostility| hostility.ended(task));
        }
        Some(has_come)
    }

    fn queue_of_polled(&self, last: u16) -> u16 {
        if !self.has_moves.get() {
            return last;
        }
        let number = Queue::current().map(|queue| queue.stats().number);
        let queues = self.queues.borrow();
        let at = queues.iter().position(|queue| Some(queue.stats().number) == number);
        at.map_or(last, |at| at as u16)
    }

    fn dropped(&self, task: TaskName) {
        self.hostility.iter().for_each(|hostility| hostility.ended(task));
        if !task.is_multiple_of(4) {
            drop(self.aborts.take(task));
        }
    }

    fn wait(&self, run: &Run<Self>, by: TaskName, wait: &Wait) -> Option<Waiting> {
        waits::waiting(run, by, wait)
    }

    fn run(&self, run: &Run<Self>, until: Until<'_, Join>, _lead: &[Entry]) -> Stopped {
        let mut stopped = Stopped::default();
        let turn = async |acts: &[Op]| {
            run.act_as_main(acts);
            self.check_faults();
            if acts.contains(&Op::Wait(Wait::Thread)) {
                waits::for_thread(run, false).await;
            }
            yield_now().await;
        };
        match until {
            Until::Turn(acts) => drop(self.drive(async |_| turn(acts).await)),
            Until::Cut { acts, visits } => self.cut_short(run, acts, visits),
            Until::Idle(mut handle) => {
                let look = |cx: &mut Context<'_>| match handle
                    .as_mut()
                    .map(|handle| Pin::new(&mut **handle).poll(cx))
                {
                    Some(Poll::Ready(result)) => {
                        stopped.joined = Some(result);
                        true
                    }
                    Some(Poll::Pending) | None => false,
                };
                stopped.idle = self.drive(async |ex| self.idle_or(ex, look).await) != Some(false);
            }
        }
        self.check_faults();
        stopped
    }

    fn tear_down(&self) {
        let ex = self.ex.take();
        debug_assert!(ex.as_ref().is_none_or(|ex| Rc::strong_count(ex) == 1));
        drop(ex);
        drop(self.groups.take_all());
    }
}
