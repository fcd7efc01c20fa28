//! `TokioClock`: caps, shares and deadlines on tokio's time, which stands still or runs.

use std::cell::RefCell;
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clockworker::compat::LocalSet;
use clockworker::schedulers::{Deadline, FairGroups, Late, Qlas};
use clockworker::{
    Cap, DEFAULT_POLL_CHARGE, DEFAULT_REQUEST, Executor, ManualClock, Queue, Step, TokioClock, yield_if_due,
    yield_now,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, advance, sleep, timeout};

use crate::support::{CountingWaker, multi_thread, output, quietly, settle_with};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const HOUR: Duration = Duration::from_secs(3600);

/// A runtime whose time stands still.
fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// An executor whose polls take a millisecond, on the time of the runtime that this is called in.
fn executor() -> Executor {
    Executor::builder().clock(TokioClock::new().unwrap().poll_charge(ms(1))).build().unwrap()
}

fn capped(ex: &Executor, name: &str) -> Queue {
    ex.new_queue(name).cap(Cap::new(ms(20), ms(100)).unwrap()).create().unwrap()
}

/// In each poll its name and the executor's time, of tasks in queues of every kind. `work` stands for what a poll does.
fn trace(ex: Executor, work: impl Fn() + Clone + 'static) -> Vec<(&'static str, u64)> {
    let trace = Rc::<RefCell<Vec<_>>>::default();
    let parent = ex.new_queue("parent").share(2).create().unwrap();
    let queues = [
        ("three", ex.new_queue("three").share(3).create()),
        ("nested", parent.new_queue("nested").create()),
        ("fair", ex.new_queue("fair").scheduler(FairGroups::new()).create()),
        ("sized", ex.new_queue("sized").scheduler(Qlas::new()).request(ms(4)).create()),
        ("idle", ex.new_queue("idle").idle().create()),
    ];
    for (name, queue) in queues {
        let queue = queue.unwrap();
        for task in 0..3 {
            let (trace, clock, work) = (Rc::clone(&trace), ex.clock(), work.clone());
            queue.group(task).spawn(async move {
                for poll in 0..100 {
                    if poll > 0 {
                        yield_now().await;
                    }
                    trace.borrow_mut().push((name, clock.now_ns()));
                    work();
                }
            });
        }
    }
    while ex.run_for(HOUR) != Step::Idle {}
    assert_eq!((ex.stats().busy, ex.stats().polls), (ms(1_500), 1_500));
    trace.take()
}

/// To the nanosecond, in queues of every kind.
#[test]
fn a_poll_on_a_clock_that_stands_still_is_charged_as_if_it_moved_a_manual_one() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let by_hand = trace(ex, move || clock.advance(ms(1)));
    let on_tokio = paused().block_on(async { trace(executor(), || ()) });
    assert_eq!(by_hand, on_tokio);
}

#[test]
fn shares_are_exact_while_time_stands_still() {
    for charge in [Duration::from_micros(2), DEFAULT_POLL_CHARGE, ms(1)] {
        paused().block_on(async {
            let began = Instant::now();
            let clock = TokioClock::new().unwrap().poll_charge(charge);
            let ex = Executor::builder().clock(clock).build().unwrap();
            let (three, one) = (ex.new_queue("three").share(3).create(), ex.new_queue("one").create());
            let queues = [three.unwrap(), one.unwrap()];
            for queue in &queues {
                for _ in 0..3 {
                    queue.spawn(async {
                        loop {
                            yield_now().await;
                        }
                    });
                }
            }
            ex.run_until(async {
                while ex.stats().polls < 100_000 {
                    yield_now().await;
                }
            })
            .await;
            let busy = queues.each_ref().map(|queue| queue.stats().busy);
            let stats = ex.stats();
            assert!(busy[0].abs_diff(stats.busy * 3 / 4) <= DEFAULT_REQUEST + charge, "{busy:?}");
            if charge > DEFAULT_REQUEST {
                assert_eq!(busy[0], 3 * busy[1], "each slice is a poll");
            }
            assert_eq!(stats.busy, charge * u32::try_from(stats.polls).unwrap());
            assert_eq!((began.elapsed(), stats.main), (Duration::ZERO, Duration::ZERO));
        });
    }
}

#[test]
fn a_cap_is_exact_on_tokios_time() {
    paused().block_on(async {
        let (ex, began) = (executor(), Instant::now());
        let starts = Rc::new(RefCell::new(Vec::new()));
        let notes = Rc::clone(&starts);
        let task = capped(&ex, "capped").spawn(async move {
            for _ in 0..100 {
                notes.borrow_mut().push(began.elapsed());
                yield_now().await;
            }
        });
        // Of an hour, as the clock has moved on by 401 ms when it is done.
        ex.run_until(timeout(HOUR, task)).await.unwrap().unwrap();
        let expected: Vec<_> = (0..5).flat_map(|period| [ms(100 * period); 20]).collect();
        assert_eq!(*starts.borrow(), expected);
        assert_eq!(began.elapsed(), ms(500), "its last poll is the 101st");
        let stats = ex.queue("capped").unwrap().stats();
        assert_eq!((stats.polls, stats.busy, stats.throttled_periods), (101, ms(101), 5));
    });
}

#[test]
fn a_cap_ends_beside_a_queue_that_is_always_ready_although_tokios_time_stands_still() {
    paused().block_on(async {
        let (ex, began) = (executor(), Instant::now());
        let beside = ex.spawn(async {
            for _ in 0..420 {
                yield_now().await;
            }
        });
        let capped = capped(&ex, "capped");
        let task = capped.spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        ex.run_until(beside).await.unwrap();
        // 421 polls beside 100 in five periods, and one in the sixth.
        assert_eq!((began.elapsed(), task.is_finished()), (Duration::ZERO, true));
        assert_eq!(capped.stats().busy, ms(101));
    });
}

#[test]
fn a_deadline_is_on_the_time_that_was_charged() {
    paused().block_on(async {
        let ex = executor();
        let deadlines = Deadline::new().with_late(Late::Behind);
        let queue = ex.new_queue("deadlines").scheduler(deadlines).create().unwrap();
        let order = Rc::new(RefCell::new(Vec::new()));
        // The first is late after its third poll, and goes behind the other.
        for (deadline, polls) in [(2, 5), (50, 1)] {
            let order = Rc::clone(&order);
            queue.new_task().deadline(ms(deadline)).spawn(async move {
                for _ in 1..polls {
                    yield_now().await;
                }
                order.borrow_mut().push(deadline);
            });
        }
        ex.run_until(ex.drained()).await;
        assert_eq!(*order.borrow(), [50, 2]);
    });
}

#[test]
fn a_step_says_tokios_time() {
    paused().block_on(async {
        let (ex, began) = (executor(), Instant::now());
        capped(&ex, "capped").spawn(async {
            for _ in 0..30 {
                yield_now().await;
            }
        });
        assert_eq!(ex.run_for(HOUR), Step::At((began + ms(100)).into_std()));
        advance(ms(99)).await;
        assert_eq!(ex.run_for(HOUR), Step::At((began + ms(100)).into_std()));
        advance(ms(1)).await;
        assert_eq!((ex.run_for(HOUR), ex.stats().completed), (Step::Idle, 1));
    });
}

#[test]
fn a_timer_that_is_not_needed_any_more_wakes_nobody() {
    for end in ["none", "lifted", "aborted"] {
        paused().block_on(async {
            let ex = executor();
            let queue = capped(&ex, "capped");
            let task = queue.spawn(async {
                for _ in 0..30 {
                    yield_now().await;
                }
                pending::<()>().await;
            });
            let ((wakes, waker), mut run) = (CountingWaker::new(), pin!(ex.run_until(pending::<()>())));
            assert!(settle_with(run.as_mut(), &wakes, &waker).is_none());
            assert_eq!(ex.stats().polls, 20);
            match end {
                "lifted" => queue.set_cap(None).unwrap(),
                "aborted" => task.abort(),
                _ => {}
            }
            assert!(settle_with(run.as_mut(), &wakes, &waker).is_none());
            let (polls, before) = (ex.stats().polls, wakes.count());
            sleep(HOUR).await;
            let is_woken = wakes.count() > before;
            assert_eq!(
                (polls, is_woken),
                if end == "lifted" { (31, false) } else { (20, end == "none") },
                "{end}"
            );
        });
    }
}

#[test]
fn an_executor_that_is_dropped_while_it_waits_for_its_cap_leaves_no_timer() {
    let rt = paused();
    let (wakes, waker) = CountingWaker::new();
    let ex = rt.block_on(async { executor() });
    capped(&ex, "capped").spawn(async {
        loop {
            yield_now().await;
        }
    });
    let _entered = rt.enter();
    assert!(settle_with(pin!(ex.run_until(pending::<()>())), &wakes, &waker).is_none());
    let clock = ex.clock();
    drop((ex, waker));
    assert_eq!(Arc::strong_count(&wakes), 1);
    drop(rt);
    assert_eq!(clock.now_ns(), 20_000_000);
}

#[test]
fn a_loop_that_asks_whether_to_yield_does_although_time_stands_still() {
    paused().block_on(async {
        let ex = executor();
        let asks = ex.spawn(async {
            for _ in 0..10 {
                yield_if_due().await;
            }
        });
        ex.run_until(asks).await.unwrap();
        assert_eq!(ex.stats().polls, 11);
    });
}

/// The 1,187 seconds of one program that ran on tokio's paused time, with a cap.
#[test]
fn time_goes_on_with_tokios_sleeps_and_no_timeout_comes_early() {
    paused().block_on(async {
        let (ex, began) = (executor(), Instant::now());
        let local = LocalSet::from(ex);
        let queue = capped(local.executor(), "capped");
        let work = queue.spawn(timeout(ms(1_000), async {
            for _ in 0..90 {
                yield_now().await;
            }
        }));
        let sleeps = local.spawn_local(async {
            for _ in 0..1_187 {
                sleep(Duration::from_secs(1)).await;
            }
        });
        local.run_until(async { work.await.unwrap().unwrap() }).await;
        assert_eq!(began.elapsed(), ms(400));
        local.run_until(sleeps).await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(1_187));
        let clock = local.executor().clock();
        assert_eq!(
            Duration::from_nanos(clock.now_ns()),
            began.elapsed() + ms(1),
            "ahead by the last poll only"
        );
    });
}

#[test]
fn it_is_read_from_anywhere() {
    let rt = paused();
    let ex = rt.block_on(async {
        let ex = executor();
        sleep(HOUR).await;
        ex
    });
    let hour = u64::try_from(HOUR.as_nanos()).unwrap();
    assert_eq!(ex.clock().now_ns(), hour, "outside of the runtime");
    let elsewhere = ex.clock();
    assert_eq!(thread::spawn(move || elsewhere.now_ns()).join().unwrap(), hour, "on another thread");
    let other = paused();
    assert_eq!(other.block_on(async { ex.clock().now_ns() }), hour, "in another runtime");
    let task = ex.spawn(yield_now());
    assert_eq!(ex.run_for(HOUR), Step::Idle);
    output(task).unwrap();
    drop(rt);
    assert_eq!(ex.clock().now_ns(), hour + 2_000_000, "after its end");
}

#[test]
fn where_time_runs_it_is_tokios() {
    let rt = multi_thread();
    let (ex, began) = rt.block_on(async {
        (Executor::builder().clock(TokioClock::new().unwrap()).build().unwrap(), Instant::now())
    });
    let after = Instant::now();
    let queue = ex.new_queue("capped").cap(Cap::percent(1, ms(2)).unwrap()).create().unwrap();
    let task = queue.spawn(async {
        for _ in 0..5 {
            std::hint::black_box((0..10_000).sum::<u64>());
            yield_now().await;
        }
    });
    // The runtime's threads see to its timers.
    ex.block_on(task).unwrap();
    assert!(queue.stats().throttled_periods > 0);
    let _entered = rt.enter();
    let (least, now, most) = (after.elapsed(), Duration::from_nanos(ex.clock().now_ns()), began.elapsed());
    assert!(least <= now, "{least:?} {now:?} {most:?}");
}

#[test]
fn without_a_runtime_or_timers_it_is_an_error() {
    let rt = Builder::new_current_thread().build().unwrap();
    let errors = [TokioClock::new(), quietly(|| rt.block_on(async { TokioClock::new() }))];
    for error in errors.map(Result::unwrap_err) {
        assert!(error.to_string().starts_with("no timers of tokio's here"), "{error}");
    }
}
