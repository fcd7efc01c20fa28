//! The executor inside every host that it names: spawning, the host's timers and sockets beside computation, wakes from
//! other threads, and idling.
//!
//! Nothing here depends on how long anything takes. What is broken hangs, or polls too often.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clockworker::{Executor, ManualClock, Queue, yield_now};
use futures::channel::oneshot;

/// What a host has for its tasks.
trait Io: 'static {
    fn sleep(time: Duration) -> impl Future<Output = ()> + 'static;
    /// A server and a client in two tasks exchange that many messages over TCP.
    fn echo(messages: u32) -> impl Future<Output = ()> + 'static;
}

const MESSAGE: [u8; 64] = *b"to and fro to and fro to and fro to and fro to and fro to and fr";

async fn spawn_and_join(ex: Rc<Executor>) {
    let queue = ex.queue("joined").create().unwrap();
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
}

/// Four tasks in each of two queues compute all the time, with a yield now and then, until `others` are done.
async fn beside_computation(ex: &Executor, others: impl AsyncFnOnce(&[Queue; 2])) {
    let stop = Rc::new(Cell::new(false));
    let queues =
        [ex.queue("background").create().unwrap(), ex.queue("foreground").share(4).create().unwrap()];
    let mut computing = Vec::new();
    for queue in &queues {
        for _ in 0..4 {
            let stop = Rc::clone(&stop);
            computing.push(queue.spawn(async move {
                let mut x = 1_u64;
                while !stop.get() {
                    for _ in 0..500 {
                        x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
                    }
                    yield_now().await;
                }
            }));
        }
    }
    others(&queues).await;
    stop.set(true);
    for task in computing {
        task.await.unwrap();
    }
}

async fn sockets_beside_computation<I: Io>(ex: Rc<Executor>) {
    beside_computation(&ex, async |queues| {
        let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn(I::echo(50))).collect();
        // The future given to `run_until` uses them too.
        I::echo(10).await;
        for task in echoes {
            task.await.unwrap();
        }
    })
    .await;
}

async fn timers_beside_computation<I: Io>(ex: Rc<Executor>) {
    beside_computation(&ex, async |queues| {
        let sleeps = queues.iter().map(|queue| {
            queue.spawn(async {
                for _ in 0..10 {
                    I::sleep(Duration::from_millis(1)).await;
                }
            })
        });
        let sleeps: Vec<_> = sleeps.collect();
        I::sleep(Duration::from_millis(1)).await;
        for task in sleeps {
            task.await.unwrap();
        }
    })
    .await;
}

/// Timers and sockets at the same time, in both queues and in the future given to `run_until`, beside computation in both.
async fn timers_and_sockets_beside_computation<I: Io>(ex: Rc<Executor>) {
    async fn sleeps<I: Io>(times: u32) {
        for _ in 0..times {
            I::sleep(Duration::from_millis(1)).await;
        }
    }

    beside_computation(&ex, async |queues| {
        let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn(I::echo(50))).collect();
        let sleepers: Vec<_> = queues.iter().map(|queue| queue.spawn(sleeps::<I>(10))).collect();
        futures::join!(I::echo(10), sleeps::<I>(3));
        for task in echoes.into_iter().chain(sleepers) {
            task.await.unwrap();
        }
    })
    .await;
}

/// The same with turns of at most 16 polls: that the host has its turn as often as was asked for.
async fn the_host_has_its_turns<I: Io>(ex: Rc<Executor>) {
    timers_and_sockets_beside_computation::<I>(Rc::clone(&ex)).await;
    let stats = ex.stats();
    assert!(stats.polls <= 16 * stats.host_polls, "{} polls in {} turns", stats.polls, stats.host_polls);
}

/// How late a timer may be, told without a wall clock.
///
/// A task computes, in one poll, until the timer's deadline is past by the host's own clock. From then on the timer is due,
/// and the executor has not been back to its host since. So the host fires it when this turn is over: not later, and
/// not only when the executor has nothing left to do. In the next turn
///
/// * the future given to `run_until` is polled first of all;
/// * a task must wait for the tasks before it and the other queues, as anybody. By the executor's clock, which moves on
///   by 10 µs at each poll that computes, and stands still else: its queue has a fifth of the CPU. Before it there are
///   at most the four tasks that compute, 40 µs. EEVDF lets a queue fall back by, or have been ahead of its share by, no
///   more than a request (100 µs) and a poll: 220 µs. So it takes (40 + 220) × 5 = 1300 µs at most, and before that what
///   is left of the turn in which the timer came due, 200 µs and a poll. The queue with four fifths is served sooner.
async fn timers_fire_after_the_turn<I: Io>(ex: Rc<Executor>, clock: ManualClock) {
    const POLL: Duration = Duration::from_micros(10);
    const LATEST: Duration = Duration::from_micros(1_300 + 200 + 10);

    /// When it was seen that the timer is due: by the executor's clock, and in which turn.
    type Seen = Rc<Cell<Option<(Duration, u64)>>>;

    /// Sleeps, and has one of the tasks that compute watch for the deadline.
    async fn watched_sleep<I: Io>(watched: Rc<Cell<Option<Instant>>>, seen: &Seen) -> (Duration, u64) {
        let time = Duration::from_millis(1);
        loop {
            let mut sleep = pin!(I::sleep(time));
            // The first poll sets the timer, and the clock is read after that. Hosts have timers of a millisecond, and
            // round up.
            if futures::poll!(sleep.as_mut()).is_pending() {
                #[allow(
                    clippy::disallowed_methods,
                    reason = "the host's clock, to know when its timer is due"
                )]
                watched.set(Some(Instant::now() + time + Duration::from_millis(1)));
                sleep.await;
                if let Some(seen) = seen.take() {
                    return seen;
                }
            }
            // The operating system has stopped this thread for a millisecond, before anybody could watch. Once more.
            watched.set(None);
        }
    }

    let requests = Duration::from_micros(100);
    let queues = [
        ex.queue("background").request(requests).create().unwrap(),
        ex.queue("foreground").share(4).request(requests).create().unwrap(),
    ];
    let stop = Rc::new(Cell::new(false));
    let watched = Rc::new(Cell::new(None::<Instant>));
    let seen = Seen::default();
    let mut computing = Vec::new();
    for queue in &queues {
        for _ in 0..4 {
            let (ex, clock, stop) = (Rc::downgrade(&ex), clock.clone(), Rc::clone(&stop));
            let (watched, seen) = (Rc::clone(&watched), Rc::clone(&seen));
            computing.push(queue.spawn(async move {
                while !stop.get() {
                    if let Some(deadline) = watched.take() {
                        #[allow(
                            clippy::disallowed_methods,
                            reason = "computes until the host's timer is due"
                        )]
                        while Instant::now() < deadline {
                            std::hint::spin_loop();
                        }
                        let turn = ex.upgrade().expect("it runs").stats().host_polls;
                        seen.set(Some((clock.now(), turn)));
                    }
                    clock.advance(POLL);
                    yield_now().await;
                }
            }));
        }
    }
    let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn(I::echo(200))).collect();
    for _ in 0..5 {
        let (_, turn) = watched_sleep::<I>(Rc::clone(&watched), &seen).await;
        assert_eq!(ex.stats().host_polls, turn + 1, "the turn in which it was polled");
        for queue in &queues {
            let (watched, seen, clock) = (Rc::clone(&watched), Rc::clone(&seen), clock.clone());
            let sleeper = queue.spawn(async move {
                let (due, _) = watched_sleep::<I>(watched, &seen).await;
                clock.now() - due
            });
            let late = sleeper.await.unwrap();
            assert!(late <= LATEST, "late by {late:?} of computation, in {}", queue.name());
        }
    }
    for task in echoes {
        task.await.unwrap();
    }
    stop.set(true);
    for task in computing {
        task.await.unwrap();
    }
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
                answer.send(n as u32).expect("somebody waits");
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

async fn wakes_from_other_threads(ex: Rc<Executor>) {
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
}

/// While everybody waits for another thread, the executor is not polled: per answer it takes one host poll, for the wake,
/// and for a run_until future that was woken as well, or a wake that came between two looks, one more.
async fn idle_does_not_spin(ex: Rc<Executor>) {
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
}

/// The same with a timer, which is far longer than a spinning executor needs for a thousand polls.
async fn idle_does_not_spin_beside_a_timer<I: Io>(ex: Rc<Executor>) {
    let waiting = ex.spawn(std::future::pending::<()>());
    I::sleep(Duration::from_millis(1)).await;
    let before = ex.stats();
    I::sleep(Duration::from_millis(50)).await;
    let after = ex.stats();
    let host_polls = after.host_polls - before.host_polls;
    assert!(host_polls <= 4, "{host_polls} host polls for one timer");
    assert_eq!(after.polls, before.polls);
    assert_eq!(after.host_yields, before.host_yields);
    waiting.abort();
}

/// More tasks are ready than one turn of the executor polls, and nothing else wakes the host.
async fn leftover_work_wakes_the_host(ex: Rc<Executor>) {
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
}

fn small_turns() -> Rc<Executor> {
    Rc::new(Executor::builder().poll_cap(16).build().unwrap())
}

macro_rules! every_host_can {
    ($run:ident) => {
        #[test]
        fn spawn_and_join() {
            $run(Default::default(), super::spawn_and_join);
        }

        #[test]
        fn wakes_from_other_threads() {
            $run(Default::default(), super::wakes_from_other_threads);
        }

        #[test]
        fn idle_does_not_spin() {
            $run(Default::default(), super::idle_does_not_spin);
        }

        #[test]
        fn leftover_work_wakes_the_host() {
            $run(super::small_turns(), super::leftover_work_wakes_the_host);
        }
    };
    ($run:ident, $io:ty) => {
        every_host_can!($run);

        #[test]
        fn sockets_beside_computation() {
            $run(Default::default(), super::sockets_beside_computation::<$io>);
        }

        #[test]
        fn sockets_beside_computation_with_small_turns() {
            $run(super::small_turns(), super::sockets_beside_computation::<$io>);
        }

        #[test]
        fn idle_does_not_spin_beside_a_timer() {
            $run(Default::default(), super::idle_does_not_spin_beside_a_timer::<$io>);
        }
    };
}

/// For hosts that look at their timers although a task of theirs, the executor, is ready all the time.
macro_rules! timers_fire_beside_computation {
    ($run:ident, $io:ty) => {
        #[test]
        fn timers_beside_computation() {
            $run(Default::default(), super::timers_beside_computation::<$io>);
        }

        #[test]
        fn timers_beside_computation_with_small_turns() {
            $run(super::small_turns(), super::timers_beside_computation::<$io>);
        }

        #[test]
        fn timers_and_sockets_beside_computation() {
            $run(Default::default(), super::timers_and_sockets_beside_computation::<$io>);
        }

        #[test]
        fn the_host_has_its_turns() {
            $run(super::small_turns(), super::the_host_has_its_turns::<$io>);
        }
    };
}

/// For hosts that themselves look at their timers, on the executor's thread, after each of its turns. The others have
/// theirs fired by another thread (tokio's `multi_thread` runtime by its workers; async-io, which is under smol, by
/// whichever thread has its reactor just then), and when the operating system runs that one is nobody's promise; or after
/// up to 61 turns (tokio's `LocalSet`).
macro_rules! timers_fire_after_the_turn {
    ($run:ident, $io:ty) => {
        #[test]
        fn timers_fire_after_the_turn() {
            thread_local!(static CLOCK: clockworker::ManualClock = clockworker::ManualClock::new());
            let clock = CLOCK.with(Clone::clone);
            let ex = Executor::builder().clock(clock).build().unwrap();
            $run(Rc::new(ex), |ex| super::timers_fire_after_the_turn::<$io>(ex, CLOCK.with(Clone::clone)));
        }
    };
}

// ---- tokio

struct TokioIo;

impl Io for TokioIo {
    async fn sleep(time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn echo(messages: u32) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        use tokio::net::{TcpListener, TcpStream};

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = clockworker::spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; MESSAGE.len()];
            for _ in 0..messages {
                stream.read_exact(&mut buffer).await.unwrap();
                stream.write_all(&buffer).await.unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..messages {
            stream.write_all(&MESSAGE).await.unwrap();
            let mut buffer = [0; MESSAGE.len()];
            stream.read_exact(&mut buffer).await.unwrap();
            assert_eq!(buffer, MESSAGE);
        }
        server.await.unwrap();
    }
}

mod tokio_current_thread {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        rt.block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::TokioIo);
    timers_fire_beside_computation!(run, super::TokioIo);
    timers_fire_after_the_turn!(run, super::TokioIo);
}

fn multi_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

mod tokio_multi_thread {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        multi_thread().block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::TokioIo);
    timers_fire_beside_computation!(run, super::TokioIo);
}

mod tokio_local_set {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let local = tokio::task::LocalSet::new();
        let task = local.spawn_local(async move { ex.run_until(body(Rc::clone(&ex))).await });
        local.block_on(&multi_thread(), task).unwrap();
    }

    every_host_can!(run, super::TokioIo);
    timers_fire_beside_computation!(run, super::TokioIo);
}

/// Two executors in one `LocalSet` do not get into each other's way.
#[test]
fn two_executors_in_one_local_set() {
    let local = tokio::task::LocalSet::new();
    let spawn = || {
        let ex = Rc::new(Executor::new());
        local.spawn_local(
            async move { ex.run_until(timers_beside_computation::<TokioIo>(Rc::clone(&ex))).await },
        )
    };
    let (one, two) = (spawn(), spawn());
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    local.block_on(&rt, async {
        one.await.unwrap();
        two.await.unwrap();
    });
}

// ---- smol and friends: their timers and sockets work anywhere, woken by a thread of their own

struct SmolIo;

impl Io for SmolIo {
    async fn sleep(time: Duration) {
        smol::Timer::after(time).await;
    }

    async fn echo(messages: u32) {
        use smol::io::{AsyncReadExt, AsyncWriteExt};
        use smol::net::{TcpListener, TcpStream};

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = clockworker::spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; MESSAGE.len()];
            for _ in 0..messages {
                stream.read_exact(&mut buffer).await.unwrap();
                stream.write_all(&buffer).await.unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..messages {
            stream.write_all(&MESSAGE).await.unwrap();
            let mut buffer = [0; MESSAGE.len()];
            stream.read_exact(&mut buffer).await.unwrap();
            assert_eq!(buffer, MESSAGE);
        }
        server.await.unwrap();
    }
}

mod smol_block_on {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        smol::block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::SmolIo);
    timers_fire_beside_computation!(run, super::SmolIo);
}

mod smol_local_executor {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let local = smol::LocalExecutor::new();
        let task = local.spawn(async move { ex.run_until(body(Rc::clone(&ex))).await });
        smol::block_on(local.run(task));
    }

    every_host_can!(run, super::SmolIo);
    timers_fire_beside_computation!(run, super::SmolIo);
}

mod futures_block_on {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        futures::executor::block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::SmolIo);
    timers_fire_beside_computation!(run, super::SmolIo);
}

mod own_block_on {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        ex.block_on(body(Rc::clone(&ex)));
    }

    every_host_can!(run, super::SmolIo);
    timers_fire_beside_computation!(run, super::SmolIo);
}

// ---- monoio

#[cfg(target_os = "linux")]
struct MonoioIo;

#[cfg(target_os = "linux")]
impl Io for MonoioIo {
    async fn sleep(time: Duration) {
        monoio::time::sleep(time).await;
    }

    async fn echo(messages: u32) {
        use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};
        use monoio::net::{TcpListener, TcpStream};

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = clockworker::spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; MESSAGE.len()];
            for _ in 0..messages {
                let (result, read) = stream.read_exact(buffer).await;
                result.unwrap();
                let (result, written) = stream.write_all(read).await;
                result.unwrap();
                buffer = written;
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..messages {
            let (result, _) = stream.write_all(MESSAGE.to_vec()).await;
            result.unwrap();
            let (result, answer) = stream.read_exact(vec![0; MESSAGE.len()]).await;
            result.unwrap();
            assert_eq!(answer, MESSAGE);
        }
        server.await.unwrap();
    }
}

/// As it comes: beside a busy executor monoio serves its sockets, but fires no timers (monoio issue 370). So the tests of
/// those are below.
#[cfg(target_os = "linux")]
mod monoio_legacy {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let mut host = monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().enable_timer().build().unwrap();
        host.block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::MonoioIo);
}

#[cfg(target_os = "linux")]
mod monoio_io_uring {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        if let Some(mut host) = io_uring() {
            host.block_on(ex.run_until(body(Rc::clone(&ex))));
        }
    }

    every_host_can!(run, super::MonoioIo);
}

/// Where the kernel has no io_uring for us (containers often forbid it) there is nothing to test.
#[cfg(target_os = "linux")]
fn io_uring() -> Option<monoio::Runtime<monoio::time::TimeDriver<monoio::IoUringDriver>>> {
    let build = || monoio::RuntimeBuilder::<monoio::IoUringDriver>::new().enable_timer().build().unwrap();
    monoio::utils::detect_uring().then(build)
}

#[cfg(all(target_os = "linux", feature = "monoio"))]
mod monoio_legacy_with_timers {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let mut host = monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().enable_timer().build().unwrap();
        host.block_on(clockworker::monoio::with_timers(ex.run_until(body(Rc::clone(&ex))))).unwrap();
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run, super::MonoioIo);
    timers_fire_after_the_turn!(run, super::MonoioIo);
}

#[cfg(all(target_os = "linux", feature = "monoio"))]
mod monoio_io_uring_with_timers {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        if let Some(mut host) = io_uring() {
            host.block_on(clockworker::monoio::with_timers(ex.run_until(body(Rc::clone(&ex))))).unwrap();
        }
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run, super::MonoioIo);
    timers_fire_after_the_turn!(run, super::MonoioIo);
}
