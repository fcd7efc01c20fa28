//! [`Label`]: what a task is called, and where in the program it is spawned.

use std::fmt::DebugStruct;
#[cfg(feature = "observe")]
use std::panic::Location;
#[cfg(feature = "observe")]
use std::sync::Arc;

/// The name of a task, if it was given one, and the call of the spawn in the user's code. Nothing without the feature `observe`,
/// and takes no room then.
///
/// Every function between that call and [`here`](Label::here) is `#[track_caller]`, with the feature only: it is one more argument.
/// It is part of the cell, and not of a table beside it, as handles on other threads show it.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    #[cfg(feature = "observe")]
    location: &'static Location<'static>,
    #[cfg(feature = "observe")]
    name: Option<Arc<str>>,
}

impl Label {
    /// That of a task without a name, spawned where the calling function was called.
    #[inline]
    #[cfg_attr(feature = "observe", track_caller)]
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "observe")]
            location: Location::caller(),
            #[cfg(feature = "observe")]
            name: None,
        }
    }

    /// Adds what is known to what a handle shows of its task.
    pub(super) fn show(&self, shown: &mut DebugStruct<'_, '_>) {
        #[cfg(feature = "observe")]
        {
            if let Some(name) = &self.name {
                shown.field("name", name);
            }
            shown.field("location", &format_args!("{}", self.location));
        }
        #[cfg(not(feature = "observe"))]
        let _ = shown;
    }

    /// The name, as an error says it after the task's id; empty without one.
    pub(super) fn after_id(&self) -> String {
        #[cfg(feature = "observe")]
        if let Some(name) = &self.name {
            return format!(" {name:?}");
        }
        String::new()
    }
}

#[cfg(feature = "observe")]
impl Label {
    /// The same, with that name if there is one.
    pub(crate) fn named(self, name: Option<Arc<str>>) -> Self {
        Self { name, ..self }
    }

    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }
}
