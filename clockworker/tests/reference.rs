//! Differential test: random programs run on Clockworker and on a plain executor made of the `async-task` crate and a
//! queue, and everything that can be observed must be the same, in the same order.
//!
//! Each program is made of its seed alone; a failure names it.

mod life_support;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use clockworker::{Executor, ManualClock};
use futures::FutureExt;
use life_support::{Random, hush, panic_as_meant, settle};

/// How a task ended, as its joiner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Output(usize),
    Cancelled,
    Panicked,
}

/// An output whose drop is noted.
struct Output {
    of: usize,
    log: Log,
}

impl Drop for Output {
    fn drop(&mut self) {
        self.log.note(Event::OutputDropped(self.of));
    }
}

/// An executor, as the programs see it.
trait Subject {
    type Join: Future<Output = Result<Output, End>> + Unpin;

    fn spawn(&self, id: usize, future: Pin<Box<dyn Future<Output = Output>>>) -> Self::Join;
    /// Aborts the task of that id.
    fn abort(&self, id: usize);
    fn settle(&self);
}

// ---- The reference

/// First in, first out; aborted tasks are dropped between polls.
#[derive(Default)]
struct Reference {
    ready: Arc<Mutex<VecDeque<async_task::Runnable<usize>>>>,
    /// What keeps a task from being cancelled: dropping it is how `async-task` does that.
    tasks: RefCell<BTreeMap<usize, Entry>>,
    aborts: RefCell<Vec<usize>>,
}

type Entry = (async_task::Task<(), usize>, Rc<Slot>);

/// Where an output waits for whoever joins.
#[derive(Default)]
struct Slot {
    result: RefCell<Option<Result<Output, End>>>,
    joiner: RefCell<Option<Waker>>,
    detached: Cell<bool>,
}

struct Join(Rc<Slot>);

impl Slot {
    fn complete(&self, result: Result<Output, End>) {
        if self.detached.get() {
            return drop(result);
        }
        self.result.replace(Some(result));
        if let Some(joiner) = self.joiner.take() {
            joiner.wake();
        }
    }
}

impl Future for Join {
    type Output = Result<Output, End>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.0.result.take() {
            return Poll::Ready(result);
        }
        self.0.joiner.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        self.0.detached.set(true);
        drop(self.0.result.take());
    }
}

impl Reference {
    fn next(&self) -> Option<async_task::Runnable<usize>> {
        self.ready.lock().unwrap().pop_front()
    }

    /// Drops the futures of the tasks that were aborted, in that order.
    fn drop_aborted(&self) {
        for id in self.aborts.take() {
            let Some((task, slot)) = self.tasks.borrow_mut().remove(&id) else { continue };
            if task.is_finished() {
                continue;
            }
            // Cancels it, and schedules it for its future to be dropped, if it is not scheduled already.
            drop(task);
            let mut ready = self.ready.lock().unwrap();
            let at = ready.iter().position(|runnable| *runnable.metadata() == id).expect("it was scheduled");
            let runnable = ready.remove(at);
            drop(ready);
            drop(runnable);
            slot.complete(Err(End::Cancelled));
        }
    }
}

impl Subject for Reference {
    type Join = Join;

    fn spawn(&self, id: usize, future: Pin<Box<dyn Future<Output = Output>>>) -> Join {
        let slot = Rc::new(Slot::default());
        let completes = Rc::clone(&slot);
        let body = move |_: &usize| async move {
            let mut future = AssertUnwindSafe(future).catch_unwind();
            let result = Pin::new(&mut future).await;
            drop(future);
            completes.complete(result.map_err(|_| End::Panicked));
        };
        let ready = Arc::clone(&self.ready);
        let schedule = move |runnable| ready.lock().unwrap().push_back(runnable);
        let (runnable, task) = async_task::Builder::new().metadata(id).spawn_local(body, schedule);
        self.tasks.borrow_mut().insert(id, (task, Rc::clone(&slot)));
        runnable.schedule();
        Join(slot)
    }

    fn abort(&self, id: usize) {
        if self.tasks.borrow().contains_key(&id) {
            self.aborts.borrow_mut().push(id);
        }
    }

    fn settle(&self) {
        self.drop_aborted();
        while let Some(runnable) = self.next() {
            runnable.run();
            self.drop_aborted();
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let all: Vec<usize> = self.tasks.borrow().keys().copied().collect();
        self.aborts.replace(all);
        self.drop_aborted();
    }
}

// ---- Clockworker

struct Clockworker {
    ex: Executor,
    aborts: RefCell<BTreeMap<usize, clockworker::AbortHandle>>,
}

struct ClockworkerJoin(clockworker::JoinHandle<Output>);

impl Future for ClockworkerJoin {
    type Output = Result<Output, End>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end =
            |error: clockworker::JoinError| if error.is_panic() { End::Panicked } else { End::Cancelled };
        Pin::new(&mut self.0).poll(cx).map_err(end)
    }
}

impl Clockworker {
    fn new() -> Self {
        // The clock stands still: no slice ends before its time.
        let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
        Self { ex, aborts: RefCell::default() }
    }
}

impl Subject for Clockworker {
    type Join = ClockworkerJoin;

    fn spawn(&self, id: usize, future: Pin<Box<dyn Future<Output = Output>>>) -> ClockworkerJoin {
        let task = self.ex.spawn(future);
        self.aborts.borrow_mut().insert(id, task.abort_handle());
        ClockworkerJoin(task)
    }

    fn abort(&self, id: usize) {
        if let Some(handle) = self.aborts.borrow().get(&id) {
            handle.abort();
        }
    }

    fn settle(&self) {
        settle(&self.ex);
    }
}

// ---- Programs

/// What a task does. Tasks are named by the order in which they were spawned.
#[derive(Clone, Debug)]
enum Op {
    Yield,
    /// Waits for any wake.
    Park,
    Wake(usize),
    Spawn(Vec<Op>),
    Abort(usize),

    DropHandle(usize),
    /// Awaits the task, if nobody has taken its handle.
    Join(usize),
    Panic,
}

/// Everything that can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Polled(usize),
    FutureDropped(usize),
    OutputDropped(usize),
    Joined { by: usize, of: usize, end: String },
    Settled,
}

#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<Event>>>);

impl Log {
    fn note(&self, event: Event) {
        self.0.borrow_mut().push(event);
    }
}

struct World<S: Subject> {
    subject: S,
    handles: RefCell<BTreeMap<usize, S::Join>>,
    wakers: RefCell<BTreeMap<usize, Waker>>,
    spawned: Cell<usize>,
    log: Log,
}

struct NotesDrop(usize, Log);

impl Drop for NotesDrop {
    fn drop(&mut self) {
        self.1.note(Event::FutureDropped(self.0));
    }
}

impl<S: Subject + 'static> World<S> {
    fn spawn(self: &Rc<Self>, ops: Vec<Op>) {
        let id = self.spawned.get();
        self.spawned.set(id + 1);
        let world = Rc::downgrade(self);
        let log = self.log.clone();
        let noted = NotesDrop(id, log.clone());
        let mut body = Box::pin(async move {
            for op in ops {
                let Some(world) = world.upgrade() else { break };
                world.step(id, op).await;
            }
            Output { of: id, log }
        });
        let (log, world) = (self.log.clone(), Rc::downgrade(self));
        let future = poll_fn(move |cx| {
            // Captured, so that it goes with the future.
            let NotesDrop(id, _) = &noted;
            log.note(Event::Polled(*id));
            if let Some(world) = world.upgrade() {
                world.wakers.borrow_mut().insert(*id, cx.waker().clone());
            }
            body.as_mut().poll(cx)
        });
        let handle = self.subject.spawn(id, Box::pin(future));
        self.handles.borrow_mut().insert(id, handle);
    }

    async fn step(self: Rc<Self>, id: usize, op: Op) {
        match op {
            Op::Yield => clockworker::yield_now().await,
            Op::Park => {
                // Not the world: a parked task must not keep it.
                drop(self);
                let mut parked = false;
                poll_fn(
                    |_| if std::mem::replace(&mut parked, true) { Poll::Ready(()) } else { Poll::Pending },
                )
                .await;
            }
            Op::Join(of) => {
                let Some(handle) = self.take_handle(of) else { return };
                let log = self.log.clone();
                drop(self);
                let result = handle.await;
                let end = match &result {
                    Ok(output) => End::Output(output.of),
                    Err(end) => *end,
                };
                log.note(Event::Joined { by: id, of, end: format!("{end:?}") });
            }
            Op::Panic => panic_as_meant("a program's"),
            other => self.act(other),
        }
    }

    /// What needs no waiting, and may be done from outside too.
    fn act(self: &Rc<Self>, op: Op) {
        match op {
            Op::Wake(of) => {
                let waker = self.wakers.borrow().get(&of).cloned();
                waker.into_iter().for_each(Waker::wake);
            }
            Op::Spawn(ops) => self.spawn(ops),
            Op::Abort(of) => self.subject.abort(of),
            Op::DropHandle(of) => drop(self.take_handle(of)),
            Op::Yield | Op::Park | Op::Join(_) | Op::Panic => {}
        }
    }

    fn take_handle(&self, of: usize) -> Option<S::Join> {
        self.handles.borrow_mut().remove(&of)
    }
}

/// Runs a program: its acts from outside, one run of the executor after each few. What is left at the end is dropped
/// with the executor, in an order that is nobody's business.
fn run<S: Subject + 'static>(subject: S, program: &[Vec<Op>]) -> (Vec<Event>, Vec<Event>) {
    let log = Log::default();
    let world = Rc::new(World {
        subject,
        handles: RefCell::default(),
        wakers: RefCell::default(),
        spawned: Cell::new(0),
        log: log.clone(),
    });
    for acts in program {
        acts.iter().for_each(|op| world.act(op.clone()));
        world.subject.settle();
        log.note(Event::Settled);
    }
    let seen = log.0.take();
    drop(world);
    let mut left = log.0.take();
    left.sort();
    (seen, left)
}

fn random_ops(random: &mut Random, depth: usize, known: usize) -> Vec<Op> {
    (0..random.below(7)).map(|_| random_op(random, depth, known)).collect()
}

fn random_op(random: &mut Random, depth: usize, known: usize) -> Op {
    let of = random.below(known);
    match random.below(20) {
        0..=3 => Op::Yield,
        4..=6 => Op::Park,
        7..=9 => Op::Wake(of),
        10..=12 if depth > 0 => Op::Spawn(random_ops(random, depth - 1, known)),
        10..=12 => Op::Wake(of),
        13 | 14 => Op::Abort(of),
        15 => Op::DropHandle(of),
        16..=18 => Op::Join(of),
        _ => Op::Panic,
    }
}

fn random_program(seed: u64) -> Vec<Vec<Op>> {
    let mut random = Random(seed);
    let known = 1 + random.below(12);
    (0..1 + random.below(5))
        .map(|_| {
            (0..1 + random.below(5))
                .map(|_| match random.below(2) {
                    0 => Op::Spawn(random_ops(&mut random, 2, known)),
                    _ => random_op(&mut random, 2, known),
                })
                .collect()
        })
        .collect()
}

#[test]
fn every_program_runs_as_on_the_reference_executor() {
    const PROGRAMS: u64 = 20_000;
    hush();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..PROGRAMS {
        let program = random_program(seed);
        let ours = run(Clockworker::new(), &program);
        let theirs = run(Reference::default(), &program);
        assert_eq!(ours, theirs, "program of seed {seed}: {program:#?}");
        for event in ours.0.iter().chain(&ours.1) {
            let kind = match event {
                Event::Joined { end, .. } => end.split('(').next().unwrap_or_default().to_owned(),
                other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
            };
            *kinds.entry(kind).or_default() += 1;
        }
    }
    // The programs do everything there is to do, and often.
    for kind in ["Polled", "FutureDropped", "OutputDropped", "Output", "Cancelled", "Panicked", "Settled"] {
        assert!(kinds.get(kind).is_some_and(|&n| n > 1_000), "{kind}: {kinds:?}");
    }
}

#[test]
fn a_program_runs_the_same_each_time() {
    hush();
    for seed in 0..200 {
        let program = random_program(seed);
        assert_eq!(run(Clockworker::new(), &program), run(Clockworker::new(), &program), "seed {seed}");
    }
}
