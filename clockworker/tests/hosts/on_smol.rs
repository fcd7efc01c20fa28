//! Inside smol and friends: their timers and sockets work anywhere, woken by a thread of their own.

use crate::host::{Host, Io, MESSAGE, Timers, echo_with};

echo_with!(smol);

async fn sleep(time: std::time::Duration) {
    smol::Timer::after(time).await;
}

const IO: Io = Io { sleep: |time| Box::pin(sleep(time)), echo: |messages| Box::pin(echo(messages)) };

pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "smol",
        run: |ex, future| smol::block_on(ex.run_until(future)),
        io: IO,
        timers: Timers::Beside,
    },
    Host {
        name: "smol's LocalExecutor",
        run: |ex, future| {
            let local = smol::LocalExecutor::new();
            let task = local.spawn(async move { ex.run_until(future).await });
            smol::block_on(local.run(task));
        },
        io: IO,
        timers: Timers::Beside,
    },
    Host {
        name: "futures",
        run: |ex, future| futures::executor::block_on(ex.run_until(future)),
        io: IO,
        timers: Timers::Beside,
    },
    Host { name: "none", run: |ex, future| ex.block_on(future), io: IO, timers: Timers::Beside },
];
