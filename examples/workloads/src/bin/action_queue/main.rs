//! A durable queue of actions, in SQLite: how many can be done in a second, and how soon is each recorded?
//!
//! A loop starts instances of workflows, another takes their actions from the queue and gives them to tasks, and a third records what
//! they came to, many in a transaction. All share a thread, beside the database's. Each has a queue of its own, so that starting
//! many instances does not keep those under way from being recorded.
//!
//! It stops after a time or at ctrl-c, when what was taken is recorded, and goes on where it was if it is given the database again.
//!
//! ```sh
//! cargo run --release -p clockworker-workloads --bin action_queue -- --on localset
//! cargo run --release -p clockworker-workloads --bin action_queue -- --on clockworker
//! ```

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it shows what it found")]

mod store;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use clockworker::{Executor, Queue, QueueError};
use clockworker_workloads::{On, Place, print_times, run};
use serde::{Deserialize, Serialize};
use store::{ACTIONS, Action, Store};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::{Instant, timeout};

#[derive(Debug, Parser)]
struct Options {
    /// Who runs the tasks
    #[arg(long, value_enum, default_value = "clockworker")]
    on: On,

    /// Instances of four actions each
    #[arg(long, default_value_t = 10_000)]
    instances: u32,

    /// Stop after so many seconds
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,

    /// Where the database is, to go on with later [default: a file that is deleted]
    #[arg(long)]
    database: Option<PathBuf>,

    /// 200 instances
    #[arg(long)]
    quick: bool,
}

/// Actions under way.
const WORKERS: usize = 16;

/// Instances that are started, and actions that are taken and recorded, in a transaction.
const BATCH: usize = 100;

fn queues(ex: &Executor) -> Result<[Queue; 3], QueueError> {
    Ok([
        ex.new_queue("start").create()?,
        ex.new_queue("dispatch").share(4).create()?,
        ex.new_queue("completion").share(8).create()?,
    ])
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    let path = options.database.clone().unwrap_or_else(|| folder.path().join("actions.sqlite"));
    let store = Store::open(&path, if options.quick { 200 } else { options.instances })?;
    let limit = Duration::from_secs_f64(options.seconds);
    run(options.on, queues, async |places| serve(store, limit, places).await)?
}

/// What the loops share.
struct Service {
    store: Store,
    stopped: Cell<bool>,
    /// Actions of the whole run that are not recorded.
    left: Cell<u64>,
    /// Something was queued, or is over.
    queued: Notify,
    times: RefCell<Times>,
}

#[derive(Default)]
struct Times {
    /// From when an action was taken until it was recorded.
    actions: Vec<Duration>,
    starts: Vec<Duration>,
    completions: Vec<Duration>,
}

/// What an action is given, as the database has it.
#[derive(Deserialize, Serialize)]
struct Payload {
    workflow: String,
    before: Option<String>,
}

/// An action that was taken, and then done, since when.
type Taken = (Action, Instant);

impl Service {
    fn is_over(&self) -> bool {
        self.stopped.get() || self.left.get() == 0
    }
}

/// Runs the loops until everything is done, or it is time to stop. Then all have ended, and nothing is lost.
async fn serve(
    store: Store,
    limit: Duration,
    [starting, dispatching, completing]: [Place; 3],
) -> anyhow::Result<()> {
    let [instances, before, ..] = store.call(store::totals).await?;
    let left = Cell::new(instances * u64::from(ACTIONS) - before);
    let (stopped, queued, times) = Default::default();
    let service = Rc::new(Service { store, stopped, left, queued, times });
    let began = Instant::now();
    let (tell, done) = mpsc::channel(1_024);
    let start = starting.spawn(start(service.clone()));
    let dispatch = dispatching.spawn(dispatch(service.clone(), completing.clone(), tell));
    let complete = completing.spawn(complete(service.clone(), done));
    let stop = async {
        // Where there is no ctrl-c, the time is all.
        let _ = timeout(limit, tokio::signal::ctrl_c()).await;
        service.stopped.set(true);
        service.queued.notify_waiters();
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        ended = async { tokio::try_join!(start, dispatch, complete) } => drop(ended?),
        never = stop => match never {},
    }
    let elapsed = began.elapsed().as_secs_f64();
    let service = Rc::into_inner(service).context("a loop has not ended")?;
    let [_, effects, taken] = service.store.call(store::totals).await?;
    service.store.close();
    ensure!(taken == 0, "{taken} actions are lost");
    let (recorded, left) = (effects - before, service.left.get());
    println!(
        "{recorded} actions recorded in {elapsed:.2} s, {:.0} a second; {left} left",
        recorded as f64 / elapsed
    );
    let Times { actions, starts, completions } = service.times.into_inner();
    print_times([
        ("action, until it is recorded", actions),
        ("start of a batch", starts),
        ("record of a batch", completions),
    ]);
    Ok(())
}

/// Starts instances until there are none.
async fn start(service: Rc<Service>) -> anyhow::Result<()> {
    while !service.stopped.get() {
        let began = Instant::now();
        let instances = service.store.call(|on| store::unstarted(on, BATCH)).await?;
        if instances.is_empty() {
            break;
        }
        let mut firsts = Vec::new();
        for instance in instances {
            firsts.push(action(instance, 0, None)?);
            if firsts.len().is_multiple_of(10) {
                tokio::task::yield_now().await;
            }
        }
        service.store.call(move |on| store::start(on, &firsts)).await?;
        service.queued.notify_one();
        service.times.borrow_mut().starts.push(began.elapsed());
    }
    Ok(())
}

/// An action to be queued, after one that came to `before`.
fn action(instance: i64, number: u32, before: Option<String>) -> anyhow::Result<Action> {
    let payload = Payload { workflow: format!("queue-noop {instance}"), before };
    Ok(Action { instance, number, text: serde_json::to_string(&payload)? })
}

/// Takes actions from the queue, and has each done by a task, as many at a time as there are workers.
async fn dispatch(service: Rc<Service>, workers: Place, tell: mpsc::Sender<Taken>) -> anyhow::Result<()> {
    let permits = Arc::new(Semaphore::new(WORKERS));
    while !service.is_over() {
        let taken = service.store.call(|on| store::take(on, BATCH)).await?;
        if taken.is_empty() && !service.is_over() {
            service.queued.notified().await;
        }
        let now = Instant::now();
        for action in taken {
            let permit = permits.clone().acquire_owned().await?;
            let tell = tell.clone();
            drop(workers.spawn(async move {
                let payload: Payload = serde_json::from_str(&action.text).expect("it was put there as JSON");
                tokio::task::yield_now().await;
                let before = payload.before.map_or(0, |text| text.len());
                let text = format!("{}: after {before} bytes", payload.workflow);
                // The loop that records is gone if it failed.
                let _ = tell.send((Action { text, ..action }, now)).await;
                drop(permit);
            }));
        }
    }
    Ok(())
}

/// Records what is done until no task is left that does anything.
async fn complete(service: Rc<Service>, mut done: mpsc::Receiver<Taken>) -> anyhow::Result<()> {
    let mut batch = Vec::new();
    while done.recv_many(&mut batch, BATCH).await > 0 {
        let began = Instant::now();
        let (actions, taken): (Vec<Action>, Vec<Instant>) = batch.drain(..).unzip();
        let not_last = actions.iter().filter(|done| done.number + 1 < ACTIONS);
        let next = not_last.map(|done| action(done.instance, done.number + 1, Some(done.text.clone())));
        let next = next.collect::<anyhow::Result<Vec<_>>>()?;
        service.store.call(move |on| store::record(on, &actions, &next)).await?;
        service.left.set(service.left.get() - taken.len() as u64);
        service.queued.notify_one();
        let mut times = service.times.borrow_mut();
        times.completions.push(began.elapsed());
        times.actions.extend(taken.iter().map(Instant::elapsed));
    }
    Ok(())
}
