//! Cells whose uses loom sees.

/// As std's; reading and writing are seen by loom.
pub(crate) struct Cell<T> {
    watch: Watch,
    value: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    #[track_caller]
    pub(crate) fn new(value: T) -> Self {
        Cell { watch: Watch::new(), value: std::cell::Cell::new(value) }
    }

    #[track_caller]
    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        self.watch.read();
        self.value.get()
    }

    #[track_caller]
    pub(crate) fn set(&self, value: T) {
        drop(self.replace(value));
    }

    #[track_caller]
    pub(crate) fn replace(&self, value: T) -> T {
        self.watch.write();
        self.value.replace(value)
    }
}

/// As std's; every `get` counts as a write, at that moment.
pub(crate) struct UnsafeCell<T> {
    watch: Watch,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    #[track_caller]
    pub(crate) fn new(value: T) -> Self {
        UnsafeCell { watch: Watch::new(), value: std::cell::UnsafeCell::new(value) }
    }

    #[track_caller]
    pub(crate) fn get(&self) -> *mut T {
        self.watch.write();
        self.value.get()
    }

    /// The caller's pointer leads to a live cell.
    #[track_caller]
    pub(crate) fn raw_get(this: *const Self) -> *mut T {
        // SAFETY: see above.
        unsafe { &*this }.get()
    }
}

/// Tells loom of reads and writes. The end is a write.
pub(super) struct Watch(loom::cell::UnsafeCell<()>);

impl Watch {
    #[track_caller]
    pub(super) fn new() -> Self {
        Watch(loom::cell::UnsafeCell::new(()))
    }

    #[track_caller]
    pub(super) fn read(&self) {
        self.0.with(|_| ());
    }

    #[track_caller]
    pub(super) fn write(&self) {
        self.0.with_mut(|_| ());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.write();
    }
}
