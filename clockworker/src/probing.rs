//! The way in for those who listen to an executor.

use std::sync::Arc;

use crate::executor::Executor;
use crate::handle::Handle;
use crate::probe::Probe;

impl Executor {
    /// Tells this [`Probe`] from now on what happens, and no other; none for `None`. A slice under way goes on with the last one, and
    /// ends after the poll under way.
    ///
    /// With the feature `observe`.
    pub fn set_probe(&self, probe: Option<Arc<dyn Probe>>) {
        self.core().set_probe(probe);
    }

    /// The probe that it has.
    ///
    /// With the feature `observe`.
    pub fn probe(&self) -> Option<Arc<dyn Probe>> {
        self.core().shared.probe()
    }
}

impl Handle {
    /// The probe that its executor has. None once that is gone.
    ///
    /// With the feature `observe`.
    pub fn probe(&self) -> Option<Arc<dyn Probe>> {
        self.shared.probe_for_others()
    }
}
