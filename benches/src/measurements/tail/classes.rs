//! Jobs by size: a decade is a class, and all that is below 10 µs is one.

use std::fmt;

/// The decade below the first that has a class of its own: up to 10 µs. What is smaller than that waits mostly for polls
/// of others under way, whatever the order.
const SMALL: u32 = 3;

/// The decade of an hour.
const LARGEST: u32 = 12;

/// The sizes from 10ᵏ to 10ᵏ⁺¹ nanoseconds, by k; the smallest class has no lower end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(u32);

impl Class {
    /// The class of a job of so many nanoseconds.
    pub fn of(size_ns: u64) -> Self {
        Class(size_ns.max(1).ilog10().max(SMALL))
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = [self.0, self.0 + 1].map(power_of_ten);
        if self.0 == SMALL { write!(f, "below {to}") } else { write!(f, "{from} – {to}") }
    }
}

/// Where a class of that name is among all of them.
pub fn rank(name: &str) -> u32 {
    (SMALL..=LARGEST).find(|&decade| Class(decade).to_string() == name).unwrap_or(LARGEST)
}

/// 10ᵏ nanoseconds in words.
fn power_of_ten(power: u32) -> String {
    let unit = ["ns", "µs", "ms", "s"][(power as usize / 3).min(3)];
    format!("{} {unit}", 10_u64.pow(power - (power / 3).min(3) * 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_decade() {
        assert_eq!(Class::of(10_000), Class::of(99_999));
        assert!(Class::of(99_999) < Class::of(100_000));
        assert_eq!(Class::of(0), Class::of(9_999));
        assert!(Class::of(9_999) < Class::of(10_000));
    }

    #[test]
    fn classes_read_as_people_write_them() {
        let names = [7, 10_000, 100_000, 50_000_000, 2_000_000_000].map(|size| Class::of(size).to_string());
        let wanted = ["below 10 µs", "10 µs – 100 µs", "100 µs – 1 ms", "10 ms – 100 ms", "1 s – 10 s"];
        assert_eq!(names, wanted);
        assert!(names.iter().map(|name| rank(name)).is_sorted());
    }
}
