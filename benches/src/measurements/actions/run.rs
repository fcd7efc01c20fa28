//! A run: the loops as tasks of the executor under test, from the first instance to a clean end.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use indicatif::ProgressBar;
use smol::channel::bounded;
use tokio::sync::mpsc;

use super::interrupt::interrupted;
use super::schema::{self, Setup, totals};
use super::starting::{dispatch_all, start, work};
use super::store::{Moments, Store};
use super::trouble::Trouble;
use super::world::{Loop, World};
use super::{changes::Change, recording};
use crate::arms::{Contender, host};
use crate::harness::Pinning;
use crate::measurements::arm::Work;
use crate::stats::spread::Values;
use crate::stopwatch::Stopwatch;

/// A run of what a database holds.
pub(super) struct Run<'a> {
    pub(super) database: &'a Path,
    pub(super) setup: &'a Setup,
    pub(super) workers: usize,
    /// Where the database's thread is to run, if that matters.
    pub(super) pinning: Option<&'a Pinning>,
    pub(super) progress: ProgressBar,
    pub(super) moments: Moments,
    pub(super) most_pages: Option<u32>,
}

/// What a run came to.
pub(super) struct Found {
    pub(super) completed: u64,
    pub(super) elapsed: Duration,
    /// Time of the executor's thread in polls of each loop, by [`LOOPS`](super::world::LOOPS).
    pub(super) busy: [Duration; 5],
    pub(super) database_busy: Duration,
    pub(super) latency: Values,
}

impl Work for Run<'_> {
    type Found = Result<Found, Trouble>;

    fn on<C: Contender>(&self, contender: C) -> Result<Found, Trouble> {
        let connection = schema::open(self.database, self.most_pages)?;
        let store = Store::start(connection, self.pinning.cloned(), self.moments);
        let found = host().block_on(contender.run_until(self.serve(&contender, store)));
        drop(contender);
        found
    }
}

impl Run<'_> {
    async fn serve<C: Contender>(&self, contender: &C, store: Store) -> Result<Found, Trouble> {
        let asked = interrupted();
        let world = World::take_up(store, self.setup.clone(), asked, self.progress.clone()).await?;
        self.progress.inc(self.setup.all().saturating_sub(world.left.get() * u64::from(self.setup.actions)));
        let world = Rc::new(world);
        let watch = Stopwatch::start();
        self.carry_out(contender, &world).await;
        let elapsed = watch.elapsed();
        let trouble = world.trouble();
        let world = Rc::try_unwrap(world).map_err(|still| {
            Trouble::Left(format!("{} tasks still refer to it", Rc::strong_count(&still) - 1))
        })?;
        let database_busy = Duration::from_nanos(world.store.busy_ns());
        let checked = match trouble {
            Ok(()) => check(&world).await,
            Err(trouble) => Err(trouble),
        };
        world.store.close()?;
        checked?;
        let busy = world.busy.map(|busy| busy.get());
        let (completed, latency) = (world.completed.get(), world.latency.into_inner());
        Ok(Found { completed, elapsed, busy, database_busy, latency })
    }

    /// Runs the loops until each has ended: by itself when everything is done, or early when the run is stopped.
    async fn carry_out<C: Contender>(&self, contender: &C, world: &Rc<World>) {
        let (give, jobs) = bounded(self.workers);
        let (tell, done) = mpsc::channel(1_024);
        let mut handles = Vec::new();
        if world.has(Change::OwnStartLoop) {
            handles.push(spawn(contender, world, Loop::Start, start(world.clone())));
        }
        handles.push(spawn(contender, world, Loop::Dispatch, dispatch_all(world.clone(), give)));
        for _ in 0..self.workers {
            let worker = work(world.clone(), jobs.clone(), tell.clone());
            handles.push(spawn(contender, world, Loop::Workers, worker));
        }
        drop((jobs, tell));
        handles.push(spawn(contender, world, Loop::Completion, recording::complete(world.clone(), done)));
        let flush = spawn(contender, world, Loop::Flush, recording::flush(world.clone()));
        let all = async {
            for handle in handles {
                ended::<C>(handle).await;
            }
            world.is_recorded.set(true);
            world.recorded.notify_one();
            ended::<C>(flush).await;
        };
        let mut all = std::pin::pin!(all);
        tokio::select! {
            biased;
            () = world.interrupted() => {
                world.stop(Trouble::Interrupted);
                all.await;
            }
            () = &mut all => {}
        }
    }
}

fn spawn<C: Contender>(
    contender: &C,
    world: &Rc<World>,
    which: Loop,
    work: impl Future<Output = Result<(), Trouble>> + 'static,
) -> C::Handle {
    contender.spawn(which.lane(), world.clone().timed(which, work))
}

async fn ended<C: Contender>(handle: C::Handle) {
    handle.await.expect("a loop does not panic");
}

/// Makes sure that the database holds each action's effect once, each line once, and nothing besides.
async fn check(world: &World) -> Result<(), Trouble> {
    let [effects, lines, queued] = world.store.call(totals).await?;
    let all = world.setup.all();
    let plans = world.plans.borrow().len();
    if [effects, lines, queued] == [all, all, 0] && plans == 0 {
        return Ok(());
    }
    Err(Trouble::Left(format!(
        "{all} actions had {effects} effects and {lines} lines in the log, {queued} rows were queued, {plans} plans left"
    )))
}
