//! [`Observe`]: what is asked of an executor; [`Observer`]: what it tells on other threads.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clockworker::Executor;

use crate::beacon::Beacon;
use crate::cpu_times::CpuTimes;
use crate::heard::Heard;
use crate::hub::Hub;
use crate::ring::Ring;
use crate::ring_reading::events_of;
use crate::sync;
use crate::{
    Activity, Observation, ObservationError, Observed, QueueFrames, TaskDump, TaskHooks, Timeline,
    TimelineQueue,
};

/// Observes an executor. Of an executor that was not observed yet nothing is told but its [dump](Observe::dump).
///
/// What is observed is the executor's one [probe](clockworker::probe::Probe), and so is what [`stalls`](crate::stalls) watches: the calls
/// of this trait and of detectors go together, and replace a probe of another kind.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::{Observation, Observe};
///
/// let ex = Executor::new();
/// ex.observe(Observation::new().latency()).unwrap();
/// ex.block_on(ex.spawn(async {})).unwrap();
/// let observed = ex.observed();
/// let waits = &observed.queue(ex.default_queue().stats().number).unwrap().latency.as_ref().unwrap().wait;
/// assert_eq!(waits.count(), 1);
/// ```
pub trait Observe {
    /// Observes what is asked for from now on, and nothing else. May be called at any time. What was counted stays; a timeline begins
    /// anew. A slice under way goes on as before, and ends after the poll under way.
    ///
    /// # Errors
    ///
    /// If what is asked for contradicts itself; nothing is changed then.
    fn observe(&self, asked: Observation) -> Result<(), ObservationError>;

    /// What was observed so far: some kilobytes are copied for each queue.
    fn observed(&self) -> Observed;

    /// What tells other threads what was observed so far. Observes nothing that was not asked for.
    fn observer(&self) -> Observer;

    /// Calls these hooks from now on as tasks begin, are polled, and end; none for `None`.
    fn set_hooks(&self, hooks: Option<Arc<dyn TaskHooks>>);

    /// What happened last, if a [timeline](Observation::timeline) was asked for: without events if not.
    ///
    /// It takes some 50 bytes and O(log n) steps for each of the n events there are.
    fn timeline(&self) -> Timeline;

    /// Which stack frame is which queue's, for profiles by queue.
    fn queue_frames(&self) -> QueueFrames;

    /// All tasks, with what each does, since when, and where it was spawned.
    ///
    /// It may be called from anywhere: in a task, in a drop, in a scheduler. O(n log n) for n queues, and a few hundred bytes and
    /// steps for each task; the clock is read once.
    fn dump(&self) -> TaskDump;
}

impl Observe for Executor {
    fn observe(&self, asked: Observation) -> Result<(), ObservationError> {
        asked.validate()?;
        let mut hub = Hub::of(self);
        hub.asked = asked;
        hub.timeline = asked.timeline_bytes.map(|bytes| Arc::new(Ring::new(bytes)));
        #[cfg(feature = "tracing")]
        match asked.spans {
            true => drop(hub.spans.get_or_insert_default()),
            false => hub.spans = None,
        }
        hub.show_activity();
        hub.heard.ask(&asked);
        hub.set(self);
        Ok(())
    }

    fn observed(&self) -> Observed {
        let mut observed = self.observer().observed();
        if let Some(latency) = &mut observed.latency {
            latency.off_cpu = CpuTimes::of_this_thread().map(|times| times.off_cpu);
        }
        observed
    }

    fn observer(&self) -> Observer {
        let Hub { asked, heard, shown, .. } = Hub::of(self);
        let beacon = shown.filter(|_| asked.activity).map(|shown| sync::Arc::clone(&shown.beacon));
        Observer { asked, heard, beacon }
    }

    fn set_hooks(&self, hooks: Option<Arc<dyn TaskHooks>>) {
        let mut hub = Hub::of(self);
        hub.hooks = hooks;
        hub.set(self);
    }

    fn timeline(&self) -> Timeline {
        let queues = self.look_at_queues().into_iter();
        let queues =
            queues.map(|queue| TimelineQueue::new(queue.index, &*queue.name, queue.share, queue.request));
        let mut timeline = Timeline::new(queues.collect(), Vec::new());
        timeline.taken_at = Duration::from_nanos(self.clock().now_ns());
        if let Some(ring) = Hub::of(self).timeline {
            timeline.events = events_of(&ring);
            timeline.is_cut = ring.is_cut();
            timeline.is_stopped = ring.is_stopped();
        }
        timeline
    }

    fn queue_frames(&self) -> QueueFrames {
        QueueFrames::of(self)
    }

    fn dump(&self) -> TaskDump {
        TaskDump::of(self.look_at_tasks(), self.probe())
    }
}

/// Tells other threads what was observed of an executor, as it was asked for when this was made. From [`Observe::observer`].
#[derive(Clone)]
pub struct Observer {
    asked: Observation,
    heard: Arc<Heard>,
    /// What shows activity, if that is asked for.
    beacon: Option<sync::Arc<Beacon>>,
}

impl Observer {
    /// What was observed so far, but for the time [without a processor](crate::TurnLatency::off_cpu), which is the executor's thread's to
    /// tell.
    pub fn observed(&self) -> Observed {
        self.heard.observed(&self.asked)
    }

    /// What the executor does now: what it polls and since when, or that it polls nothing. Its thread has no part in the answer, so it may
    /// hang.
    ///
    /// None once the executor is gone; and unless [activity](Observation::activity) was asked for when this was made, and still is.
    ///
    /// What is dropped at shutdown, or when a task from another thread is refused, is no poll. Asked for in a turn of an executor that was
    /// not observed before, it takes that turn for the host's time between polls.
    ///
    /// # Example
    ///
    /// A thread that says which poll has gone on for too long:
    ///
    /// ```
    /// use clockworker::Executor;
    /// use clockworker_observe::{Activity, ActivityKind, Observation, Observe};
    /// use std::time::Duration;
    ///
    /// let ex = Executor::new();
    /// ex.observe(Observation::new().activity()).unwrap();
    /// let observer = ex.observer();
    /// let liveness = std::thread::spawn(move || {
    ///     let is_poll = |activity: &Activity| matches!(activity.kind, ActivityKind::Poll(_));
    ///     let activity = observer.activity().filter(is_poll);
    ///     activity.filter(|poll| poll.so_far > Duration::from_millis(100)).map(|poll| poll.to_string())
    /// });
    /// assert_eq!(liveness.join().unwrap(), None);
    /// ```
    pub fn activity(&self) -> Option<Activity> {
        let beacon = self.beacon.as_ref()?;
        // Before it looks, so that nothing has lasted for less than is said.
        let now_ns = self.heard.clock.now_ns();
        Activity::shown(beacon, now_ns)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("asked", &self.asked).finish_non_exhaustive()
    }
}
