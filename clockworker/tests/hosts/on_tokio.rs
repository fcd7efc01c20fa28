//! Inside tokio.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;

use crate::beside::timers_beside_computation;
use crate::io::Io;

struct TokioIo;

impl Io for TokioIo {
    async fn sleep(time: Duration) {
        tokio::time::sleep(time).await;
    }

    echo_with!(tokio);
}

mod current_thread {
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

mod multi_thread {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        multi_thread().block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::TokioIo);
    timers_fire_beside_computation!(run, super::TokioIo);
}

mod local_set {
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
