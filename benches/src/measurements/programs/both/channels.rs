//! Many consumers of one producer.

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::{broadcast, mpsc, watch};

use super::support::{counted, run, timed_in_task};
use super::task::spawn_local;
use crate::measurements::programs::program::Setting;
use crate::stopwatch::Stopwatch;

/// Messages that a consumer takes before it says that it has them.
const BATCH: usize = 100;

/// Broadcast messages that are under way at once.
const WINDOW: usize = 32;

/// Consumers that drain batches: the time, and polls per batch.
pub(super) fn batches(setting: &Setting) -> Vec<f64> {
    let (consumers, rounds) = (setting.size(200, 5), setting.size(25, 2));
    let polls = Rc::new(Cell::new(0));
    let total = polls.clone();
    let time = run(async move {
        let (drained, mut acknowledged) = mpsc::channel(consumers);
        let producers: Vec<_> = (0..consumers)
            .map(|_| {
                let (producer, inbox) = mpsc::channel(BATCH);
                drop(spawn_local(counted(polls.clone(), drain(inbox, drained.clone()))));
                producer
            })
            .collect();
        let watch = Stopwatch::start();
        let produce = async move {
            for _ in 0..rounds {
                producers.iter().for_each(fill);
                wait_for(&mut acknowledged, consumers).await;
            }
        };
        spawn_local(produce).await.expect("the producer does not fail");
        watch.nanos()
    });
    vec![time, total.get() as f64 / (consumers * rounds) as f64]
}

fn fill(producer: &mpsc::Sender<usize>) {
    (0..BATCH).for_each(|number| producer.try_send(number).expect("the last batch was drained"));
}

async fn drain(mut inbox: mpsc::Receiver<usize>, drained: mpsc::Sender<()>) {
    while let Some(number) = inbox.recv().await {
        if number == BATCH - 1 {
            drained.try_send(()).expect("there is room for all consumers");
        }
    }
}

async fn wait_for(acknowledged: &mut mpsc::Receiver<()>, consumers: usize) {
    for _ in 0..consumers {
        acknowledged.recv().await.expect("no consumer ends");
    }
}

/// Every message goes to every consumer.
pub(super) fn broadcasts(setting: &Setting) -> Vec<f64> {
    let (consumers, messages) = (setting.size(200, 5), setting.size(40, 2) * WINDOW);
    timed_in_task(async move {
        let (sender, _) = broadcast::channel(WINDOW);
        let (acknowledge, mut acknowledged) = mpsc::channel(consumers);
        for _ in 0..consumers {
            drop(spawn_local(listen(sender.subscribe(), acknowledge.clone())));
        }
        for number in 1..=messages {
            sender.send(number).expect("consumers listen");
            if number % WINDOW == 0 {
                wait_for(&mut acknowledged, consumers).await;
            }
        }
    })
}

async fn listen(mut receiver: broadcast::Receiver<usize>, acknowledge: mpsc::Sender<()>) {
    while let Ok(number) = receiver.recv().await {
        if number % WINDOW == 0 {
            acknowledge.try_send(()).expect("there is room for all consumers");
        }
    }
}

/// Everybody waits for the next value.
pub(super) fn watches(setting: &Setting) -> Vec<f64> {
    let (watchers, values) = (setting.size(500, 5), setting.size(300, 5));
    timed_in_task(async move {
        let (sender, _) = watch::channel(0);
        let (acknowledge, mut acknowledged) = mpsc::channel(watchers);
        for _ in 0..watchers {
            drop(spawn_local(follow(sender.subscribe(), acknowledge.clone())));
        }
        for value in 1..=values {
            sender.send(value).expect("watchers follow");
            wait_for(&mut acknowledged, watchers).await;
        }
    })
}

async fn follow(mut receiver: watch::Receiver<usize>, acknowledge: mpsc::Sender<()>) {
    while receiver.changed().await.is_ok() {
        receiver.borrow_and_update();
        acknowledge.try_send(()).expect("there is room for all watchers");
    }
}
