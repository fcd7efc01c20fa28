//! Timers and sockets beside computation.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};

use crate::io::Io;

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

pub(crate) async fn sockets_beside_computation<I: Io>(ex: Rc<Executor>) {
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

pub(crate) async fn timers_beside_computation<I: Io>(ex: Rc<Executor>) {
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
pub(crate) async fn timers_and_sockets_beside_computation<I: Io>(ex: Rc<Executor>) {
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
pub(crate) async fn the_host_has_its_turns<I: Io>(ex: Rc<Executor>) {
    timers_and_sockets_beside_computation::<I>(Rc::clone(&ex)).await;
    let stats = ex.stats();
    assert!(stats.polls <= 16 * stats.host_polls, "{} polls in {} turns", stats.polls, stats.host_polls);
}
