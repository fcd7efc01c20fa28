//! From the database to the workers: instances are started, and their actions dispatched.

use std::rc::Rc;
use std::time::Instant;

use smol::channel::{Receiver, Sender};
use tokio::sync::mpsc;

use super::changes::Change;
use super::plan::{Payload, Plan};
use super::queries::{begin, dispatch, unstarted};
use super::trouble::Trouble;
use super::world::World;
use crate::stopwatch::now;
use crate::workload::self_waking::SelfWaking;

/// Instances that are started at once.
const STARTED: usize = 100;

/// Plans that are made between two yields.
const PLANS: usize = 10;

/// Actions that are taken from the queue at once.
const DISPATCHED: usize = 100;

/// An action on its way to a worker.
pub(super) struct Job {
    instance: u64,
    number: u32,
    payload: Payload,
    dispatched: Instant,
}

/// An action that a worker has done.
pub(super) struct Done {
    pub(super) instance: u64,
    pub(super) number: u32,
    pub(super) output: String,
    pub(super) dispatched: Instant,
}

/// Starts instances until there are none.
pub(super) async fn start(world: Rc<World>) -> Result<(), Trouble> {
    while !world.is_stopped() && !world.all_started.get() {
        start_some(&world).await?;
    }
    Ok(())
}

async fn start_some(world: &World) -> Result<(), Trouble> {
    let claim = world.has(Change::Claim);
    let found = world.store.call(move |on| unstarted(on, claim, STARTED)).await?;
    world.all_started.set(found.is_empty());
    let mut ready = Vec::with_capacity(found.len());
    for (place, (instance, graph)) in found.into_iter().enumerate() {
        let plan = Plan::read(&graph, &[]).map_err(Trouble::Unreadable)?;
        let first = (instance, plan.first());
        world.plans.borrow_mut().insert(instance, plan);
        if world.has(Change::BatchedStart) {
            ready.push(first);
        } else {
            world.store.call(move |on| begin(on, &[first])).await?;
            world.queued.notify_one();
        }
        if place % PLANS == PLANS - 1 {
            SelfWaking::new(1).await;
        }
    }
    if !ready.is_empty() {
        world.store.call(move |on| begin(on, &ready)).await?;
    }
    world.queued.notify_one();
    Ok(())
}

/// Takes actions from the queue and hands them to the workers, as fast as these take them.
pub(super) async fn dispatch_all(world: Rc<World>, jobs: Sender<Job>) -> Result<(), Trouble> {
    let starts = !world.has(Change::OwnStartLoop);
    while !world.is_over() {
        let has_started = starts && !world.all_started.get();
        if has_started {
            start_some(&world).await?;
        }
        let found = world.store.call(|on| dispatch(on, DISPATCHED)).await?;
        if found.is_empty() && !has_started && !world.is_over() {
            world.queued.notified().await;
        }
        for action in found {
            let payload = serde_json::from_str(&action.payload)
                .map_err(|error| Trouble::Unreadable(error.to_string()))?;
            let job = Job { instance: action.instance, number: action.number, payload, dispatched: now() };
            // The workers are gone when the run is stopped.
            if jobs.send(job).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A worker: does one action after another.
pub(super) async fn work(
    world: Rc<World>,
    jobs: Receiver<Job>,
    done: mpsc::Sender<Done>,
) -> Result<(), Trouble> {
    while let Ok(Job { instance, number, payload, dispatched }) = jobs.recv().await {
        let output = payload.perform();
        SelfWaking::new(1).await;
        let one = Done { instance, number, output, dispatched };
        if world.is_stopped() || done.send(one).await.is_err() {
            break;
        }
    }
    Ok(())
}
