//! [`Hub`]: the probe of this crate, which passes on what happens to all who asked for it.

use std::any::Any;
use std::sync::Arc;

use clockworker::Executor;
use clockworker::probe::{Poll, Probe};

use crate::stalls::Shown;

/// See the [module docs](self). What it has is changed by putting another hub in its place, so nothing of it is behind a lock.
#[derive(Clone, Default)]
pub(crate) struct Hub {
    /// Shows other threads the poll under way, once a [detector](crate::stalls::StallDetector) has watched.
    pub(crate) shown: Option<Arc<Shown>>,
}

impl Hub {
    /// The hub of an executor, or one that passes nothing on.
    pub(crate) fn of(executor: &Executor) -> Hub {
        let probe = executor.probe();
        let hub = probe.as_ref().and_then(|probe| (&**probe as &dyn Any).downcast_ref::<Hub>());
        hub.cloned().unwrap_or_default()
    }

    /// Puts this hub in place of the executor's probe.
    pub(crate) fn set(self, executor: &Executor) {
        executor.set_probe(Some(Arc::new(self)));
    }
}

impl Probe for Hub {
    fn poll(&self, poll: Poll<'_>) {
        let _lit = self.shown.as_ref().and_then(|shown| shown.show(&poll));
        poll.run();
    }
}
