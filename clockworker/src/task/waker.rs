//! The waker: a counted reference to a cell, which can only wake the task.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::header::{Header, release, wake_task};
use super::probe::{AnyTask, WakerOp};

/// One table for all tasks, in a `static`: `Waker::will_wake` compares its address, and promoted constants may be
/// duplicated between codegen units (rust-lang/rust#121622).
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// A waker lent to a poll: it owns no reference, and is not dropped.
///
/// # Safety
///
/// The cell outlives the result.
#[inline]
pub(super) unsafe fn lend(header: NonNull<Header>) -> ManuallyDrop<Waker> {
    let raw = RawWaker::new(header.as_ptr().cast::<()>().cast_const(), &VTABLE);
    // SAFETY: the table's functions keep `RawWaker`'s contract. The reference that dropping would release is not owned,
    // so the waker is never dropped.
    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
}

fn header(data: *const ()) -> NonNull<Header> {
    match NonNull::new(data.cast_mut().cast::<Header>()) {
        Some(header) => header,
        None => unreachable!("wakers are made of non-null pointers"),
    }
}

/// Tells the probe what is done with a waker, if it wants to know.
#[inline(always)]
fn tell(data: *const (), op: WakerOp) {
    // SAFETY: this module's functions call it with the pointer of a waker, which is there until they return.
    let task = unsafe { header(data).as_ref() };
    if task.shared.tells_wakers() {
        task.shared.tell(|probe| probe.waker(&AnyTask::new(task), op));
    }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    tell(data, WakerOp::Clone);
    // SAFETY: the cell is alive, since the waker being cloned owns a reference or was lent by a poll under way.
    unsafe { header(data).as_ref() }.retain();
    RawWaker::new(data, &VTABLE)
}

/// Releases a reference when it is dropped, also if the host's waker panics.
struct Reference(NonNull<Header>);

impl Drop for Reference {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `wake`, which made it, gave up the waker's reference.
        unsafe { release(self.0) };
    }
}

unsafe fn wake(data: *const ()) {
    // `wake` consumes the waker, and with it the reference.
    let _reference = Reference(header(data));
    tell(data, WakerOp::Wake);
    // SAFETY: the waker owns a reference, until the end of this function.
    unsafe { wake_task(header(data)) };
}

unsafe fn wake_by_ref(data: *const ()) {
    tell(data, WakerOp::WakeByRef);
    // SAFETY: the waker owns a reference or was lent by a poll under way.
    unsafe { wake_task(header(data)) };
}

unsafe fn drop_waker(data: *const ()) {
    tell(data, WakerOp::Drop);
    // SAFETY: the waker owns a reference, which ends here.
    unsafe { release(header(data)) };
}
