//! The executor inside every host that it names: spawning, the host's timers and sockets beside computation, wakes from
//! other threads, and idling.
//!
//! Nothing here depends on how long anything takes. What is broken hangs, or polls too often.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};
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

/// monoio 0.2 looks at its sockets although a task is ready, but at its timers only when none is (monoio issue 370): beside
/// a task that wakes itself all the time, as a busy executor does, no timer fires. So here the executor's wakes of itself
/// go through the driver: a byte written to a pair of sockets and read again, which leaves monoio nothing to do but to
/// wait for it, and to look at its timers on the way.
#[cfg(target_os = "linux")]
mod through_the_driver {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use super::*;

    /// Passes wakes on, but for those during a poll.
    struct Held {
        polling: AtomicBool,
        woken: AtomicBool,
        task: Waker,
    }

    impl Wake for Held {
        fn wake(self: Arc<Self>) {
            // Ordering: SeqCst, both sides set theirs and look at the other's.
            self.woken.store(true, Ordering::SeqCst);
            if !self.polling.load(Ordering::SeqCst) {
                self.task.wake_by_ref();
            }
        }
    }

    pub(super) async fn run<F: Future>(future: F) -> F::Output {
        use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};

        let (mut one, mut other) = monoio::net::UnixStream::pair().unwrap();
        let mut future = pin!(future);
        let task = std::future::poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        let held = Arc::new(Held { polling: AtomicBool::new(false), woken: AtomicBool::new(true), task });
        let waker = Waker::from(Arc::clone(&held));
        loop {
            let polled = std::future::poll_fn(|_| {
                if !held.woken.swap(false, Ordering::SeqCst) {
                    return Poll::Pending;
                }
                held.polling.store(true, Ordering::SeqCst);
                let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                held.polling.store(false, Ordering::SeqCst);
                match polled {
                    Poll::Pending if !held.woken.load(Ordering::SeqCst) => Poll::Pending,
                    polled => Poll::Ready(polled),
                }
            });
            if let Poll::Ready(output) = polled.await {
                return output;
            }
            // Reading first, as the legacy driver reads what is there already without waiting for an event.
            let (read, written) = futures::join!(other.read_exact(vec![0]), one.write_all(vec![0]));
            read.0.and(written.0).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
mod monoio_legacy {
    use super::*;

    fn host() -> monoio::Runtime<monoio::time::TimeDriver<monoio::LegacyDriver>> {
        monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().enable_timer().build().unwrap()
    }

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        host().block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    fn run_through_the_driver<F: Future<Output = ()> + 'static>(
        ex: Rc<Executor>,
        body: fn(Rc<Executor>) -> F,
    ) {
        host().block_on(through_the_driver::run(ex.run_until(body(Rc::clone(&ex)))));
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run_through_the_driver, super::MonoioIo);
}

#[cfg(target_os = "linux")]
mod monoio_io_uring {
    use super::*;

    /// Where the kernel has no io_uring for us (containers often forbid it) there is nothing to test.
    fn host() -> Option<monoio::Runtime<monoio::time::TimeDriver<monoio::IoUringDriver>>> {
        let build = || monoio::RuntimeBuilder::<monoio::IoUringDriver>::new().enable_timer().build().unwrap();
        monoio::utils::detect_uring().then(build)
    }

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        if let Some(mut host) = host() {
            host.block_on(ex.run_until(body(Rc::clone(&ex))));
        }
    }

    fn run_through_the_driver<F: Future<Output = ()> + 'static>(
        ex: Rc<Executor>,
        body: fn(Rc<Executor>) -> F,
    ) {
        if let Some(mut host) = host() {
            host.block_on(through_the_driver::run(ex.run_until(body(Rc::clone(&ex)))));
        }
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run_through_the_driver, super::MonoioIo);
}
