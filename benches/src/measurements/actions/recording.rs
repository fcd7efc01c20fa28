//! From the workers to the database: completions are recorded, and log lines flushed.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::changes::Change;
use super::queries::{Line, Record, record, unlogged, write_log};
use super::starting::Done;
use super::trouble::Trouble;
use super::world::World;
use crate::stopwatch::now;

/// Completions that are recorded at once.
const RECORDED: usize = 256;

/// Lines that are flushed at once, and how long to wait when there was none.
const FLUSHED: usize = 500;
const FLUSH_EVERY: Duration = Duration::from_millis(10);

/// Records what workers have done until all of them are gone.
pub(super) async fn complete(world: Rc<World>, mut done: mpsc::Receiver<Done>) -> Result<(), Trouble> {
    let mut waiting = Vec::new();
    loop {
        if waiting.is_empty() && done.recv_many(&mut waiting, RECORDED).await == 0 {
            return Ok(());
        }
        while waiting.len() < RECORDED
            && let Ok(one) = done.try_recv()
        {
            waiting.push(one);
        }
        let batch = batch_of(&mut waiting, &world);
        record_all(&world, batch).await?;
    }
}

/// What is recorded together, taken from the front of what waits.
fn batch_of(waiting: &mut Vec<Done>, world: &World) -> Vec<Done> {
    if !world.has(Change::BatchedCompletion) {
        return vec![waiting.remove(0)];
    }
    if world.has(Change::AcrossInstances) {
        return std::mem::take(waiting);
    }
    let mut instances = HashSet::new();
    let (batch, later) = waiting.drain(..).partition(|one| instances.insert(one.instance));
    *waiting = later;
    batch
}

async fn record_all(world: &World, batch: Vec<Done>) -> Result<(), Trouble> {
    let moments: Vec<Instant> = batch.iter().map(|one| one.dispatched).collect();
    let records = batch.into_iter().map(|one| follow(world, one)).collect::<Result<Vec<_>, _>>()?;
    let last = records.iter().filter(|record| record.is_last).count() as u64;
    let delete = world.has(Change::DeleteOnComplete);
    world.store.call(move |on| record(on, &records, delete)).await?;
    let recorded = now();
    let mut latency = world.latency.borrow_mut();
    moments.iter().for_each(|from| latency.add_nanos(Some((recorded - *from).as_nanos() as u64)));
    world.completed.set(world.completed.get() + moments.len() as u64);
    world.progress.inc(moments.len() as u64);
    world.left.set(world.left.get() - last);
    world.queued.notify_one();
    Ok(())
}

/// What is to be recorded of an action that is done. The plan of an instance goes with its last.
fn follow(world: &World, Done { instance, number, output, .. }: Done) -> Result<Record, Trouble> {
    let mut plans = world.plans.borrow_mut();
    let plan = plans.get_mut(&instance);
    let plan =
        plan.ok_or_else(|| Trouble::Unreadable(format!("an action of {instance}, which has no plan")))?;
    let next = plan.complete(number, &output);
    if next.is_last {
        plans.remove(&instance);
    }
    Ok(Record { instance, number, output, next: next.actions, is_last: next.is_last })
}

/// Writes lines to the log until everything is recorded and none is left.
pub(super) async fn flush(world: Rc<World>) -> Result<(), Trouble> {
    let delete = world.has(Change::DeleteOnComplete);
    while !world.is_stopped() {
        let was_recorded = world.is_recorded.get();
        let mut lines = world.store.call(move |on| unlogged(on, delete, FLUSHED)).await?;
        if !lines.is_empty() {
            lines.iter_mut().for_each(encode);
            world.store.call(move |on| write_log(on, &lines, delete)).await?;
        } else if was_recorded {
            break;
        } else {
            // Woken early or not, it looks again.
            let _ = timeout(FLUSH_EVERY, world.recorded.notified()).await;
        }
    }
    Ok(())
}

fn encode(line: &mut Line) {
    let text = serde_json::json!({ "instance": line.instance, "action": line.number, "output": line.text });
    line.text = text.to_string();
}
