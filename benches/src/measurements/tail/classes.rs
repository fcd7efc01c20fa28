//! Jobs by size: a decade is a class, and all that is below 10 µs is one.

/// The decade below the first that has a class of its own: up to 10 µs. What is smaller than that waits mostly for polls
/// of others under way, whatever the order.
const SMALL: u32 = 3;

const LARGEST: u32 = 12;

/// The class of a job of so many nanoseconds: k for sizes from 10ᵏ to 10ᵏ⁺¹.
pub(super) fn class(size_ns: u64) -> u32 {
    size_ns.max(1).ilog10().max(SMALL)
}

pub(super) fn name(class: u32) -> String {
    let [from, to] = [class, class + 1].map(power_of_ten);
    if class == SMALL { format!("below {to}") } else { format!("{from} – {to}") }
}

pub(super) fn named(class: &str) -> u32 {
    (SMALL..=LARGEST).find(|&decade| name(decade) == class).unwrap_or(LARGEST)
}

fn power_of_ten(power: u32) -> String {
    let unit = ["ns", "µs", "ms", "s"][(power as usize / 3).min(3)];
    format!("{} {unit}", 10_u64.pow(power - (power / 3).min(3) * 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_decade() {
        let names = [
            (&[0, 7, 9_999][..], "below 10 µs"),
            (&[10_000, 99_999], "10 µs – 100 µs"),
            (&[100_000], "100 µs – 1 ms"),
            (&[50_000_000], "10 ms – 100 ms"),
            (&[2_000_000_000], "1 s – 10 s"),
        ];
        for (sizes, wanted) in names {
            assert!(sizes.iter().all(|&size| name(class(size)) == wanted), "{wanted}");
            assert_eq!(named(wanted), class(sizes[0]));
        }
    }
}
