//! What one policy by attained service has that another has not: the order.

use super::half_life::HalfLife;

/// Which bucket a group belongs into, by the service that it has attained. The lowest goes first.
///
/// Nothing here takes longer for more groups or tasks.
pub(crate) trait Rank: Clone {
    /// Whether the groups of a bucket take turns, and fair turns go round the groups. Else a group goes on until it leaves its bucket,
    /// and fair turns go round the buckets, of which those from [`finely_from`](Self::finely_from) on count as one.
    const TAKES_TURNS: bool = false;

    /// Whether the order of the buckets is learnt, so that groups may wait in the wrong one.
    const LEARNS: bool = false;

    /// The bucket of a group that has attained `ns`. Never a lower one for more, until something is learnt.
    fn bucket(&self, ns: u64) -> u32;

    /// The least that takes a group out of a bucket. `u64::MAX` if nothing does.
    fn end_ns(&self, bucket: u32) -> u64;

    /// The least bucket of groups that share alike.
    fn finely_from(&self) -> u32 {
        0
    }

    /// How long a turn lasts at most.
    fn turn_ns(&self) -> u64 {
        u64::MAX
    }

    /// What a bucket becomes when all that was attained is halved: no higher one, and no lower one for a higher.
    fn halved(&self, bucket: u32) -> u32;

    /// Hears of the half-life, in an empty queue.
    fn set_half_life(&mut self, _: &HalfLife) {}

    /// A group has attained more. Whether buckets are equal now that were not, or the other way round.
    fn went_on(&mut self, _from_ns: u64, _to_ns: u64) -> bool {
        false
    }

    /// A group has ended that was served. As [`went_on`](Self::went_on).
    fn ended(&mut self, _ns: u64) -> bool {
        false
    }

    /// The bucket that those of another go to when something was learnt, as by [`halved`](Self::halved).
    fn joined(&self, bucket: u32) -> u32 {
        bucket
    }
}
