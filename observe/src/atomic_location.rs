//! [`AtomicLocation`]: a place in a source that one thread writes and others read.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A place in a source, or none. Which order its stores have to others is the user's affair.
#[derive(Default)]
pub(crate) struct AtomicLocation(AtomicPtr<Location<'static>>);

impl AtomicLocation {
    pub(crate) fn store(&self, location: Option<&'static Location<'static>>) {
        let pointer = location.map_or(ptr::null_mut(), |location| ptr::from_ref(location).cast_mut());
        // Ordering: Relaxed here and below. A location is a constant of the program: nothing is published with it.
        self.0.store(pointer, Ordering::Relaxed);
    }

    pub(crate) fn load(&self) -> Option<&'static Location<'static>> {
        // SAFETY: the pointer is null, or was made by `store` of a reference that lives as long as the program, to what is
        // never written.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }
}
