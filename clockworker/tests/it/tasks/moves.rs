//! Moves: every state of a task × the queue it is in × the queue it is to be in × the moment of the call; and what goes with it.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Las, RunnableFifo};
use clockworker::{
    Cap, Executor, Group, JoinHandle, ManualClock, MoveError, Queue, current_tag, move_to, spawn_local,
    yield_now,
};
use futures::channel::oneshot;
use futures::future::{join, select};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, pin_mut};

use crate::support::{Count, OnDrop, output, poll_once, settle, tick};

const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its scheduler has not heard of it.
    New,
    Parked,
    Woken,
    /// Its scheduler has it.
    Ready,
    /// The call is its own.
    Running,
    /// From another thread, and still in the inbox.
    OnItsWay,
    Aborted,
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Plain,
    Child,
    Throttled,
    Idle,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Open,
    Full,
    Closed,
    /// The queue that it is in.
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Outside,
    InMain,
    InTask,
    InDrop,
    Unwinding,
}

const STATES: [State; 8] = [
    State::New,
    State::Parked,
    State::Woken,
    State::Ready,
    State::Running,
    State::OnItsWay,
    State::Aborted,
    State::Finished,
];
const FROM: [From; 5] = [From::Plain, From::Child, From::Throttled, From::Idle, From::Closed];
const TO: [To; 4] = [To::Open, To::Full, To::Closed, To::Same];
const MOMENTS: [Moment; 5] =
    [Moment::Outside, Moment::InMain, Moment::InTask, Moment::InDrop, Moment::Unwinding];

/// A queue with one task, which says where it ended.
struct World {
    ex: Rc<Executor>,
    clock: ManualClock,
    from: Queue,
    to: Queue,
    other: Queue,
    gate: Option<oneshot::Sender<()>>,
    task: Rc<RefCell<Option<JoinHandle<String>>>>,
    drops: Count,
}

type Moved = Rc<RefCell<Option<Result<(), MoveError>>>>;

fn here() -> String {
    Queue::current().expect("a task runs").name()
}

impl World {
    fn new(state: State, from: From, to: To) -> Self {
        let clock = ManualClock::new();
        let builder = Executor::builder().clock(clock.clone());
        // A turn of one poll leaves a task in its scheduler that has yielded.
        let builder = if state == State::Ready { builder.poll_cap(1) } else { builder };
        let ex = Rc::new(builder.build().unwrap());
        let other = ex.new_queue("other").create().unwrap();
        let source = match from {
            From::Child => other.new_queue("from").create(),
            From::Idle => ex.new_queue("from").idle().create(),
            From::Throttled => {
                ex.new_queue("from").cap(Cap::new(Duration::from_millis(1), HOUR).unwrap()).create()
            }
            _ => ex.new_queue("from").create(),
        }
        .unwrap();
        let target = match to {
            To::Same => source.clone(),
            _ => ex.new_queue("to").max_live(1).create().unwrap(),
        };
        let world = Self {
            ex,
            clock,
            from: source,
            to: target,
            other,
            gate: None,
            task: Rc::default(),
            drops: Count::default(),
        };
        world.prepare(state, from, to)
    }

    fn prepare(mut self, state: State, from: From, to: To) -> Self {
        let (gate, opened) = oneshot::channel::<()>();
        let (guard, clock, throttles) = (self.drops.guard(), self.clock.clone(), from == From::Throttled);
        let task = match state {
            State::OnItsWay => {
                let handle = self.ex.handle();
                thread::spawn(move || handle.spawn_on("from", || async { here() })).join().unwrap()
            }
            State::Ready => self.from.spawn(async move {
                let _guard = guard;
                if throttles {
                    clock.advance(Duration::from_millis(3));
                }
                yield_now().await;
                opened.await.unwrap_or_default();
                here()
            }),
            State::Finished => self.from.spawn(async { here() }),
            _ => self.from.spawn(async move {
                let _guard = guard;
                opened.await.unwrap_or_default();
                here()
            }),
        };
        match state {
            State::New | State::OnItsWay | State::Running => {}
            State::Ready => tick(&self.ex),
            _ => settle(&self.ex),
        }
        if throttles && state != State::Ready {
            let clock = self.clock.clone();
            drop(self.from.spawn(async move { clock.advance(Duration::from_millis(3)) }));
            if !matches!(state, State::New | State::OnItsWay | State::Running) {
                settle(&self.ex);
            }
        }
        match state {
            State::Woken => gate.send(()).unwrap(),
            State::Aborted => task.abort(),
            _ => self.gate = Some(gate),
        }
        self.task.replace(Some(task));
        match to {
            To::Full => drop(self.to.spawn(pending::<()>())),
            To::Closed => self.to.close(),
            To::Open | To::Same => {}
        }
        if from == From::Closed {
            self.from.close();
        }
        self
    }

    /// Has the move made at that moment. None if the moment does not come.
    fn call(&self, state: State, moment: Moment) -> Option<Result<(), MoveError>> {
        let (task, to, moved) = (Rc::clone(&self.task), self.to.clone(), Moved::default());
        let result = Rc::clone(&moved);
        let call = move || {
            let handle = task.borrow();
            result.replace(handle.as_ref().map(|task| task.move_to(&to)));
        };
        if state == State::Running {
            let (task, gate) = (Rc::clone(&self.task), pending::<()>());
            let own = self.from.try_spawn(async move {
                call();
                gate.await;
                String::new()
            });
            // A closed queue takes none.
            task.replace(Some(own.ok()?));
            settle(&self.ex);
            task.take();
        } else {
            match moment {
                Moment::Outside => call(),
                Moment::InMain => _ = poll_once(&mut Box::pin(self.ex.run_until(async { call() }))),
                Moment::InTask => drop(self.other.spawn(async move { call() })),
                Moment::InDrop => {
                    let guard = OnDrop::new(call);
                    self.other.spawn(async move { drop(guard) }).abort();
                }
                Moment::Unwinding => drop(self.other.spawn(async {
                    let _guard = OnDrop::new(call);
                    resume_unwind(Box::new("meant"));
                })),
            }
            let called = Rc::clone(&moved);
            // No longer than until it is called, so that the task stays as it is until then.
            for _ in 0..4 {
                if called.borrow().is_none() {
                    tick(&self.ex);
                }
            }
        }
        moved.take()
    }
}

/// What the move gives: the names of the predicates that are true of its error.
fn expected(state: State, from: From, to: To) -> &'static str {
    match (state, to) {
        (State::Finished, _) => "finished",
        (State::Running, _) => "busy",
        (_, To::Closed) => "closed",
        // What another thread sends to a closed queue is refused.
        (State::OnItsWay, To::Same) if from == From::Closed => "closed",
        (_, To::Full) => "full",
        _ => "",
    }
}

fn said(result: &Result<(), MoveError>) -> String {
    let Err(error) = result else { return String::new() };
    let all = [
        ("finished", error.is_finished()),
        ("busy", error.is_busy()),
        ("closed", error.is_closed()),
        ("full", error.is_full()),
        ("stopped", error.is_stopped()),
        ("elsewhere", error.is_elsewhere()),
    ];
    all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect()
}

fn play(state: State, from: From, to: To, moment: Moment) {
    // What another thread sends to a queue that is closed by then is refused.
    let is_over = (state, from) == (State::OnItsWay, From::Closed);
    let mut world = World::new(state, from, to);
    // Before a turn comes that takes it in, or drops it.
    let is_early = moment == Moment::Outside;
    let Some(result) = world.call(state, moment) else {
        // Where its own queue is closed, or throttled by the other task, nothing of it runs.
        assert!(state == State::Running && matches!(from, From::Closed | From::Throttled));
        return;
    };
    let is_same = to == To::Same;
    match state {
        State::OnItsWay | State::Aborted | State::New if !is_early => {
            // By then it may be over.
            if result.is_ok() || said(&result) != "finished" {
                assert_eq!(said(&result), expected(state, from, to));
            }
        }
        State::Running => assert_eq!(said(&result), "busy"),
        _ => assert_eq!(said(&result), expected(state, from, to), "{result:?}"),
    }
    let Some(task) = world.task.take() else { return };
    drop(world.gate.take());
    settle(&world.ex);
    if from == From::Throttled && !task.is_finished() {
        assert!(result.is_err() || is_same, "it runs where it is");
        world.clock.advance(4 * HOUR);
        settle(&world.ex);
    }
    let has_moved = result.is_ok() && !is_same;
    match output(task) {
        Ok(end) => assert_eq!(end, if has_moved { "to" } else { "from" }),
        Err(error) => {
            assert!(error.is_cancelled(), "{error}");
            assert!(is_over || state == State::Aborted, "{error}");
        }
    }
    assert_eq!(world.drops.get(), 1);
    for queue in [&world.from, &world.to, &world.other] {
        let stats = queue.stats();
        let ended = stats.completed + stats.cancelled + stats.panicked;
        assert_eq!(stats.spawned, ended + stats.moved + stats.live as u64, "{stats:?}");
        assert_eq!(stats.ready, 0);
    }
    // What is on its way has been spawned nowhere.
    let was_admitted = has_moved && state != State::OnItsWay;
    assert!(world.from.stats().moved <= u64::from(has_moved));
    assert!(!was_admitted || world.from.stats().moved == 1);
    let all = world.ex.stats();
    assert_eq!(all.spawned, all.completed + all.cancelled + all.panicked + all.live as u64);
    assert_eq!(world.ex.queues().iter().any(|queue| queue.name() == "from"), from != From::Closed);
    assert!(world.from.stats().policy_fault.is_none() && world.to.stats().policy_fault.is_none());
}

#[test]
fn every_task_moves_from_everywhere_at_every_moment_or_says_why_not() {
    let mut failed = Vec::new();
    for state in STATES {
        for from in FROM {
            for to in TO {
                for moment in MOMENTS {
                    let played = std::panic::catch_unwind(|| play(state, from, to, moment));
                    if let Err(payload) = played {
                        let why = payload.downcast_ref::<String>().cloned();
                        let why = why.or_else(|| payload.downcast_ref::<&str>().map(|&why| why.to_owned()));
                        failed.push(format!(
                            "{state:?} {from:?} {to:?} {moment:?}: {}",
                            why.unwrap_or_default()
                        ));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of the matrix:\n{}", failed.len(), failed.join("\n"));
}

fn two() -> (Executor, Queue, Queue) {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    let (one, other) = (ex.new_queue("one").create().unwrap(), ex.new_queue("other").create().unwrap());
    (ex, one, other)
}

#[test]
fn a_task_moves_itself_there_and_back_with_what_it_spawns() {
    let (ex, one, other) = two();
    let (there, back) = (other.clone(), one.clone());
    let task = one.spawn(async move {
        let mut seen = vec![here()];
        for queue in [&there, &there, &back, &there] {
            move_to(queue).await.unwrap();
            seen.push(here());
            seen.push(spawn_local(async { here() }).await.unwrap());
        }
        seen.join(" ")
    });
    let seen = ex.block_on(task).unwrap();
    assert_eq!(seen, "one other other other other one one other other");
    assert_eq!((one.stats().moved, one.stats().spawned, one.stats().live), (2, 3, 0));
    assert_eq!((other.stats().moved, other.stats().spawned, other.stats().completed), (1, 5, 4));
    assert_eq!((ex.stats().spawned, ex.stats().completed), (5, 5));
}

#[test]
fn its_group_its_attributes_and_its_tag_go_with_it() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock).build().unwrap();
    let one = ex.new_queue("one").scheduler(Las::new()).create().unwrap();
    let other = ex.new_queue("other").scheduler(FairGroups::new()).create().unwrap();
    let tenant = one.new_group(7).weight(3).open().unwrap();
    let there = other.clone();
    let task = tenant.new_task().tag(11).spawn(async move {
        move_to(&there).await.unwrap();
        let group = Group::current().unwrap();
        (group.key(), group.attributes().weight.get(), current_tag(), group.stats().spawned)
    });
    assert_eq!(ex.block_on(task).unwrap(), (7, 3, Some(11), 1));
    assert!(other.find_group(7).is_none(), "it went with its last task");
    let stats = tenant.stats();
    assert_eq!((stats.spawned, stats.moved, stats.completed, stats.live), (1, 1, 0, 0));
    drop(tenant);
    assert!(one.find_group(7).is_none());
}

#[test]
fn an_open_group_stays_as_it_is_and_its_limit_holds() {
    let (ex, one, other) = two();
    let group = other.new_group(7).weight(9).open().unwrap();
    other.set_max_live_per_group(Some(1)).unwrap();
    let tasks = [(); 2].map(|()| {
        let there = other.clone();
        one.new_group(7).weight(3).open().unwrap().spawn(async move {
            let moved = move_to(&there).await;
            yield_now().await;
            moved.map_err(|error| (error.is_full(), error.to_string()))
        })
    });
    settle(&ex);
    let [first, second] = tasks.map(|task| output(task).unwrap());
    let why = "the task did not move: its group is full";
    assert_eq!((first, second), (Ok(()), Err((true, why.to_owned()))));
    assert_eq!((group.attributes().weight.get(), group.stats().completed), (9, 1));
}

#[test]
fn of_two_moves_at_once_both_are_made() {
    let (ex, one, other) = two();
    let third = ex.new_queue("third").create().unwrap();
    let (there, beyond) = (other.clone(), third.clone());
    let task = one.spawn(async move {
        let moved = join(move_to(&there), move_to(&beyond)).await;
        (moved, here())
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), ((Ok(()), Ok(())), "third".to_owned()));
    assert_eq!(other.stats().moved, 1);
}

#[test]
fn a_move_that_is_dropped_in_its_first_poll_is_not_made() {
    let (ex, one, other) = two();
    let there = other.clone();
    let task = one.spawn(async move {
        select(move_to(&there), std::future::ready(())).await;
        yield_now().await;
        here()
    });
    settle(&ex);
    assert_eq!((output(task).unwrap(), other.stats().spawned), ("one".to_owned(), 0));
}

#[test]
fn a_move_is_known_to_whichever_waker_asked_last() {
    let (ex, one, other) = two();
    let there = other.clone();
    let task = one.spawn(async move {
        // Each of these has a waker of its own, and is polled only when that was woken.
        let mut moves: FuturesUnordered<_> = (0..40).map(|_| move_to(&there)).collect();
        let mut moved = 0;
        while let Some(result) = moves.next().await {
            moved += usize::from(result.is_ok());
        }
        // Polled by two in one poll of the task.
        let back = Queue::find("one").unwrap();
        let move_back = move_to(&back);
        pin_mut!(move_back);
        _ = move_back.as_mut().now_or_never();
        move_back.await.unwrap();
        (moved, here())
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), (40, "one".to_owned()));
}

#[test]
fn who_is_no_task_of_the_queues_executor_does_not_move() {
    let (ex, one, other) = two();
    let why = |result: Result<(), MoveError>| result.unwrap_err().to_string();
    let no_task = "the task did not move: no task of the queue's executor is being polled";
    assert_eq!(why(ex.block_on(move_to(&one))), no_task);
    assert_eq!(why(futures::executor::block_on(move_to(&one))), no_task);
    let foreign = Executor::new();
    let queue = one.clone();
    assert_eq!(why(foreign.block_on(foreign.spawn(async move { move_to(&queue).await })).unwrap()), no_task);
    let handle = foreign.spawn(async {});
    assert_eq!(why(handle.move_to(&one)), "the task did not move: the queue is another executor's");
    // A task of one executor that runs another, whose task asks.
    let outer = one.spawn(async move {
        let queue = other.clone();
        let inner = foreign.block_on(foreign.spawn(async move { move_to(&queue).await.is_err() }));
        (inner.unwrap(), here())
    });
    assert_eq!(ex.block_on(outer).unwrap(), (true, "one".to_owned()));
}

#[test]
fn after_the_end_of_its_executor_nothing_moves() {
    let (ex, one, other) = two();
    let task = one.spawn(pending::<()>());
    settle(&ex);
    let stopped = futures::executor::block_on(ex.shutdown(async {
        let error = task.move_to(&other).unwrap_err();
        assert!(error.is_stopped(), "{error}");
    }));
    assert_eq!(stopped.cancelled, 1);
    drop(ex);
    assert!(task.move_to(&other).unwrap_err().is_finished());
}

#[test]
fn a_task_that_aborts_itself_and_asks_is_cancelled_where_it_comes() {
    let (ex, one, other) = two();
    let (there, own) = (other.clone(), Rc::new(RefCell::new(None::<JoinHandle<()>>)));
    let handle = Rc::clone(&own);
    own.replace(Some(one.spawn(async move {
        handle.borrow().as_ref().unwrap().abort();
        move_to(&there).await.unwrap();
        panic!("it was aborted");
    })));
    settle(&ex);
    assert!(output(own.take().unwrap()).unwrap_err().is_cancelled());
    assert_eq!(other.stats().cancelled + one.stats().cancelled, 1);
}

#[test]
fn the_last_task_that_moves_away_ends_a_closed_queue() {
    let (ex, one, other) = two();
    let there = other.clone();
    let task = one.spawn(async move {
        yield_now().await;
        move_to(&there).await.unwrap();
        pending::<()>().await;
    });
    let report = ex.block_on(one.retire(pending::<()>()));
    assert!(report.drained && report.completed + report.cancelled == 0, "{report}");
    assert!(ex.queues().iter().all(|queue| queue.name() != "one"));
    assert!(!task.is_finished() && other.stats().live == 1);
    let waits = other.spawn(pending::<()>());
    settle(&ex);
    ex.new_queue("one").create().unwrap();
    assert_eq!((waits.is_finished(), ex.stats().live), (false, 2));
}

#[test]
fn room_that_a_task_leaves_goes_to_who_waits_for_it() {
    let (ex, one, other) = two();
    one.set_max_live(Some(1)).unwrap();
    let first = one.spawn(pending::<()>());
    let waiting = one.clone();
    let waits = ex.spawn(async move { waiting.spawn_when_room(async { 7 }).await.unwrap().await.unwrap() });
    settle(&ex);
    assert!(!waits.is_finished());
    first.move_to(&other).unwrap();
    settle(&ex);
    assert_eq!(output(waits).unwrap(), 7);
}

/// Of many tasks that came to a queue that is not served, one in the middle, the first and the last move.
#[test]
fn a_task_leaves_the_others_that_came_as_they_are() {
    let (ex, one, other) = two();
    let order = Rc::new(RefCell::new(Vec::new()));
    let spawn = |number: u32| {
        let order = Rc::clone(&order);
        one.spawn(async move { order.borrow_mut().push(number) })
    };
    let tasks: Vec<_> = (0..6).map(spawn).collect();
    for at in [3, 0, 5] {
        tasks[at].move_to(&other).unwrap();
    }
    let late = spawn(6);
    one.set_share(1).unwrap();
    settle(&ex);
    let mut seen = order.take();
    let at_home: Vec<u32> = seen.iter().copied().filter(|number| ![3, 0, 5].contains(number)).collect();
    assert_eq!(at_home, [1, 2, 4, 6]);
    seen.retain(|number| [3, 0, 5].contains(number));
    assert_eq!(seen, [3, 0, 5], "in the order in which they came there");
    assert!(late.is_finished() && tasks.iter().all(|task| task.is_finished()));
}

/// The scheduler that a task has left gives it out later, also after it was replaced, and the task's old place is free then.
#[test]
fn a_ready_task_leaves_a_trace_that_its_scheduler_gives_out() {
    let ex = Executor::builder().clock(ManualClock::new()).poll_cap(1).build().unwrap();
    let (one, other) = (ex.new_queue("one").create().unwrap(), ex.new_queue("other").create().unwrap());
    let polls = Rc::new(Cell::new(0));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let polls = Rc::clone(&polls);
            one.spawn(async move {
                yield_now().await;
                polls.set(polls.get() + 1);
                yield_now().await;
                here()
            })
        })
        .collect();
    (0..100).for_each(|_| tick(&ex));
    tasks.iter().step_by(2).for_each(|task| task.move_to(&other).unwrap());
    one.set_scheduler(RunnableFifo::new()).unwrap();
    settle(&ex);
    assert_eq!(polls.get(), 100);
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(output(task).unwrap(), if number % 2 == 0 { "other" } else { "one" });
    }
    assert_eq!((one.stats().completed, one.stats().moved, other.stats().completed), (50, 50, 50));
    assert!(one.stats().policy_fault.is_none());
}

/// The cure of an inversion by a lock: beside a queue with 1 % of the thread.
#[test]
fn a_lock_that_is_taken_after_a_move_is_not_held_up_by_a_cap() {
    let wait = |moves: bool| {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        let front = ex.new_queue("front").create().unwrap();
        let ms = Duration::from_millis;
        let back = ex.new_queue("back").cap(Cap::new(ms(1), ms(100)).unwrap()).create().unwrap();
        let lock = Rc::new(futures::lock::Mutex::new(()));
        let (held, there, works) = (Rc::clone(&lock), front.clone(), clock.clone());
        let cleaner = back.spawn(async move {
            if moves {
                move_to(&there).await.unwrap();
            }
            let _guard = held.lock().await;
            for _ in 0..3 {
                works.advance(ms(1));
                yield_now().await;
            }
        });
        settle(&ex);
        let since = clock.now();
        let request = front.spawn(async move { drop(lock.lock().await) });
        settle(&ex);
        while !request.is_finished() {
            clock.advance(ms(1));
            settle(&ex);
        }
        assert!(cleaner.is_finished());
        clock.now() - since
    };
    assert_eq!((wait(false), wait(true)), (Duration::from_millis(299), Duration::ZERO));
}

#[test]
fn a_task_polled_by_hand_in_another_ones_poll_moves_the_outer_one() {
    let (ex, one, other) = two();
    let there = other.clone();
    let task = one.spawn(async move {
        let mut inner = Box::pin(move_to(&there));
        poll_fn(|cx| inner.as_mut().poll(cx).map(|moved| moved.unwrap())).await;
        poll_fn(|_| Poll::Ready(here())).await
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), "other");
}

#[test]
fn a_queue_that_is_gone_is_not_the_one_that_has_its_place() {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    let gone = ex.new_queue("gone").create().unwrap();
    gone.close();
    let own = ex.new_queue("own").create().unwrap();
    let task = own.spawn(async move { move_to(&gone).await.map_err(|error| error.is_closed()) });
    settle(&ex);
    assert_eq!(output(task).unwrap(), Err(true));
}

/// A future that is refused is dropped between two polls, also between that of a task that has yielded and its push.
#[test]
fn a_task_moves_before_its_scheduler_hears_that_it_has_yielded() {
    let (ex, one, other) = two();
    let full = ex.new_queue("full").max_live(1).create().unwrap();
    full.spawn(pending::<()>());
    let (handle, here, mut polls) = (ex.handle(), one.clone(), 0);
    let task = one.spawn(poll_fn(move |cx| {
        polls += 1;
        if polls == 1 {
            // More than are handed over between two polls.
            (0..200).for_each(|_| drop(here.spawn(async { yield_now().await })));
            let dropped = MovesWhatIsLent;
            let spawn = || drop(handle.spawn_on("full", move || async { drop(dropped) }));
            thread::scope(|scope| scope.spawn(spawn).join().unwrap());
        }
        cx.waker().wake_by_ref();
        if polls < 9 { Poll::Pending } else { Poll::Ready(()) }
    }));
    LENT.set(Some((task, other.clone())));
    settle(&ex);
    let task = LENT.take().unwrap().0;
    assert_eq!((one.stats().moved, one.stats().completed, other.stats().completed), (1, 200, 1));
    assert_eq!((one.stats().ready, one.stats().policy_fault), (0, None));
    assert!(output(task).is_ok());
}

thread_local! {
    static LENT: RefCell<Option<(JoinHandle<()>, Queue)>> = const { RefCell::new(None) };
}

/// Is sent to the executor's thread, where it is dropped.
struct MovesWhatIsLent;

impl Drop for MovesWhatIsLent {
    fn drop(&mut self) {
        LENT.with_borrow(|lent| {
            let (task, to) = lent.as_ref().expect("on the executor's thread");
            task.move_to(to).unwrap();
        });
    }
}
