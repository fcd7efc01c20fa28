//! A figure: one measured number, and the bound that it was promised to keep.

use std::fs;
use std::path::Path;

use anyhow::Context;
use comfy_table::{Table, presets};
use indicatif::HumanCount;
use serde::Serialize;

use crate::BadRequest;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Which promise of `RELIABILITY.md` it belongs to, from 1.
    pub promise: u8,
    /// What was measured, with its unit.
    pub what: String,
    pub value: f64,
    /// What it is held to; none for a number that is only told.
    pub bound: Option<Bound>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    Exactly(f64),
    AtMost(f64),
}

pub trait Number {
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty),+) => { $(impl Number for $number { fn to_f64(self) -> f64 { self as f64 } })+ };
}
numbers!(f64, u64, i64, u32, usize);

/// A number that is only told, as the size of the experiment.
pub fn told(promise: u8, what: impl Into<String>, value: impl Number) -> Figure {
    Figure { promise, what: what.into(), value: value.to_f64(), bound: None }
}

/// A number that is to be 0.
pub fn none(promise: u8, what: impl Into<String>, value: impl Number) -> Figure {
    exactly(promise, what, value, 0.0)
}

pub fn exactly(promise: u8, what: impl Into<String>, value: impl Number, bound: impl Number) -> Figure {
    Figure { bound: Some(Bound::Exactly(bound.to_f64())), ..told(promise, what, value) }
}

pub fn at_most(promise: u8, what: impl Into<String>, value: impl Number, bound: impl Number) -> Figure {
    Figure { bound: Some(Bound::AtMost(bound.to_f64())), ..told(promise, what, value) }
}

impl Figure {
    /// Whether it keeps its bound. What is not a number keeps none.
    pub fn is_kept(&self) -> bool {
        match self.bound {
            None => true,
            Some(Bound::Exactly(bound)) => self.value == bound,
            Some(Bound::AtMost(bound)) => self.value <= bound,
        }
    }
}

pub fn table(figures: &[Figure]) -> String {
    let rows = figures.iter().map(|figure| {
        let bound = match figure.bound {
            None => String::new(),
            Some(Bound::Exactly(value)) => format!("= {}", spell(value)),
            Some(Bound::AtMost(value)) => format!("<= {}", spell(value)),
        };
        let verdict = match figure.is_kept() {
            false => "BROKEN",
            true if figure.bound.is_some() => "kept",
            true => "",
        };
        [figure.promise.to_string(), figure.what.clone(), spell(figure.value), bound, verdict.to_owned()]
    });
    table_of(["promise", "what", "figure", "bound", ""], rows)
}

pub(crate) fn table_of<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    table.add_rows(rows);
    table.to_string()
}

/// Counts in full with groups of three digits, other numbers with three decimals.
fn spell(value: f64) -> String {
    if value.fract() != 0.0 || value.abs() >= 9e15 {
        return format!("{value:.3}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", HumanCount(value.abs() as u64))
}

/// Writes the figures as a JSON array. The error is a [`BadRequest`] if the file cannot be written.
pub fn write_json(figures: &[Figure], path: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(figures)? + "\n";
    fs::write(path, text).with_context(|| BadRequest(format!("cannot write '{}'", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_what_is_no_number_keeps_none() {
        assert!(none(1, "", 0_u64).is_kept() && !none(1, "", 1_u64).is_kept());
        assert!(at_most(1, "", 1.0, 1.0).is_kept() && !at_most(1, "", 1.1, 1.0).is_kept());
        assert!(!at_most(1, "", f64::NAN, 1.0).is_kept());
        assert!(told(1, "", 3.0).is_kept());
    }

    #[test]
    fn a_broken_bound_is_seen_in_the_table() {
        let text = table(&[none(1, "lost wakes", 1_234_567_u64)]);
        assert!(text.contains("1,234,567") && text.contains("= 0") && text.contains("BROKEN"), "{text}");
    }
}
