//! Spans of tasks: each is entered for the polls of its task, and closed with its future, however that ends.

#![allow(missing_docs, reason = "tests")]

use std::sync::{Arc, Mutex};

use clockworker::{Executor, yield_now};
use clockworker_observe::{Observation, Observe};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use support::{OnDrop, elsewhere};

#[path = "../../clockworker/tests/support/mod.rs"]
mod support;

/// Writes down what happens to the spans of tasks.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// Logs while `scene` runs with an executor.
    fn of(&self, scene: impl FnOnce(&Executor)) {
        let subscriber = tracing_subscriber::registry().with(self.clone());
        tracing::subscriber::with_default(subscriber, || scene(&traced()));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An executor whose tasks are spans.
fn traced() -> Executor {
    let ex = Executor::new();
    ex.observe(Observation::new().spans()).unwrap();
    ex
}

/// The fields that are compared.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "task.name" | "queue" | "op" => self.0 += &format!(" {value}"),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "tag" {
            self.0 += &format!(" tag {value}");
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        assert!(attributes.is_root() && context.span(id).unwrap().parent().is_none(), "it has a parent");
        self.write(format!("open{}", fields.0));
    }

    fn on_enter(&self, _id: &Id, _context: Context<'_, S>) {
        self.write("enter".to_owned());
    }

    fn on_exit(&self, _id: &Id, _context: Context<'_, S>) {
        self.write("exit".to_owned());
    }

    fn on_close(&self, _id: Id, _context: Context<'_, S>) {
        self.write("close".to_owned());
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.write(format!("event{}", fields.0));
    }
}

/// What is logged while `scene` runs with an executor.
fn log_of(scene: impl FnOnce(&Executor)) -> Vec<String> {
    let log = Log::default();
    log.of(scene);
    log.take()
}

#[test]
fn a_task_that_yields_is_entered_twice() {
    let log = log_of(|ex| {
        let queue = ex.new_queue("requests").create().unwrap();
        let task = queue.new_task().name("reader").spawn(yield_now());
        ex.block_on(task).unwrap();
    });
    assert_eq!(
        log,
        ["open reader requests", "enter", "event waker.wake_by_ref", "exit", "enter", "exit", "close"]
    );
}

#[test]
fn a_span_has_the_tag_that_its_task_has_inherited() {
    let log = log_of(|ex| {
        let task = ex.default_queue().new_task().tag(7).spawn(async {
            drop(clockworker::spawn_local(async {}));
        });
        ex.block_on(task).unwrap();
    });
    let opened: Vec<_> = log.into_iter().filter(|line| line.starts_with("open")).collect();
    assert_eq!(opened, ["open default tag 7"; 2]);
}

#[test]
fn the_span_of_a_task_that_panics_is_closed() {
    let log = log_of(|ex| {
        let task = ex.spawn(async { panic!("as planned") });
        assert!(ex.block_on(task).is_err());
    });
    assert_eq!(log, ["open default", "enter", "exit", "close"]);
}

#[test]
fn the_span_of_a_task_that_is_never_polled_is_closed_when_it_is_dropped() {
    for aborted in [true, false] {
        let log = log_of(|ex| {
            let task = ex.spawn(std::future::pending::<()>());
            if aborted {
                task.abort();
                assert!(ex.block_on(task).is_err());
            }
        });
        assert_eq!(log, ["open default", "close"], "aborted: {aborted}");
    }
}

#[test]
fn the_span_is_open_while_the_future_is_dropped() {
    for (ends, expected) in [
        (true, ["open default", "enter", "dropped", "exit", "close"]),
        (false, ["open default", "enter", "exit", "dropped", "close"]),
    ] {
        let log = Log::default();
        let says = log.clone();
        log.of(|ex| {
            let guard = OnDrop::new(move || says.write("dropped".to_owned()));
            let task = ex.spawn(async move {
                let _guard = guard;
                if !ends {
                    std::future::pending::<()>().await;
                }
            });
            ex.block_on(yield_now());
            task.abort();
            assert_eq!(ex.block_on(task).is_ok(), ends);
        });
        assert_eq!(log.take(), expected, "it ends: {ends}");
    }
}

#[test]
fn a_task_from_another_thread_has_a_span_of_the_executors_thread() {
    let log = log_of(|ex| {
        let handle = ex.handle();
        let task = elsewhere(|| handle.spawn(|| std::future::ready(1)));
        assert_eq!(ex.block_on(task).unwrap(), 1);
    });
    assert_eq!(log, ["open default", "enter", "exit", "close"]);
}

#[test]
fn wakers_are_told_until_the_task_is_over() {
    let log = log_of(|ex| {
        let task = ex.spawn(std::future::poll_fn(|cx| {
            let waker = cx.waker().clone();
            waker.wake();
            std::task::Poll::Ready(())
        }));
        ex.block_on(task).unwrap();
    });
    assert_eq!(log, ["open default", "enter", "event waker.clone", "event waker.wake", "exit", "close"]);
}

/// Panics at each call.
struct Panics;

impl<S: Subscriber> Layer<S> for Panics {
    fn on_enter(&self, _id: &Id, _context: Context<'_, S>) {
        panic!("as planned");
    }

    fn on_exit(&self, _id: &Id, _context: Context<'_, S>) {
        panic!("as planned");
    }

    fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
        panic!("as planned");
    }
}

#[test]
fn a_subscriber_that_panics_harms_no_task() {
    let subscriber = tracing_subscriber::registry().with(Panics);
    tracing::subscriber::with_default(subscriber, || {
        let ex = traced();
        let tasks = [1, 2].map(|n| {
            ex.spawn(async move {
                yield_now().await;
                n
            })
        });
        let outputs = ex.block_on(async {
            let [one, two] = tasks;
            (one.await.unwrap(), two.await.unwrap())
        });
        assert_eq!((outputs, ex.stats().live), ((1, 2), 0));
    });
}
