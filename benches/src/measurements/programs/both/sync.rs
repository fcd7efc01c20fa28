//! Tasks that wait for each other with what `tokio::sync` has: calls with an answer, notifications, locks.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};

use super::support::{run, spawn_all, timed, timed_with_latencies};
use super::task::{spawn_local, yield_now};
use crate::harness::Sample;
use crate::measurements::programs::Setting;
use crate::stopwatch::Stopwatch;

/// A number, and where its successor is to go.
type Call = (u64, oneshot::Sender<u64>);

/// Pairs of a client and a server, all of them busy: the time, and p99 of a call.
pub(super) fn pairs(setting: &Setting) -> Sample {
    let (pairs, calls) = (setting.size(1_000, 10), setting.size(100, 5));
    run(async move {
        let latencies = Rc::new(RefCell::new(Vec::with_capacity(pairs * calls)));
        let all = spawn_all(pairs, |_| {
            let (server, requests) = mpsc::channel(1);
            drop(spawn_local(serve(requests)));
            call_often(server, calls, latencies.clone())
        });
        let all = async {
            all.await;
            latencies.take()
        };
        timed_with_latencies(all).await
    })
}

pub(super) fn one_service(setting: &Setting) -> Sample {
    let (callers, calls) = (setting.size(100, 5), setting.size(1_000, 10));
    timed(async move {
        let (service, requests) = mpsc::channel(32);
        drop(spawn_local(serve(requests)));
        spawn_all(callers, |_| call_all(service.clone(), calls)).await;
    })
}

async fn serve(mut requests: mpsc::Receiver<Call>) {
    while let Some((number, answer)) = requests.recv().await {
        answer.send(number + 1).expect("the caller waits");
    }
}

async fn call(service: &mpsc::Sender<Call>, number: u64) -> u64 {
    let (answer, answered) = oneshot::channel();
    service.send((number, answer)).await.expect("the service does not end");
    answered.await.expect("the service answers")
}

async fn call_all(service: mpsc::Sender<Call>, calls: usize) {
    for number in 0..calls as u64 {
        assert_eq!(call(&service, number).await, number + 1);
    }
}

async fn call_often(service: mpsc::Sender<Call>, calls: usize, latencies: Rc<RefCell<Vec<Duration>>>) {
    for number in 0..calls as u64 {
        let watch = Stopwatch::start();
        call(&service, number).await;
        latencies.borrow_mut().push(watch.elapsed());
    }
}

pub(super) fn mutex_across_yield(setting: &Setting) -> Sample {
    let (tasks, times) = (setting.size(100, 5), setting.size(500, 5));
    timed(async move {
        let counter = Rc::new(Mutex::new(0));
        spawn_all(tasks, |_| count_with_yield(counter.clone(), times)).await;
        assert_eq!(*counter.lock().await, tasks * times);
    })
}

async fn count_with_yield(counter: Rc<Mutex<usize>>, times: usize) {
    for _ in 0..times {
        let mut counted = counter.lock().await;
        yield_now().await;
        *counted += 1;
    }
}

pub(super) fn mutex_contended(setting: &Setting) -> Sample {
    let (tasks, times) = (setting.size(100, 5), setting.size(500, 5));
    timed(async move {
        let (service, requests) = mpsc::channel(1);
        drop(spawn_local(serve(requests)));
        let number = Rc::new(Mutex::new(0));
        spawn_all(tasks, |_| {
            let (number, service) = (number.clone(), service.clone());
            async move {
                for _ in 0..times {
                    let mut number = number.lock().await;
                    *number = call(&service, *number).await;
                }
            }
        })
        .await;
        assert_eq!(*number.lock().await, (tasks * times) as u64);
    })
}

pub(super) fn semaphore(setting: &Setting) -> Sample {
    let (tasks, times) = (setting.size(1_000, 20), setting.size(50, 2));
    let permits = Rc::new(Semaphore::new(10));
    timed(spawn_all(tasks, |_| {
        let permits = permits.clone();
        async move {
            for _ in 0..times {
                let _permit = permits.acquire().await.expect("it is not closed");
                yield_now().await;
            }
        }
    }))
}
