//! A scenario as a program: which tasks there are, and what a run of them finds.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::time::{interval, sleep};

use super::counters::Counters;
use super::event::{Event, Output, Payload, Speech};
use super::manager::{Manager, Session, Tally};
use super::options::{Checkpoints, Scenario, Sharing};
use super::queues::{CHECKPOINTS, CHURN, FANOUT};
use super::tasks::{self, Scope};
use crate::arms::{Contender, host};
use crate::measurements::arm::Work;
use crate::random::{Purpose, Random};
use crate::stats::spread::Values;
use crate::stopwatch::{Stopwatch, now};

/// What is to be run: the same on every executor.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) sessions: u32,
    pub(crate) events: u32,
    pub(crate) ticks: u32,
    pub(crate) period: Duration,
    pub(crate) bursts: u32,
    pub(crate) capacity: usize,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) payload: Sharing,
    pub(crate) skip_unheard: bool,
    /// Who subscribes how often in `subscription_lifecycle_churn`, per session.
    pub(crate) visits: u32,
    pub(crate) seed: u64,
    pub(crate) part: u64,
}

/// What a run found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(super) counters: Counters,
    pub(crate) late: Values,
    pub(crate) elapsed: Duration,
    /// Bytes that clients which listened to the end got.
    pub(super) written: u64,
}

/// How long sessions are up before anything happens.
const SETTLES: Duration = Duration::from_millis(20);

/// Time between two events of a session in `fanout_overhead`.
const PACE: Duration = Duration::from_millis(3);

/// Time between two clients that come and go in `burst`.
const BETWEEN_VISITS: Duration = Duration::from_millis(1);

/// Events on their way from an agent to its session.
const READ_AHEAD: usize = 64;

/// The first burst, after the sessions are up: from so long to so long.
const FIRST_BURST: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(25));

type Handles<C> = Vec<<C as Contender>::Handle>;

impl Work for World {
    type Found = Found;

    fn on<C: Contender>(&self, contender: C) -> Found {
        let contender = Rc::new(contender);
        let host = host();
        match self.payload {
            Sharing::Cloned => host.block_on(contender.run_until(self.serve::<Event, C>(&contender))),
            Sharing::Shared => host.block_on(contender.run_until(self.serve::<Rc<Event>, C>(&contender))),
        }
    }
}

impl World {
    fn is_burst(&self) -> bool {
        self.scenario == Scenario::Burst
    }

    /// Clients that listen to all sessions: one, or in `burst` a dashboard and a log.
    fn global_clients(&self) -> u32 {
        match self.scenario {
            Scenario::FanoutOverhead => 1,
            Scenario::Burst => 2,
            _ => 0,
        }
    }

    fn random(&self, number: u32) -> Random {
        Random::new(self.seed, Purpose::Arrivals, self.part << 32 | u64::from(number))
    }

    async fn serve<P: Payload, C: Contender>(&self, contender: &Rc<C>) -> Found {
        let tally = Rc::<Tally>::default();
        let focused = self.is_burst().then_some(0);
        let manager = Rc::new(Manager::<P>::new(self.capacity, focused, self.skip_unheard, tally.clone()));
        let cast = Cast { world: self, contender, manager, tally: &tally };
        let global = cast.global_clients();
        let (sessions, listening) = cast.sessions().await;
        sleep(SETTLES).await;
        let watch = Stopwatch::start();
        let (agents, loops) = cast.agents(sessions);
        finish::<C>(cast.checkpoints().into_iter().chain(cast.churn()).chain(agents)).await;
        cast.manager.end_sessions().await;
        finish::<C>(loops.into_iter().chain(listening)).await;
        drop(cast);
        finish::<C>(global).await;
        let elapsed = watch.elapsed();
        let (counters, late) = (tally.counters().clone(), tally.late.take());
        Found { counters, late, elapsed, written: tally.written.get() }
    }
}

async fn finish<C: Contender>(handles: impl IntoIterator<Item = C::Handle>) {
    for handle in handles {
        handle.await.expect("no task of a manager fails");
    }
}

/// Who spawns the tasks of a run.
struct Cast<'a, P, C> {
    world: &'a World,
    contender: &'a Rc<C>,
    manager: Rc<Manager<P>>,
    tally: &'a Rc<Tally>,
}

impl<P: Payload, C: Contender> Cast<'_, P, C> {
    fn global_clients(&self) -> Handles<C> {
        let client = |_| {
            let events = self.manager.subscribe_global();
            self.contender.spawn(FANOUT, tasks::subscriber(events, Scope::Global, self.tally.clone()))
        };
        (0..self.world.global_clients()).map(client).collect()
    }

    /// The sessions, and the tasks that listen: agents' inputs, and in `burst` a client of each session.
    async fn sessions(&self) -> (Vec<Rc<Session<P>>>, Handles<C>) {
        let (mut sessions, mut listening) = (Vec::new(), Vec::new());
        let capacity = self.world.events as usize * self.world.bursts as usize;
        for number in 0..self.world.sessions {
            let (session, prompts) = self.manager.start_session(number, capacity).await;
            sessions.push(session);
            listening.push(self.contender.spawn(CHECKPOINTS, tasks::input(prompts)));
            if self.world.is_burst() {
                let events = self.manager.subscribe_session(number).await.expect("it has begun");
                let client = tasks::subscriber(events, Scope::Session, self.tally.clone());
                listening.push(self.contender.spawn(FANOUT, client));
            }
        }
        (sessions, listening)
    }

    /// Agents' outputs, and the sessions' event loops.
    fn agents(&self, sessions: Vec<Rc<Session<P>>>) -> (Handles<C>, Handles<C>) {
        let World { scenario, events, period, .. } = *self.world;
        let (start, output) = (now(), Output::new(self.world.seed));
        let first = self.world.random(u32::MAX).between(FIRST_BURST.0, FIRST_BURST.1);
        let (bursts, first, pause) = match scenario {
            Scenario::FanoutOverhead => (1, Duration::ZERO, Some(PACE)),
            Scenario::Burst => (self.world.bursts, first, None),
            _ => (0, Duration::ZERO, None),
        };
        let agent = |(number, session): (u32, Rc<Session<P>>)| {
            let (said, heard) = tokio::sync::mpsc::channel(READ_AHEAD);
            let speech = Speech::new(output.clone(), self.world.seed, number);
            let times = (0..bursts).map(move |burst| start + first + period * 2 * burst);
            let event_loop = tasks::event_loop(self.manager.clone(), session, heard);
            let event_loop = self.contender.spawn(FANOUT, event_loop);
            let output = tasks::output(speech, said, times, (events, pause));
            (self.contender.spawn(FANOUT, output), event_loop)
        };
        (0..).zip(sessions).map(agent).unzip()
    }

    /// Who asks for checkpoints. Sessions began at different times, so they come at different times.
    fn checkpoints(&self) -> Handles<C> {
        let World { scenario, sessions, period, ticks, .. } = *self.world;
        if !matches!(scenario, Scenario::CheckpointOverhead | Scenario::Burst) {
            return Vec::new();
        }
        let start = now();
        let first = |number| {
            let phase = self.world.random(number).between(Duration::ZERO, period);
            (number, start + phase)
        };
        let (firsts, pace) = ((0..sessions).map(first), (period, ticks));
        match self.world.checkpoints {
            Checkpoints::PerSession => firsts.map(|first| self.ticker(first, pace)).collect(),
            Checkpoints::Shared => {
                let scheduler = tasks::scheduler(self.manager.clone(), firsts.collect(), pace);
                vec![self.contender.spawn(CHECKPOINTS, scheduler)]
            }
        }
    }

    fn ticker(&self, first: (u32, Instant), pace: (Duration, u32)) -> C::Handle {
        self.contender.spawn(CHECKPOINTS, tasks::ticker(self.manager.clone(), first, pace))
    }

    /// Who subscribes and goes: all that can, over and over, or one after the other as long as checkpoints come.
    fn churn(&self) -> Option<C::Handle> {
        let World { scenario, sessions, visits, period, ticks, .. } = *self.world;
        let (contender, manager, tally) = (self.contender.clone(), self.manager.clone(), self.tally.clone());
        let mut random = self.world.random(u32::MAX - 1);
        let visit =
            move |session| contender.spawn(CHURN, tasks::visitor(manager.clone(), session, tally.clone()));
        match scenario {
            Scenario::SubscriptionLifecycleChurn => Some(self.contender.spawn(CHURN, async move {
                for _ in 0..visits {
                    finish::<C>((0..sessions).map(Some).chain([None]).map(&visit).collect::<Vec<_>>()).await;
                }
            })),
            Scenario::Burst => Some(self.contender.spawn(CHURN, async move {
                let (mut pace, mut visits) = (interval(BETWEEN_VISITS), Vec::new());
                for _ in 0..(period * ticks).as_millis() {
                    pace.tick().await;
                    visits.push(visit(Some(random.below(sessions.into()) as u32)));
                }
                finish::<C>(visits).await;
            })),
            _ => None,
        }
    }
}
