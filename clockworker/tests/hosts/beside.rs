//! Timers and sockets beside computation.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};

use crate::host::{Io, Timers, hosts, small_turns};

/// Four tasks in each of two queues compute all the time, with a yield now and then, until `others` are done.
async fn beside_computation(ex: &Executor, others: impl AsyncFnOnce(&[Queue; 2])) {
    let stop = Rc::new(Cell::new(false));
    let queues =
        [ex.new_queue("background").create().unwrap(), ex.new_queue("foreground").share(4).create().unwrap()];
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

async fn sleeps(io: Io, times: u32) {
    for _ in 0..times {
        (io.sleep)(Duration::from_millis(1)).await;
    }
}

/// In both queues, and in the future given to `run_until`.
async fn sockets_beside_computation(ex: Rc<Executor>, io: Io) {
    beside_computation(&ex, async |queues| {
        let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn((io.echo)(50))).collect();
        (io.echo)(10).await;
        for task in echoes {
            task.await.unwrap();
        }
    })
    .await;
}

/// In both queues, and in the future given to `run_until`.
pub(crate) async fn timers_beside_computation(ex: Rc<Executor>, io: Io) {
    beside_computation(&ex, async |queues| {
        let sleepers: Vec<_> = queues.iter().map(|queue| queue.spawn(sleeps(io, 10))).collect();
        sleeps(io, 1).await;
        for task in sleepers {
            task.await.unwrap();
        }
    })
    .await;
}

/// Timers and sockets at the same time, in both queues and in the future given to `run_until`, beside computation in both.
async fn timers_and_sockets_beside_computation(ex: Rc<Executor>, io: Io) {
    beside_computation(&ex, async |queues| {
        let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn((io.echo)(50))).collect();
        let sleepers: Vec<_> = queues.iter().map(|queue| queue.spawn(sleeps(io, 10))).collect();
        futures::join!((io.echo)(10), sleeps(io, 3));
        for task in echoes.into_iter().chain(sleepers) {
            task.await.unwrap();
        }
    })
    .await;
}

#[test]
fn sockets() {
    for host in hosts(Timers::Idle) {
        host.play(Executor::new(), sockets_beside_computation);
        host.play(small_turns(), sockets_beside_computation);
    }
}

#[test]
fn timers() {
    for host in hosts(Timers::Beside) {
        host.play(Executor::new(), timers_beside_computation);
        host.play(small_turns(), timers_beside_computation);
    }
}

#[test]
fn timers_and_sockets() {
    for host in hosts(Timers::Beside) {
        host.play(Executor::new(), timers_and_sockets_beside_computation);
    }
}

/// With turns of at most 16 polls, the host has its turn as often as was asked for.
#[test]
fn the_host_has_its_turns() {
    for host in hosts(Timers::Beside) {
        host.play(small_turns(), |ex, io| async move {
            timers_and_sockets_beside_computation(Rc::clone(&ex), io).await;
            let stats = ex.stats();
            let (polls, turns) = (stats.polls, stats.host_polls);
            assert!(polls <= 16 * turns, "{polls} polls in {turns} turns");
        });
    }
}
