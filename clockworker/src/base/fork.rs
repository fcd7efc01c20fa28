//! Forks: a child process gets a copy of every executor, and must not use it.
//!
//! What a copy runs, the parent runs too: tasks would send their messages twice, on sockets that both processes have. So
//! an executor remembers the process it was made in. The C library calls [`forked`] in each child; comparing two numbers
//! is then all that it takes to know, without a system call.
//!
//! A child that is not made by `fork`, but by `vfork`, `_Fork` or a system call of its own, is not noticed.

/// A process, told apart from those it was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(#[cfg(unix)] u32);

/// What is said to whoever runs an executor in a child process.
pub(crate) const FORKED: &str = "this executor belongs to the process that this one was forked from: here it can only be dropped \
     (make another one)";

impl Process {
    /// Panics unless it is the calling process.
    #[inline]
    #[track_caller]
    pub(crate) fn assert_current(self) {
        assert!(self.is_current(), "{FORKED}");
    }
}

#[cfg(not(unix))]
impl Process {
    pub(crate) fn current() -> Self {
        Process()
    }

    pub(crate) fn is_current(self) -> bool {
        true
    }
}

#[cfg(unix)]
pub(crate) use unix::interrupt_in_children;

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Once, OnceLock};

    use super::Process;

    /// How many forks lie between the process that the first executor was made in and this one.
    static FORKS: AtomicU32 = AtomicU32::new(0);

    /// What ends the runs that a child process has copied.
    static INTERRUPT: OnceLock<fn()> = OnceLock::new();

    /// Has `interrupt` called in each child, by the thread that forked. The first one given stays.
    pub(crate) fn interrupt_in_children(interrupt: fn()) {
        let _ = INTERRUPT.set(interrupt);
    }

    impl Process {
        /// The calling process. From now on it is told apart from its children.
        pub(crate) fn current() -> Self {
            static WATCHED: Once = Once::new();
            WATCHED.call_once(|| {
                // It fails only where there is no memory left. Then forks are not noticed, as without it.
                let _ = pthread_atfork(None, None, Some(forked));
            });
            Process(FORKS.load(Ordering::Relaxed))
        }

        #[inline]
        pub(crate) fn is_current(self) -> bool {
            // Ordering: Relaxed. It changes while a process has one thread, before that can start others.
            self.0 == FORKS.load(Ordering::Relaxed)
        }
    }

    /// Called in the child by the thread that forked, the only one there. No locks and no allocation: what other threads
    /// held at that moment, nobody gives back.
    extern "C" fn forked() {
        FORKS.store(FORKS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        INTERRUPT.get().into_iter().for_each(|interrupt| interrupt());
    }

    unsafe extern "C" {
        /// Has functions called before a fork, and after it in the parent and in the child. Zero if it will.
        ///
        /// Safe to call: it keeps pointers to functions, which live as long as the program does. (A library that is
        /// unloaded takes its handlers along.)
        safe fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> c_int;
    }
}
