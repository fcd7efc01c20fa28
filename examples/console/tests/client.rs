//! A client as tokio-console is one sees the tasks of a service.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use console_api::field::{Name, Value};
use console_api::instrument::instrument_client::InstrumentClient;
use console_api::instrument::{InstrumentRequest, Update};
use console_api::tasks::{Stats, Task};

#[test]
fn a_console_sees_tasks_with_queue_place_polls_and_times() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let service = env!("CARGO_BIN_EXE_clockworker-console");
    let mut service = Command::new(service).args(["--address", &address.to_string()]).spawn().unwrap();
    let seen = watch(address);
    service.kill().unwrap();
    service.wait().unwrap();

    let compactor = seen.named("compactor").next().unwrap();
    assert_eq!(seen.field(compactor, "queue"), Some("compaction".to_owned()));
    let polls = seen.stats_of(compactor).poll_stats.as_ref().unwrap();
    assert!(polls.polls > 10 && polls.busy_time.as_ref().unwrap().nanos > 0, "{polls:?}");

    let request = seen.named("request").find(|request| seen.stats_of(request).dropped_at.is_some()).unwrap();
    assert_eq!(seen.field(request, "queue"), Some("requests".to_owned()));
    let location = request.location.as_ref().unwrap();
    assert!(
        location.file.as_ref().unwrap().ends_with("src/main.rs") && location.line.unwrap() > 0,
        "{location:?}"
    );
    let stats = seen.stats_of(request);
    let polls = stats.poll_stats.as_ref().unwrap();
    // Before its timer and after it; the timer's waker is a clone, and has woken it.
    assert_eq!((polls.polls, stats.wakes, stats.self_wakes), (2, 1, 0), "{stats:?}");
    assert_eq!(stats.waker_clones, stats.waker_drops, "one that wakes is dropped: {stats:?}");
    let lived = nanos_between(stats);
    let busy = polls.busy_time.as_ref().unwrap();
    assert!(busy.nanos >= 100_000 && lived > i64::from(busy.nanos), "busy {busy:?} of {lived} ns");
}

/// What a client has seen.
#[derive(Default)]
struct Seen {
    tasks: Vec<Task>,
    stats: HashMap<u64, Stats>,
}

impl Seen {
    fn add(&mut self, update: Update) {
        let Some(update) = update.task_update else { return };
        self.tasks.extend(update.new_tasks);
        self.stats.extend(update.stats_update);
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Task> {
        self.tasks.iter().filter(move |task| self.field(task, "task.name").as_deref() == Some(name))
    }

    fn field(&self, task: &Task, wanted: &str) -> Option<String> {
        let is_wanted = |name: &Name| matches!(name, Name::StrName(name) if name == wanted);
        let field = task.fields.iter().find(|field| field.name.as_ref().is_some_and(is_wanted))?;
        match field.value.as_ref()? {
            Value::StrVal(value) | Value::DebugVal(value) => Some(value.clone()),
            value => Some(format!("{value:?}")),
        }
    }

    fn stats_of(&self, task: &Task) -> &Stats {
        &self.stats[&task.id.as_ref().unwrap().id]
    }

    /// Whether the compactor has been polled some times, and a request is over.
    fn is_enough(&self) -> bool {
        let polls = |task: &Task| self.stats_of(task).poll_stats.as_ref().map_or(0, |stats| stats.polls);
        self.named("compactor").any(|task| polls(task) > 10)
            && self.named("request").any(|task| self.stats_of(task).dropped_at.is_some())
    }
}

/// Watches the tasks, as tokio-console does, until it has seen enough.
fn watch(address: SocketAddr) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = loop {
            // The server's thread may not listen yet.
            match InstrumentClient::connect(format!("http://{address}")).await {
                Ok(client) => break client,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let mut updates = client.watch_updates(InstrumentRequest {}).await.unwrap().into_inner();
        let mut seen = Seen::default();
        while !seen.is_enough() {
            seen.add(updates.message().await.unwrap().expect("the server goes on"));
        }
        seen
    })
}

fn nanos_between(stats: &Stats) -> i64 {
    let [from, to] = [&stats.created_at, &stats.dropped_at].map(|time| time.clone().unwrap());
    (to.seconds - from.seconds) * 1_000_000_000 + i64::from(to.nanos - from.nanos)
}
