//! What a child has of its own: executors, locks, alarms.

use super::*;

#[test]
fn a_child_makes_executors_of_its_own_and_its_children_may_not_use_those() {
    in_child(|| {
        let ex = untimed();
        fork(|| {
            let own = untimed();
            assert_usable(&own);
            fork(|| {
                assert_panics(|| own.block_on(async {}));
                assert_panics(|| ex.block_on(async {}));
                assert_usable(&untimed());
            });
            assert_usable(&own);
            assert_panics(|| ex.block_on(async {}));
        });
        assert_usable(&ex);
    });
}

#[test]
fn locks_that_other_threads_held_at_the_fork_stop_nobody() {
    in_child(|| {
        let mut ex = Some(untimed());
        let handle = ex.as_ref().unwrap().handle();
        let stop = Arc::new(AtomicBool::new(false));
        let lookers = [(); 2].map(|()| {
            let (handle, stop) = (handle.clone(), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    assert!(handle.has_queue("default"));
                }
            })
        });
        for _ in 0..200 {
            fork(|| {
                assert_refused(handle.spawn(|| async {}));
                let queue = ex.as_ref().unwrap().default_queue().clone();
                queue.close();
                drop(ex.take());
                assert!(handle.is_stopped());
            });
        }
        stop.store(true, Ordering::Relaxed);
        lookers.into_iter().for_each(|looker| looker.join().unwrap());
        assert_usable(&ex.unwrap());
    });
}

/// Computes until the queue was throttled in so many periods.
fn until_throttled(queue: &Queue, periods: u64) -> impl Future<Output = ()> + use<> {
    let queue = queue.clone();
    async move {
        while queue.stats().throttled_periods < periods {
            yield_now().await;
        }
    }
}

/// The thread that rings alarms is the parent's, as is an alarm that is set.
#[test]
fn a_child_has_alarms_of_its_own() {
    let ms = Duration::from_millis;
    let throttled = |ex: &Executor| {
        let queue = ex.new_queue("capped").cap(Cap::new(ms(1), ms(4)).unwrap()).create().unwrap();
        ex.block_on(queue.spawn(until_throttled(&queue, 3))).unwrap();
    };
    in_child(|| {
        let mut ex = Some(Executor::new());
        throttled(ex.as_ref().unwrap());
        // Waits for an alarm that is an hour off.
        let hour = Cap::new(ms(1), Duration::from_secs(3_600)).unwrap();
        let queue = ex.as_ref().unwrap().new_queue("hour").cap(hour).create().unwrap();
        let task = queue.spawn(until_throttled(&queue, 1));
        settle(ex.as_ref().unwrap());
        fork(|| {
            assert!(queue.set_cap(None).unwrap_err().is_stopped());
            drop(ex.take());
            throttled(&Executor::new());
        });
        assert!(!task.is_finished());
        queue.set_cap(None).unwrap();
        ex.unwrap().block_on(task).unwrap();
    });
}

/// The thread that looks for stalls is the parent's, as is what it watches.
#[cfg(feature = "stalls")]
#[test]
fn a_child_has_a_lookout_of_its_own() {
    use clockworker::stalls::StallDetector;
    use std::sync::mpsc::channel;

    let stalls = |ex: &Executor| {
        let (tell, told) = channel();
        let detector = StallDetector::new(Duration::from_millis(1)).on_stall(move |_| _ = tell.send(()));
        let _guard = detector.watch(ex).unwrap();
        let patience = Duration::from_secs(PATIENCE.into());
        ex.block_on(async { told.recv_timeout(patience) }).unwrap();
    };
    in_child(|| {
        let mut ex = Some(Executor::new());
        stalls(ex.as_ref().unwrap());
        let detector = StallDetector::new(Duration::from_millis(1));
        let mut guard = Some(detector.watch(ex.as_ref().unwrap()).unwrap());
        for _ in 0..20 {
            fork(|| {
                let error = detector.watch(ex.as_ref().unwrap()).unwrap_err();
                assert!(error.is_forked() && error.to_string().contains(FORKED), "{error}");
                stalls(&Executor::new());
                drop(guard.take());
                drop(ex.take());
                stalls(&Executor::new());
            });
        }
        stalls(ex.as_ref().unwrap());
    });
}
