//! Where a closure panics.

use super::complaint_of;
use super::panics::PLACE;

/// The file and line at which a closure panics, as it must.
#[track_caller]
pub(crate) fn place_of_panic<T>(then: impl FnOnce() -> T) -> (String, u32) {
    complaint_of(then);
    PLACE.take().expect("the hook has noted it")
}
