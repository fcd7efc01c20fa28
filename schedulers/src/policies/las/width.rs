//! How wide buckets of attained service are.

use crate::parts::buckets::BUCKETS;

const _: () = assert!(bucket(u64::MAX, 0) < BUCKETS);

// A bucket ends where the next begins.
const _: () = {
    let mut number = 0;
    while number < bucket(u64::MAX, 0) {
        let end = end_of(number, 0);
        assert!(bucket(end - 1, 0) == number && bucket(end, 0) == number + 1);
        number += 1;
    }
    assert!(end_of(number, 0) == u64::MAX);
};

/// The bucket of a group that has attained `ns`. Never a lower one for more.
///
/// Log-linear, as in an HDR histogram: by the seven leading bits of `ns` in units of the resolution, which makes one
/// bucket for each unit below 128, and 64 for each power of two from there on.
#[inline]
pub(super) const fn bucket(ns: u64, resolution_bits: u32) -> u32 {
    let units = ns >> resolution_bits;
    let dropped = (units | 64).ilog2() - 6;
    64 * dropped + (units >> dropped) as u32
}

/// The least that takes a group out of a bucket. `u64::MAX` if nothing does.
#[inline]
pub(super) const fn end_of(bucket: u32, resolution_bits: u32) -> u64 {
    let dropped = (bucket / 64).saturating_sub(1);
    let (units, shift) = ((bucket - 64 * dropped + 1) as u64, dropped + resolution_bits);
    if units.leading_zeros() < shift { u64::MAX } else { units << shift }
}
