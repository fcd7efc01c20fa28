//! [`SpawnSite`]: where in the program a task is spawned.

use std::fmt::DebugStruct;
#[cfg(feature = "observe")]
use std::panic::Location;

/// The call of a spawn in the user's code. Nothing without the feature `observe`, and takes no room then.
///
/// Every function between that call and [`here`](SpawnSite::here) is `#[track_caller]`, with the feature only: it is one more argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpawnSite {
    #[cfg(feature = "observe")]
    location: &'static Location<'static>,
}

impl SpawnSite {
    /// The place that the calling function was called from.
    #[inline]
    #[cfg_attr(feature = "observe", track_caller)]
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "observe")]
            location: Location::caller(),
        }
    }

    /// Adds the place to what a handle shows of its task.
    pub(super) fn show(self, shown: &mut DebugStruct<'_, '_>) {
        #[cfg(feature = "observe")]
        shown.field("location", &format_args!("{}", self.location));
        #[cfg(not(feature = "observe"))]
        let _ = shown;
    }

    #[cfg(feature = "observe")]
    pub(crate) fn location(self) -> &'static Location<'static> {
        self.location
    }
}
