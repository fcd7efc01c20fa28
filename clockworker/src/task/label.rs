//! [`Label`]: what a task is called, and where in the program it is spawned; [`Marks`]: what else those want who look at it.

#[cfg(feature = "observe")]
use std::cell::Cell;
use std::fmt::DebugStruct;
#[cfg(feature = "observe")]
use std::num::NonZeroU64;
use std::panic::Location;
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
        if let Some(name) = self.name() {
            shown.field("name", name);
        }
        if let Some(place) = self.place() {
            shown.field("location", &format_args!("{place}"));
        }
    }

    /// The name, as an error says it after the task's id; empty without one.
    pub(super) fn after_id(&self) -> String {
        self.name().map_or_else(String::new, |name| format!(" {name:?}"))
    }
}

impl Label {
    /// The same, with that name if there is one.
    pub(crate) fn named(self, name: Option<Arc<str>>) -> Self {
        #[cfg(feature = "observe")]
        return Self { name, ..self };
        #[cfg(not(feature = "observe"))]
        {
            drop(name);
            self
        }
    }

    /// The name, if it was given one and is known.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        #[cfg(feature = "observe")]
        return self.name.as_ref();
        #[cfg(not(feature = "observe"))]
        None
    }

    /// Where the task was spawned, if that is known.
    pub(crate) fn place(&self) -> Option<&'static Location<'static>> {
        #[cfg(feature = "observe")]
        return Some(self.location);
        #[cfg(not(feature = "observe"))]
        None
    }

    /// Where the task was spawned.
    #[cfg(feature = "observe")]
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
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

    /// The word. `u64::MAX` if no probe has written it.
    pub(super) fn load(&self) -> u64 {
        #[cfg(feature = "observe")]
        return self.word.load(std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(feature = "observe"))]
        u64::MAX
    }

    #[inline]
    pub(super) fn store(&self, word: u64) {
        #[cfg(feature = "observe")]
        self.word.store(word, std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(feature = "observe"))]
        let _ = word;
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
