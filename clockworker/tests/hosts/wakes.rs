//! Spawning, joining, waking and sleeping: what takes neither timers nor sockets.

use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clockworker::{Cap, Executor, yield_now};
use futures::channel::oneshot;

use crate::host::{Io, Timers, hosts, small_turns};

#[test]
fn spawn_and_join() {
    on_each_host(Executor::new, |ex, _| async move {
        let queue = ex.new_queue("joined").create().unwrap();
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                queue.spawn(async move {
                    let own = Rc::new(i);
                    yield_now().await;
                    let child = clockworker::spawn_local(async move { *own });
                    child.await.unwrap() * 2
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        assert_eq!(sum, 9_900);
        let panics = queue.spawn(async { assert!(std::hint::black_box(false), "on purpose") });
        assert!(panics.await.unwrap_err().is_panic());
    });
}

/// On every host.
fn on_each_host<F: Future<Output = ()> + 'static>(ex: fn() -> Executor, body: fn(Rc<Executor>, Io) -> F) {
    hosts(Timers::Idle).for_each(|host| host.play(ex(), body));
}

/// A thread that answers each question once it was asked.
struct Answerer {
    questions: mpsc::Sender<oneshot::Sender<u32>>,
    thread: thread::JoinHandle<()>,
}

impl Answerer {
    fn new() -> Self {
        let (questions, asked) = mpsc::channel::<oneshot::Sender<u32>>();
        let thread = thread::spawn(move || {
            for (n, answer) in asked.into_iter().enumerate() {
                answer.send(n as u32).expect("it is waited for");
            }
        });
        Self { questions, thread }
    }

    fn ask(&self) -> oneshot::Receiver<u32> {
        let (answer, receiver) = oneshot::channel();
        self.questions.send(answer).unwrap();
        receiver
    }

    fn join(self) {
        drop(self.questions);
        self.thread.join().unwrap();
    }
}

#[test]
fn wakes_from_other_threads() {
    on_each_host(Executor::new, |ex, _| async move {
        // A task is woken by another thread, a thousand times.
        let answerer = Answerer::new();
        let task = ex.spawn(async move {
            for n in 0..1_000 {
                assert_eq!(answerer.ask().await.unwrap(), n);
            }
            answerer.join();
        });
        task.await.unwrap();
        // The future given to `run_until` is.
        let answerer = Answerer::new();
        for n in 0..100 {
            assert_eq!(answerer.ask().await.unwrap(), n);
        }
        answerer.join();
        // Another thread spawns tasks, and awaits them there.
        let handle = ex.handle();
        let (done, all_done) = oneshot::channel();
        let spawner = thread::spawn(move || {
            for n in 0..100 {
                let task = handle.spawn(move || async move {
                    let not_send = Rc::new(n);
                    yield_now().await;
                    *not_send
                });
                assert_eq!(futures::executor::block_on(task).unwrap(), n);
            }
            done.send(()).unwrap();
        });
        all_done.await.unwrap();
        spawner.join().unwrap();
        // And aborts one.
        let sleeper = ex.spawn(std::future::pending::<()>());
        let abort = sleeper.abort_handle();
        let aborter = thread::spawn(move || abort.abort());
        assert!(sleeper.await.unwrap_err().is_cancelled());
        aborter.join().unwrap();
    });
}

/// While everybody waits for another thread, the executor is not polled: per answer it takes one host poll, for the wake,
/// and for a run_until future that was woken as well, or a wake that came between two looks, one more.
#[test]
fn idle_does_not_spin() {
    on_each_host(Executor::new, |ex, _| async move {
        let answerer = Answerer::new();
        answerer.ask().await.unwrap();
        let before = ex.stats();
        for _ in 0..200 {
            answerer.ask().await.unwrap();
        }
        let after = ex.stats();
        let host_polls = after.host_polls - before.host_polls;
        assert!(host_polls <= 2 * 200, "{host_polls} host polls for 200 wakes");
        assert_eq!(after.polls, before.polls, "no task was there to be polled");
        answerer.join();
    });
}

/// The same with a timer, which is far longer than a spinning executor needs for a thousand polls.
#[test]
fn idle_does_not_spin_beside_a_timer() {
    on_each_host(Executor::new, |ex, io| async move {
        let waiting = ex.spawn(std::future::pending::<()>());
        (io.sleep)(Duration::from_millis(1)).await;
        let before = ex.stats();
        (io.sleep)(Duration::from_millis(50)).await;
        let after = ex.stats();
        let host_polls = after.host_polls - before.host_polls;
        assert!(host_polls <= 4, "{host_polls} host polls for one timer");
        assert_eq!(after.polls, before.polls);
        assert_eq!(after.host_yields, before.host_yields);
        waiting.abort();
    });
}

/// A queue that has used up its cap is all there is to do. The host sleeps until the queue goes on.
#[test]
fn a_throttled_queue_wakes_the_host() {
    on_each_host(Executor::new, |ex, _| async move {
        let ms = Duration::from_millis;
        let queue = ex.new_queue("capped").cap(Cap::new(ms(1), ms(4)).unwrap()).create().unwrap();
        let own = queue.clone();
        let before = ex.stats();
        let task = queue.spawn(async move {
            while own.stats().throttled_periods < 5 {
                yield_now().await;
            }
        });
        task.await.unwrap();
        let after = ex.stats();
        // Those that no work was left for: as a rule one per period, and not thousands.
        let woken = (after.host_polls - before.host_polls) - (after.host_yields - before.host_yields);
        assert!(woken <= 100, "woken {woken} times in 5 periods");
        assert!(queue.stats().throttled_time > Duration::ZERO);
    });
}

/// More tasks are ready than one turn of the executor polls, and nothing else wakes the host.
#[test]
fn leftover_work_wakes_the_host() {
    on_each_host(small_turns, |ex, _| async move {
        let tasks: Vec<_> = (0..500)
            .map(|_| {
                ex.spawn(async {
                    for _ in 0..3 {
                        yield_now().await
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let stats = ex.stats();
        assert_eq!(stats.polls, 2_000);
        assert!(stats.polls <= 16 * stats.host_polls, "{} host polls", stats.host_polls);
        assert!(stats.host_yields > 0, "nobody else has woken the host");
    });
}
