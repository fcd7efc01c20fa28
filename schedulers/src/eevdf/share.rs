//! [`Share`]: what a queue claims of the thread.

use core::fmt;

use super::vtime::FRACTION_BITS;

/// A queue's relative claim on CPU time among the queues that contend: 1 to 1,000,000.
///
/// Two queues of shares 9 and 1 that are both busy get nine tenths and one tenth of the thread. Only ratios matter.
///
/// ```
/// use clockworker_schedulers::Share;
///
/// assert_eq!(Share::new(9).unwrap().get(), 9);
/// assert_eq!(Share::default().get(), 1);
/// assert!(Share::new(0).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// The smallest share, 1.
    pub const MIN: Share = Share(1);

    /// The largest share, 1,000,000.
    pub const MAX: Share = Share(1_000_000);

    /// Makes a share.
    ///
    /// # Errors
    ///
    /// [`ShareError`] where `share` is outside [`Share::MIN`]`..=`[`Share::MAX`].
    pub const fn new(share: u32) -> Result<Self, ShareError> {
        if share < Self::MIN.0 || share > Self::MAX.0 {
            return Err(ShareError { given: share });
        }
        Ok(Self(share))
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Virtual time per nanosecond of service: `⌊2⁴⁰ / w⌋`, at most 2⁴⁰.
    pub(crate) const fn inverse(self) -> u64 {
        (1 << FRACTION_BITS) / self.0 as u64
    }
}

impl Default for Share {
    /// A share of 1.
    fn default() -> Self {
        Self::MIN
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<u32> for Share {
    type Error = ShareError;

    fn try_from(share: u32) -> Result<Self, ShareError> {
        Self::new(share)
    }
}

impl From<Share> for u32 {
    fn from(share: Share) -> Self {
        share.0
    }
}

/// A number that is not a [`Share`]: 0, or above 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareError {
    given: u32,
}

impl ShareError {
    /// The number that was given.
    pub const fn given(&self) -> u32 {
        self.given
    }
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a share is between {} and {}, not {}", Share::MIN, Share::MAX, self.given)
    }
}

impl core::error::Error for ShareError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_validated() {
        assert_eq!(Share::new(0), Err(ShareError { given: 0 }));
        assert_eq!(Share::new(1), Ok(Share::MIN));
        assert_eq!(Share::new(1_000_000), Ok(Share::MAX));
        assert_eq!(Share::new(1_000_001).unwrap_err().given(), 1_000_001);
        assert_eq!(Share::try_from(7).map(u32::from), Ok(7));
        assert_eq!(Share::new(0).unwrap_err().to_string(), "a share is between 1 and 1000000, not 0");
    }

    #[test]
    fn the_inverse_is_short_by_less_than_a_millionth() {
        for share in [1, 2, 3, 7, 999, 1_000, 65_537, 999_999, 1_000_000] {
            let inverse = Share::new(share).unwrap().inverse();
            let charged = u64::from(share) * inverse;
            let short = (1u64 << FRACTION_BITS) - charged;
            assert!(short < u64::from(share), "{share}");
            assert!(short * 1_000_000 < 1 << FRACTION_BITS, "{share}");
        }
    }
}
