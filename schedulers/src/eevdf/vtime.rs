//! Virtual time: [`VirtualTime`] and [`Lag`], and the fixed point they are counted in.
//!
//! # Units
//!
//! One unit of virtual time is 2⁻⁴⁰ ns of service per unit of share. A queue of share *w* that receives *s* ns advances
//! by `s × inverse`, where `inverse = ⌊2⁴⁰ / w⌋` is computed once, when the share is set: charging multiplies and never
//! divides.
//!
//! # Rounding
//!
//! Only `inverse` is rounded, and downwards, by less than 1 part in 2⁴⁰ / w. With the largest share, 10⁶, a queue is
//! charged at most 0.91 millionths too little; with shares below 1,000, less than a billionth. Since it is a constant
//! factor and not an error per charge, it does not depend on how service is cut into polls and cannot be farmed.

use core::fmt;

/// Bits after the binary point of [`VirtualTime`] and [`Lag`].
pub(crate) const FRACTION_BITS: u32 = 40;

/// A point in virtual time, in units of 2⁻⁴⁰ ns of service per unit of share.
///
/// Points are stored relative to a zero that [`Eevdf`](crate::Eevdf) moves now and then, so only the order of, and the
/// difference between, two points read without a change in between mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VirtualTime(i128);

impl VirtualTime {
    pub(crate) const fn from_raw(raw: i128) -> Self {
        Self(raw)
    }

    /// The number of units of 2⁻⁴⁰ ns per unit of share.
    #[inline]
    pub const fn raw(self) -> i128 {
        self.0
    }
}

/// Service that a queue is owed, in units of 2⁻⁴⁰ ns: positive where it has had too little, negative where too much.
///
/// ```
/// use clockworker_schedulers::{Eevdf, Lag, Share};
///
/// let mut eevdf = Eevdf::new();
/// let a = eevdf.add(Share::default(), 1_000);
/// let b = eevdf.add(Share::default(), 1_000);
/// eevdf.wake(a);
/// eevdf.wake(b);
/// eevdf.charge(a, 600);
/// assert_eq!(eevdf.lag(b).as_ns(), 300); // of the 600 ns, half were b's
/// assert_eq!(eevdf.lag(a).as_ns(), -300);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lag(i128);

impl Lag {
    /// Owed nothing, owing nothing.
    pub const ZERO: Lag = Lag(0);

    pub(crate) const fn from_raw(raw: i128) -> Self {
        Self(raw)
    }

    /// Nanoseconds of service, rounded towards zero.
    #[inline]
    pub const fn as_ns(self) -> i128 {
        self.0 / (1 << FRACTION_BITS)
    }

    /// The number of units of 2⁻⁴⁰ ns.
    #[inline]
    pub const fn raw(self) -> i128 {
        self.0
    }
}

impl fmt::Display for Lag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.as_ns())
    }
}

/// n/d rounded down, for a positive d. Most numbers fit 64 bits, where a division takes a tenth of the instructions; and
/// where few queues of share 1 contend, d is often 1 or 2.
#[inline]
pub(crate) fn div_floor(n: i128, d: i128) -> i128 {
    match (i64::try_from(n), i64::try_from(d)) {
        (Ok(n), Ok(d)) if d & (d - 1) == 0 => i128::from(n >> d.trailing_zeros()),
        (Ok(n), Ok(d)) => i128::from(n.div_euclid(d)),
        _ => n.div_euclid(d),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_rounds_towards_zero() {
        let unit = 1i128 << FRACTION_BITS;
        assert_eq!(Lag::from_raw(unit - 1).as_ns(), 0);
        assert_eq!(Lag::from_raw(1 - unit).as_ns(), 0);
        assert_eq!(Lag::from_raw(-unit).as_ns(), -1);
        assert_eq!(Lag::from_raw(5 * unit).to_string(), "5 ns");
    }
}
