//! A figure: one measured number, and the bound that it was promised to keep.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use comfy_table::{Table, presets};
use serde::Serialize;

use crate::failure::Failure;

/// See the [module docs](self).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Which promise of `RELIABILITY.md` it belongs to, from 1.
    pub promise: u8,
    /// What was measured, with its unit.
    pub what: String,
    /// The number.
    pub value: f64,
    /// What it is held to; none for a number that is only told.
    pub bound: Option<Bound>,
}

/// What a number is held to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Exactly so much.
    Exactly(f64),
    /// So much or less.
    AtMost(f64),
    /// So much or more.
    AtLeast(f64),
}

impl Figure {
    /// A number that is held to a bound.
    pub fn held(promise: u8, what: impl Into<String>, value: f64, bound: Bound) -> Self {
        Figure { promise, what: what.into(), value, bound: Some(bound) }
    }

    /// A number that is only told, as the size of the experiment.
    pub fn told(promise: u8, what: impl Into<String>, value: f64) -> Self {
        Figure { promise, what: what.into(), value, bound: None }
    }

    /// Whether it keeps its bound. What is not a number keeps none.
    pub fn is_kept(&self) -> bool {
        match self.bound {
            None => true,
            Some(Bound::Exactly(bound)) => self.value == bound,
            Some(Bound::AtMost(bound)) => self.value <= bound,
            Some(Bound::AtLeast(bound)) => self.value >= bound,
        }
    }
}

/// The figures as a table for people.
pub fn table(figures: &[Figure]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["promise", "what", "figure", "bound", ""]);
    for figure in figures {
        let verdict = match (figure.bound, figure.is_kept()) {
            (None, _) => "",
            (Some(_), true) => "kept",
            (Some(_), false) => "BROKEN",
        };
        let bound = figure.bound.map_or_else(String::new, spell_bound);
        table.add_row([
            figure.promise.to_string(),
            figure.what.clone(),
            spell(figure.value),
            bound,
            verdict.to_owned(),
        ]);
    }
    table.to_string()
}

fn spell_bound(bound: Bound) -> String {
    match bound {
        Bound::Exactly(value) => format!("= {}", spell(value)),
        Bound::AtMost(value) => format!("<= {}", spell(value)),
        Bound::AtLeast(value) => format!(">= {}", spell(value)),
    }
}

/// Counts in full with groups of three digits, other numbers with three decimals.
fn spell(value: f64) -> String {
    if value.fract() != 0.0 || value.abs() >= 9e15 {
        return format!("{value:.3}");
    }
    let digits = format!("{:.0}", value.abs());
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("{}{}", if value < 0.0 { "-" } else { "" }, groups.join(","))
}

/// Writes the figures as a JSON array.
pub fn write_json(figures: &[Figure], path: &Path) -> Result<(), Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::request(format!("cannot write '{}': {error}", path.display()))
    };
    let mut file = File::create(path).map_err(|error| wrong(&error))?;
    serde_json::to_writer_pretty(&mut file, figures).map_err(|error| wrong(&error))?;
    file.write_all(b"\n").map_err(|error| wrong(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_what_is_no_number_keeps_none() {
        assert!(Figure::held(1, "", 0.0, Bound::Exactly(0.0)).is_kept());
        assert!(!Figure::held(1, "", 1.0, Bound::Exactly(0.0)).is_kept());
        assert!(Figure::held(1, "", 1.0, Bound::AtMost(1.0)).is_kept());
        assert!(!Figure::held(1, "", 0.9, Bound::AtLeast(1.0)).is_kept());
        assert!(!Figure::held(1, "", f64::NAN, Bound::AtMost(1.0)).is_kept());
        assert!(Figure::told(1, "", 3.0).is_kept());
    }

    #[test]
    fn a_broken_bound_is_seen_in_the_table() {
        let text = table(&[Figure::held(1, "lost wakes", 1_234_567.0, Bound::Exactly(0.0))]);
        assert!(text.contains("1,234,567") && text.contains("= 0") && text.contains("BROKEN"), "{text}");
    }
}
