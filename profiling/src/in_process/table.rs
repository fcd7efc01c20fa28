//! A table, in Markdown that can be read as it is, and numbers in it that sum to their total.

use std::fmt::Write as _;

/// Lays `rows` out, of which the first is the head. The first column is text, the others are numbers.
pub(super) fn layout(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        if index == 0 {
            let rules = widths.iter().enumerate().map(|(column, &width)| match column {
                0 => "-".repeat(width + 2),
                _ => format!("{}:", "-".repeat(width + 1)),
            });
            let _ = writeln!(text, "|{}|", rules.collect::<Vec<_>>().join("|"));
        }
    }
    text
}

/// Shares `total` out in proportion to `weights`, in whole numbers that sum to it: rounded down first, and what is left
/// goes to the largest remainders.
pub(super) fn apportion(weights: &[usize], total: u64) -> Vec<u64> {
    let sum = weights.iter().sum::<usize>().max(1) as u128;
    let exact = |weight: usize| weight as u128 * u128::from(total);
    let mut shares: Vec<u64> = weights.iter().map(|&weight| (exact(weight) / sum) as u64).collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&index| std::cmp::Reverse(exact(weights[index]) % sum));
    let left = total - shares.iter().sum::<u64>();
    for &index in by_remainder.iter().take(left as usize) {
        shares[index] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_total() {
        assert_eq!(apportion(&[1, 1, 1], 100), [34, 33, 33]);
        assert_eq!(apportion(&[0, 5, 0], 7), [0, 7, 0]);
        for total in [0, 1, 999, 1_000] {
            assert_eq!(apportion(&[3, 1, 4, 1, 5, 9, 2, 6], total).iter().sum::<u64>(), total);
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [vec!["a".to_owned(), "ns".to_owned()], vec!["long".to_owned(), "1.50".to_owned()]];
        assert_eq!(layout(&rows), "| a    |   ns |\n|------|-----:|\n| long | 1.50 |\n");
    }
}
