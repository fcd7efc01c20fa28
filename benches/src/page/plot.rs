//! A picture, as data: ratios with their intervals, or lines.

use super::axis::{Axis, Scale, Unit};
use super::headline::Better;
use crate::numbers::{interval, ratio};
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
        bars: Vec<RatioBar>,
    },
    Lines {
        x: Axis,
        y: Axis,
        series: Vec<Series>,
    },
}

#[derive(Clone, Debug)]
pub struct RatioBar {
    pub label: String,
    pub value: Estimate,
}

#[derive(Clone, Debug)]
pub struct Series {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

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
        let bars: Vec<RatioBar> = bars
            .into_iter()
            .filter_map(|(label, value)| Some(RatioBar { label, value: value.filter(drawable)? }))
            .collect();
        let kind = Kind::Ratios { axis: axis.into(), better, bars };
        Some(Plot { title: title.into(), kind }).filter(|plot| !plot.is_empty())
    }

    /// Lines, if there are any: the first [`MOST_SERIES`] of those that have points where the axes can show them.
    pub fn lines(
        title: impl Into<String>,
        (x, y): (Axis, Axis),
        series: impl IntoIterator<Item = (String, Vec<(f64, f64)>)>,
    ) -> Option<Self> {
        let seen = |(label, points): (String, Vec<(f64, f64)>)| {
            let shown = |&(to_right, up): &(f64, f64)| x.shows(to_right) && y.shows(up);
            Series { label, points: points.into_iter().filter(shown).collect() }
        };
        let series: Vec<Series> = series
            .into_iter()
            .map(seen)
            .filter(|series| !series.points.is_empty())
            .take(MOST_SERIES)
            .collect();
        let kind = Kind::Lines { x, y, series };
        Some(Plot { title: title.into(), kind }).filter(|plot| !plot.is_empty())
    }

    fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Ratios { bars, .. } => bars.is_empty(),
            Kind::Lines { series, .. } => series.is_empty(),
        }
    }

    /// What the picture shows, for those who do not see it.
    pub fn in_words(&self) -> String {
        match &self.kind {
            Kind::Ratios { axis, bars, .. } => {
                let bars: Vec<String> = bars.iter().map(RatioBar::in_words).collect();
                format!("{axis}. {}.", bars.join("; "))
            }
            Kind::Lines { x, y, series } => {
                let lines: Vec<String> = series.iter().map(|series| series.in_words(x, y)).collect();
                format!("{} over {}. {}.", y.title, x.title, lines.join("; "))
            }
        }
    }
}

impl RatioBar {
    fn in_words(&self) -> String {
        format!("{}: {} ({})", self.label, ratio(self.value.median), interval(&self.value))
    }
}

impl Series {
    fn in_words(&self, x: &Axis, y: &Axis) -> String {
        let place = |&(to_right, up): &(f64, f64)| format!("{} at {}", y.format(up), x.format(to_right));
        let ends =
            [self.points.first(), self.points.last()].map(|point| point.map_or_else(String::new, place));
        format!("{}: from {} to {}", self.label, ends[0], ends[1])
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
pub fn turned((label, curve): (String, Vec<(f64, f64)>)) -> (String, Vec<(f64, f64)>) {
    (label, curve.into_iter().map(|(part, value)| (value, part)).collect())
}
