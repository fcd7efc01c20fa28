//! [`OwnerRef`]: a reference that never leaves the owner thread, so that it need not ask which thread is running.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use super::shared::Local;
use super::{ArrivalList, Shared, SharedRef};

/// See the [module docs](self).
pub(crate) struct OwnerRef {
    shared: SharedRef,
    /// Not `Send`.
    _owner_thread: PhantomData<*mut ()>,
}

impl OwnerRef {
    /// Makes the calling thread the owner.
    pub(crate) fn new() -> Self {
        Self { shared: SharedRef::new(Shared::new()), _owner_thread: PhantomData }
    }

    /// The owner thread's part.
    #[inline(always)]
    pub(crate) fn local(&self) -> &Local {
        // SAFETY: this was made on the owner thread, and is not `Send`.
        unsafe { self.shared.local_unchecked() }
    }

    /// A reference that may leave the thread.
    #[inline]
    pub(crate) fn share(&self) -> SharedRef {
        self.shared.clone_by(Some(self.local()))
    }

    /// The arrivals of a queue.
    pub(crate) fn arrivals_of(&self, queue: u32) -> ArrivalListRef {
        let list = NonNull::from(self.local().arrivals.of(queue));
        ArrivalListRef { list, _keeps: self.share() }
    }
}

impl Deref for OwnerRef {
    type Target = SharedRef;

    #[inline(always)]
    fn deref(&self) -> &SharedRef {
        &self.shared
    }
}

/// The arrivals of a queue, for those who ask often. Not `Send`.
pub(crate) struct ArrivalListRef {
    list: NonNull<ArrivalList>,
    _keeps: SharedRef,
}

impl Deref for ArrivalListRef {
    type Target = ArrivalList;

    #[inline(always)]
    fn deref(&self) -> &ArrivalList {
        // SAFETY: a list never moves, and goes with what is kept. This was made on the owner thread, and is not `Send`.
        unsafe { self.list.as_ref() }
    }
}
