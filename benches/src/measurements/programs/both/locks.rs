//! Locks that several tasks want at once.

use std::rc::Rc;

use tokio::sync::{Mutex, Semaphore, mpsc};

use super::calls::{call, serve};
use super::support::{spawn_all, timed};
use super::task::{spawn_local, yield_now};
use crate::measurements::programs::program::Setting;

/// A mutex that is held across a yield.
pub(super) fn mutex_across_yield(setting: &Setting) -> Vec<f64> {
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

/// A mutex that is held while another task is asked.
pub(super) fn mutex_contended(setting: &Setting) -> Vec<f64> {
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

/// Ten permits for a thousand tasks, each held across a yield.
pub(super) fn semaphore(setting: &Setting) -> Vec<f64> {
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
