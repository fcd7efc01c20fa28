//! tokio's cooperative budget: all tasks inside one host poll share 128 units, and once they are gone every tokio
//! resource of every task says that it is not ready. The executor must notice, and renew them.
//!
//! The bound on waiting, with N tasks in a queue in order of becoming runnable: from the moment it is woken, a task is
//! polled before N others are. And no poll begins without budget, as it is renewed after the poll that used up the last
//! of it: a task that uses one tokio resource per poll is never polled in vain.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use clockworker::{AbortHandle, Executor, ManualClock, spawn_local, yield_now};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::LocalSet;

use crate::support::{counts_polls, current_thread, multi_thread};

const TASKS: usize = 10_000;

/// An executor that never goes back to its host for time's sake or for the number of polls: the host is of no help.
pub(super) fn patient() -> Rc<Executor> {
    Rc::new(Executor::builder().host_budget(Duration::MAX).poll_cap(u32::MAX).build().unwrap())
}

pub(super) fn patient_on(clock: &ManualClock) -> Executor {
    let builder = Executor::builder().host_budget(Duration::MAX).poll_cap(u32::MAX);
    builder.clock(clock.clone()).build().unwrap()
}

/// What the tasks of a test had to wait for.
#[derive(Clone, Default)]
struct Watch {
    /// Polls of all tasks.
    polls: Arc<AtomicU64>,
    /// The most polls of others between a wake of a task and its poll.
    longest_wait: Rc<Cell<u64>>,
    /// The most polls that a task needed.
    most_polls: Rc<Cell<u64>>,
}

/// Notes at which poll a task was woken.
struct Mark {
    polls: Arc<AtomicU64>,
    woken_at: AtomicU64,
    task: Waker,
}

impl Mark {
    const NOT: u64 = u64::MAX;
}

impl Wake for Mark {
    fn wake(self: Arc<Self>) {
        let now = self.polls.load(Ordering::SeqCst);
        let _ = self.woken_at.compare_exchange(Self::NOT, now, Ordering::SeqCst, Ordering::SeqCst);
        self.task.wake_by_ref();
    }
}

impl Watch {
    async fn over<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        let (mut mark, mut own_polls) = (None, 0);
        let spawned_at = self.polls.load(Ordering::SeqCst);
        let output = poll_fn(|cx| {
            let now = self.polls.fetch_add(1, Ordering::SeqCst);
            own_polls += 1;
            let mark = mark.get_or_insert_with(|| {
                let (polls, task) = (Arc::clone(&self.polls), cx.waker().clone());
                Arc::new(Mark { polls, woken_at: AtomicU64::new(spawned_at), task })
            });
            let woken_at = mark.woken_at.swap(Mark::NOT, Ordering::SeqCst);
            assert_ne!(woken_at, Mark::NOT, "a poll without a wake");
            self.longest_wait.set(self.longest_wait.get().max(now - woken_at));
            future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(mark))))
        });
        let output = output.await;
        self.most_polls.set(self.most_polls.get().max(own_polls));
        output
    }

    fn assert_bounds(&self, tasks: usize, most_polls: u64) {
        let (longest, most) = (self.longest_wait.get(), self.most_polls.get());
        assert!(longest <= tasks as u64, "{longest} polls of others after a wake, with {tasks} tasks");
        assert!(most <= most_polls, "{most} polls of one task, not {most_polls}");
    }
}

/// Runs `body` on an executor in each place that tokio offers for one.
pub(super) fn on_each_host<F: Future<Output = ()> + 'static>(body: impl Fn(Rc<Executor>) -> F) {
    for rt in [current_thread(), multi_thread()] {
        let ex = patient();
        rt.block_on(ex.run_until(body(Rc::clone(&ex))));
        // Inside a LocalSet, as the future that it runs.
        let ex = patient();
        LocalSet::new().block_on(&rt, ex.run_until(body(Rc::clone(&ex))));
        // And as one of its tasks.
        let ex = patient();
        let future = body(Rc::clone(&ex));
        let local = LocalSet::new();
        let task = local.spawn_local(async move { ex.run_until(future).await });
        local.block_on(&rt, task).unwrap();
    }
}

#[test]
fn ten_thousand_tasks_send_on_one_channel() {
    on_each_host(|ex| async move {
        let (sender, mut receiver) = mpsc::channel(7);
        let watch = Watch::default();
        for i in 0..TASKS {
            let sender = sender.clone();
            ex.spawn(watch.clone().over(async move { sender.send(i).await.unwrap() }));
        }
        drop(sender);
        let receiver = ex.spawn(async move {
            let mut seen = Vec::new();
            while let Some(i) = receiver.recv().await {
                seen.push(i);
            }
            seen
        });
        let mut seen = receiver.await.unwrap();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..TASKS), "each comes once");
        // Once to get in line, once when it is its turn, never in vain.
        watch.assert_bounds(TASKS + 1, 2);
    });
}

#[test]
fn ten_thousand_tasks_lock_one_mutex() {
    on_each_host(|ex| async move {
        let count = Arc::new(Mutex::new(0));
        let watch = Watch::default();
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let count = Arc::clone(&count);
                ex.spawn(watch.clone().over(async move {
                    let mut count = count.lock().await;
                    let before = *count;
                    yield_now().await;
                    *count = before + 1;
                }))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        // As above, and once for the yield.
        watch.assert_bounds(TASKS, 3);
        assert_eq!(*count.lock().await, TASKS);
    });
}

/// Messages that are there before anybody asks for them.
pub(super) fn full_channel(messages: usize) -> mpsc::UnboundedReceiver<usize> {
    let (sender, receiver) = mpsc::unbounded_channel();
    (0..messages).for_each(|i| sender.send(i).unwrap());
    receiver
}

/// Receives all messages, and counts them.
pub(super) async fn drain(mut receiver: mpsc::UnboundedReceiver<usize>, received: Rc<Cell<usize>>) {
    while receiver.recv().await.is_some() {
        received.set(received.get() + 1);
    }
}

/// A task whose channel is always ready is stopped by tokio's budget every 128 messages. Its neighbours are polled as
/// often, whether they use tokio or not.
#[test]
fn a_task_that_drains_a_full_channel_does_not_stall_its_neighbours() {
    const MESSAGES: usize = 128 * 200;
    on_each_host(|ex| async move {
        let polls = Rc::new(Cell::new(0));
        let yielder = ex.spawn(counts_polls(Rc::clone(&polls)));
        let received = Rc::default();
        let neighbour = ex.spawn(drain(full_channel(MESSAGES), Rc::clone(&received)));
        let drainer = ex.spawn(async move {
            drain(full_channel(MESSAGES), Rc::default()).await;
            (received.get(), polls.get())
        });
        let (neighbours, polls) = drainer.await.unwrap();
        // They take turns, each with a budget. Who comes after the yielder may have what the yielder had before that, since
        // nobody can tell whether it used any.
        assert!(neighbours.abs_diff(MESSAGES) <= MESSAGES / 2, "{neighbours} of {MESSAGES}");
        assert!(polls >= MESSAGES / 256, "{polls} polls");
        yielder.abort();
        neighbour.await.unwrap();
    });
}

/// A task that others left too little is polled again at once, and the one behind it waits no longer for that.
#[test]
fn a_task_that_others_left_too_little_is_polled_again_before_the_next() {
    let ex = patient();
    let order = Rc::new(RefCell::new(Vec::new()));
    for name in ["yielder", "cut short"] {
        let (mut receiver, order) = (full_channel(100), Rc::clone(&order));
        ex.spawn(async move {
            for _ in 0..100 {
                receiver.recv().await.unwrap();
            }
            order.borrow_mut().push(name);
            if name == "yielder" {
                yield_now().await;
            }
        });
    }
    let last = Rc::clone(&order);
    let last = ex.spawn(async move { last.borrow_mut().push("next") });
    current_thread().block_on(ex.run_until(last)).unwrap();
    assert_eq!(*order.borrow(), ["yielder", "cut short", "next"]);
}

/// Uses so many of tokio's units.
async fn use_units(semaphore: &Semaphore, units: usize) {
    for _ in 0..units {
        drop(semaphore.acquire().await.unwrap());
    }
}

/// How many polls are cut short, where each of 10,000 uses so many units.
fn cut_short(units: usize) -> usize {
    const ROUNDS: usize = 1_000;
    let clock = ManualClock::new();
    let ex = patient_on(&clock);
    let polls = Rc::new(Cell::new(0));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (polls, clock) = (Rc::clone(&polls), clock.clone());
            ex.spawn(async move {
                let semaphore = Semaphore::new(1);
                let mut rounds = pin!(async {
                    for _ in 0..ROUNDS {
                        use_units(&semaphore, units).await;
                        yield_now().await;
                    }
                });
                poll_fn(|cx| {
                    // The clock is read after each.
                    clock.advance(Duration::from_micros(2));
                    polls.set(polls.get() + 1);
                    rounds.as_mut().poll(cx)
                })
                .await;
            })
        })
        .collect();
    current_thread().block_on(ex.run_until(async {
        for task in tasks {
            task.await.unwrap();
        }
    }));
    polls.get() - 10 * (ROUNDS + 1)
}

/// A poll that is cut short is in vain. There is one, and then the budget is renewed before it is spent.
#[test]
fn only_one_task_is_cut_short_where_each_uses_little() {
    assert_eq!(cut_short(3), 1);
}

/// The budget lasts for less than eight polls. Whether it lasts for more than was seen is tried once in 64 renewals.
#[test]
fn few_tasks_are_cut_short_where_each_uses_much() {
    for units in [20, 40, 50, 100, 120] {
        let cut = cut_short(units);
        assert!((1..=10_000 / 60).contains(&cut), "{cut} polls that use {units} units were cut short");
    }
}

/// A task whose poll began with all of the budget, and that has spent it, gives way. One that others left too little does not.
/// Both are distinguished where the budget is renewed in time.
#[test]
fn a_task_that_spends_a_whole_budget_gives_way_also_when_it_was_renewed() {
    let clock = ManualClock::new();
    let ex = patient_on(&clock);
    let (others, done) = (Rc::new(Cell::new(0_usize)), Rc::new(Cell::new(false)));
    let greedy = ex.spawn({
        let (others, done, clock) = (Rc::clone(&others), Rc::clone(&done), clock.clone());
        async move {
            let (semaphore, mut gave_way) = (Semaphore::new(1), Vec::new());
            for _ in 0..8 {
                let before = others.get();
                use_units(&semaphore, 200).await;
                gave_way.push(others.get() > before);
                clock.advance(Duration::from_micros(2));
                yield_now().await;
            }
            done.set(true);
            gave_way
        }
    });
    for _ in 0..8 {
        let (others, done, clock) = (Rc::clone(&others), Rc::clone(&done), clock.clone());
        ex.spawn(async move {
            let semaphore = Semaphore::new(1);
            while !done.get() {
                others.set(others.get() + 1);
                use_units(&semaphore, 1).await;
                clock.advance(Duration::from_micros(2));
                yield_now().await;
            }
        });
    }
    let gave_way = current_thread().block_on(ex.run_until(greedy)).unwrap();
    // The first has all of it. Of the second the others left it 48 units, so that it spends another. The third gets by with what
    // they left it and another, and from then on the budget is renewed before it, until it is tried for how long it lasts.
    assert_eq!(gave_way, [true, true, false, true, true, true, true, false]);
}

/// The same between queues: the budget that one queue uses up is not another's.
#[test]
fn a_queue_that_drains_a_full_channel_does_not_stall_another_queue() {
    const MESSAGES: usize = 128 * 200;
    on_each_host(|ex| async move {
        let other = ex.new_queue("other").create().unwrap();
        let received = Rc::new(Cell::new(0_usize));
        let neighbour = other.spawn({
            let (mut receiver, received) = (full_channel(MESSAGES), Rc::clone(&received));
            async move {
                while receiver.recv().await.is_some() {
                    received.set(received.get() + 1);
                    yield_now().await;
                }
            }
        });
        ex.spawn(drain(full_channel(MESSAGES), Rc::default())).await.unwrap();
        neighbour.await.unwrap();
        assert_eq!(received.get(), MESSAGES);
    });
}

/// A future that tokio does not stop is not stopped here either, and its neighbours get on after it.
#[test]
fn an_unconstrained_future_drains_a_full_channel_in_one_poll() {
    const MESSAGES: usize = 128 * 50;
    let ex = patient();
    let queue = ex.new_queue("unconstrained").create().unwrap();
    let drainer = queue.spawn(tokio::task::unconstrained(async {
        let mut receiver = full_channel(MESSAGES);
        for _ in 0..MESSAGES {
            receiver.recv().await.unwrap();
        }
    }));
    let neighbour = ex.spawn(drain(full_channel(1_000), Rc::default()));
    current_thread().block_on(ex.run_until(async {
        drainer.await.unwrap();
        neighbour.await.unwrap();
    }));
    assert_eq!(queue.stats().polls, 1);
}

#[test]
fn a_poll_cut_short_is_repeated_but_not_of_an_aborted_task() {
    const UNITS: usize = 100;
    let spend = || async {
        for _ in 0..UNITS {
            tokio::task::consume_budget().await;
        }
    };
    for aborts in [false, true] {
        let ex = patient();
        let (polls, own) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(None::<AbortHandle>)));
        let joined = current_thread().block_on(ex.run_until(async {
            // Spends most of the budget with which the next task is polled first.
            spawn_local(spend());
            let (polls, to_abort, mut spent) = (Rc::clone(&polls), Rc::clone(&own), Box::pin(spend()));
            let task = spawn_local(poll_fn(move |cx| {
                polls.set(polls.get() + 1);
                if let Some(own) = to_abort.take() {
                    own.abort();
                }
                spent.as_mut().poll(cx)
            }));
            if aborts {
                own.replace(Some(task.abort_handle()));
            }
            task.await
        }));
        assert_eq!(joined.is_err_and(|error| error.is_cancelled()), aborts);
        assert_eq!(polls.get(), if aborts { 1 } else { 2 });
        // The poll that was cut short and its repetition are counted as one.
        assert_eq!(ex.stats().polls, 2);
    }
}
