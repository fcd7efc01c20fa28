//! A picture, as data: ratios with their intervals, or lines.

use super::axis::{Axis, Scale, Unit};
use super::headline::Better;
use crate::numbers::with_interval;
use crate::stats::Estimate;

/// Lines told apart in one picture, at the most.
pub const MOST_SERIES: usize = 6;

#[derive(Clone, Debug)]
pub struct Plot {
    pub title: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    /// Ratios, each drawn as a bar from 1.
    Ratios {
        /// What they are ratios to, and of what.
        axis: String,
        better: Better,
        bars: Vec<Ratio>,
    },
    Lines {
        x: Axis,
        y: Axis,
        series: Vec<Line>,
    },
}

/// Its label, and how large it is.
pub type Ratio = (String, Estimate);

/// Its label, and where it goes: to the right, and up.
pub type Line = (String, Vec<(f64, f64)>);

impl Plot {
    pub fn ratios(
        title: impl Into<String>,
        axis: impl Into<String>,
        better: Better,
        bars: impl IntoIterator<Item = (String, Option<Estimate>)>,
    ) -> Option<Self> {
        let drawable = |value: &Estimate| {
            [value.low, value.median, value.high].iter().all(|part| part.is_finite() && *part > 0.0)
        };
        let bars = bars.into_iter().filter_map(|(label, value)| Some((label, value.filter(drawable)?)));
        let bars: Vec<Ratio> = bars.collect();
        let is_empty = bars.is_empty();
        let kind = Kind::Ratios { axis: axis.into(), better, bars };
        (!is_empty).then(|| Plot { title: title.into(), kind })
    }

    /// Lines, if there are any: the first [`MOST_SERIES`] of those that have points where the axes can show them.
    pub fn lines(
        title: impl Into<String>,
        (x, y): (Axis, Axis),
        series: impl IntoIterator<Item = Line>,
    ) -> Option<Self> {
        let shown = |(label, mut points): Line| {
            points.retain(|&(to_right, up)| x.shows(to_right) && y.shows(up));
            (!points.is_empty()).then_some((label, points))
        };
        let series: Vec<Line> = series.into_iter().filter_map(shown).take(MOST_SERIES).collect();
        (!series.is_empty()).then(|| Plot { title: title.into(), kind: Kind::Lines { x, y, series } })
    }

    /// What the picture shows, for those who do not see it.
    pub fn in_words(&self) -> String {
        match &self.kind {
            Kind::Ratios { axis, bars, .. } => {
                let in_words = |(label, value): &Ratio| format!("{label}: {}", with_interval(value));
                let bars: Vec<String> = bars.iter().map(in_words).collect();
                format!("{axis}. {}.", bars.join("; "))
            }
            Kind::Lines { x, y, series } => {
                let place =
                    |(to_right, up): (f64, f64)| format!("{} at {}", y.format(up), x.format(to_right));
                let in_words = |(label, points): &Line| {
                    let [from, to] = [points[0], points[points.len() - 1]].map(place);
                    format!("{label}: from {from} to {to}")
                };
                let lines: Vec<String> = series.iter().map(in_words).collect();
                format!("{} over {}. {}.", y.title, x.title, lines.join("; "))
            }
        }
    }
}

pub fn time_by_percentile(what: &str) -> (Axis, Axis) {
    (Axis::new("percentile", Scale::Nines, Unit::Percent), Axis::new(what, Scale::Log, Unit::Nanos))
}

pub fn number_by_percentile(what: &str) -> (Axis, Axis) {
    (Axis::new("percentile", Scale::Nines, Unit::Percent), Axis::new(what, Scale::Log, Unit::Plain))
}

pub fn distribution(what: &str) -> (Axis, Axis) {
    (
        Axis::new(what, Scale::Log, Unit::Nanos),
        Axis::new("part that took no longer", Scale::Linear, Unit::Percent),
    )
}

/// A line of points of a distribution, turned around for [`distribution`].
pub fn turned((label, curve): Line) -> Line {
    (label, curve.into_iter().map(|(part, value)| (value, part)).collect())
}
