//! Inside smol and friends: their timers and sockets work anywhere, woken by a thread of their own.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;

use crate::io::Io;

struct SmolIo;

impl Io for SmolIo {
    async fn sleep(time: Duration) {
        smol::Timer::after(time).await;
    }

    echo_with!(smol);
}

mod block_on {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        smol::block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::SmolIo);
    timers_fire_beside_computation!(run, super::SmolIo);
}

mod local_executor {
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
