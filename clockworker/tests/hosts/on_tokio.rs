//! Inside tokio.

use std::rc::Rc;

use clockworker::Executor;

use crate::beside::timers_beside_computation;
use crate::host::{Host, Io, MESSAGE, Timers, echo_with};
use crate::support::{current_thread, multi_thread};

echo_with!(tokio);

const IO: Io =
    Io { sleep: |time| Box::pin(tokio::time::sleep(time)), echo: |messages| Box::pin(echo(messages)) };

pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "tokio, current_thread",
        run: |ex, future| current_thread().block_on(ex.run_until(future)),
        io: IO,
        timers: Timers::AfterTurn,
    },
    Host {
        name: "tokio, multi_thread",
        run: |ex, future| multi_thread().block_on(ex.run_until(future)),
        io: IO,
        timers: Timers::Beside,
    },
    Host {
        name: "tokio's LocalSet",
        run: |ex, future| {
            let local = tokio::task::LocalSet::new();
            let task = local.spawn_local(async move { ex.run_until(future).await });
            local.block_on(&multi_thread(), task).unwrap();
        },
        io: IO,
        timers: Timers::Beside,
    },
];

/// Two executors in one `LocalSet` do not get into each other's way.
#[test]
fn two_executors_in_one_local_set() {
    let local = tokio::task::LocalSet::new();
    let [one, two] = [(); 2].map(|()| {
        let ex = Rc::new(Executor::new());
        local.spawn_local(async move { ex.run_until(timers_beside_computation(Rc::clone(&ex), IO)).await })
    });
    local.block_on(&current_thread(), async {
        one.await.unwrap();
        two.await.unwrap();
    });
}
