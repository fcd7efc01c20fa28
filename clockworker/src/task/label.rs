//! [`Label`]: what a task is called, and where in the program it is spawned; [`Marks`]: what else those want who look at it.

#[cfg(feature = "observe")]
use std::cell::Cell;
use std::fmt::DebugStruct;
#[cfg(feature = "observe")]
use std::num::NonZeroU64;
#[cfg(feature = "observe")]
use std::panic::Location;
#[cfg(feature = "observe")]
use std::sync::Arc;
#[cfg(feature = "observe")]
use std::sync::atomic::AtomicU64;

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

/// What is noted of a task for those who look at it. Nothing without the feature `observe`.
#[derive(Debug)]
pub(super) struct Marks {
    /// The probe's.
    #[cfg(feature = "observe")]
    word: AtomicU64,
    /// The tag that it was given or has inherited. The owner thread's.
    #[cfg(feature = "observe")]
    tag: Cell<Option<NonZeroU64>>,
}

impl Marks {
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            #[cfg(feature = "observe")]
            word: AtomicU64::new(u64::MAX),
            #[cfg(feature = "observe")]
            tag: Cell::new(None),
        }
    }

    /// Notes the tag of a task. Owner thread only.
    #[inline]
    pub(super) fn set_tag(&self, tag: u64) {
        #[cfg(feature = "observe")]
        self.tag.set(NonZeroU64::new(tag));
        #[cfg(not(feature = "observe"))]
        let _ = tag;
    }
}

#[cfg(feature = "observe")]
impl Marks {
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.word
    }

    /// Owner thread only.
    pub(super) fn tag(&self) -> Option<u64> {
        self.tag.get().map(u64::from)
    }
}
