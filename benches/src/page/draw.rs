//! Draws a [`Plot`] as SVG.
//!
//! Colours are names here: the style sheet knows an attribute such as `stroke="#0000F1"` and puts the colour of the reader's
//! scheme in its place, so that one picture is legible on light and on dark.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, Scale, Unit};
use super::headline::{Better, Outcome};
use super::plot::{Kind, Line, Plot, Ratio};
use crate::numbers::with_interval;
use crate::stats::Estimate;

/// The width of every picture, in its own units. On a telephone these are pixels.
const WIDTH: u32 = 400;
const LINES_HEIGHT: u32 = 280;

/// A ratio takes a line of text and a bar.
const BAR_ROW: u32 = 36;
const BARS_BELOW: u32 = 44;
const BARS_MARGIN: u32 = 22;

/// Characters on a line, about, with some room between two texts.
const LINE: usize = 54;

const TEXT: i32 = 16;

const INK: RGBColor = RGBColor(0, 0, 0xE1);
const GRID: RGBColor = RGBColor(0, 0, 0xE2);
const BETTER: RGBColor = RGBColor(0, 0, 0xE3);
const WORSE: RGBColor = RGBColor(0, 0, 0xE4);
const EVEN: RGBColor = RGBColor(0, 0, 0xE5);

/// The colour of a line, by its place.
const fn series_colour(place: usize) -> RGBColor {
    RGBColor(0, 0, 0xF1 + place as u8)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The picture, without the element `svg` around it, and its width and height.
pub fn draw(plot: &Plot) -> (String, [u32; 2]) {
    let height = match &plot.kind {
        Kind::Ratios { bars, .. } => bars.len() as u32 * BAR_ROW + BARS_BELOW,
        Kind::Lines { .. } => LINES_HEIGHT,
    };
    let size = [WIDTH, height];
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (size[0], size[1])).into_drawing_area();
        let drawn = match &plot.kind {
            Kind::Ratios { axis, better, bars } => draw_ratios(&area, axis, *better, bars),
            Kind::Lines { x, y, series } => draw_lines(&area, x, y, series),
        };
        drawn.and_then(|()| Ok(area.present()?)).expect("drawing into a string does not fail");
    }
    (inside(&text).to_owned(), size)
}

fn inside(svg: &str) -> &str {
    let start = svg.find('>').map_or(0, |end| end + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg[start..end].trim()
}

fn text_style(colour: RGBColor, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    ("sans-serif", TEXT).into_font().color(&colour).pos(Pos::new(horizontal, vertical))
}

fn draw_lines(area: &Area<'_>, x: &Axis, y: &Axis, series: &[Line]) -> Drawn {
    let points = series.iter().flat_map(|(_, points)| points.iter().copied());
    let ([left, right], x_ticks) = x.layout(points.clone().map(|point| point.0));
    let ([low, high], y_ticks) = y.layout(points.map(|point| point.1));
    let mut chart = ChartBuilder::on(area)
        .margin_top(24)
        .margin_right(32)
        .margin_left(4)
        .x_label_area_size(42)
        .y_label_area_size(54)
        .build_cartesian_2d(left..right, low..high)?;
    let plane = chart.plotting_area();
    for &tick in &y_ticks {
        let place = y.place(tick);
        plane.draw(&PathElement::new(vec![(left, place), (right, place)], GRID))?;
        let at = plane.map_coordinate(&(left, place));
        area.draw_text(&y.format(tick), &text_style(INK, HPos::Right, VPos::Center), (at.0 - 5, at.1))?;
    }
    for &tick in &x_ticks {
        let place = x.place(tick);
        plane.draw(&PathElement::new(vec![(place, low), (place, high)], GRID))?;
        let at = plane.map_coordinate(&(place, low));
        area.draw_text(&x.format(tick), &text_style(INK, HPos::Center, VPos::Top), (at.0, at.1 + 8))?;
    }
    draw_titles(area, &x.title, Some(&y.title))?;
    for (place, (_, points)) in series.iter().enumerate() {
        let at = |&(to_right, up): &(f64, f64)| (x.place(to_right), y.place(up));
        let style = series_colour(place).stroke_width(2);
        chart.draw_series(LineSeries::new(points.iter().map(at), style))?;
        if points.len() <= FEW_POINTS {
            let dot = |point| Circle::new(at(point), 3, series_colour(place).filled());
            chart.draw_series(points.iter().map(dot))?;
        }
    }
    Ok(())
}

/// A line of no more points than this shows where they are.
const FEW_POINTS: usize = 12;

/// The title of the axis to the right below it, that of the one upwards above it.
fn draw_titles(area: &Area<'_>, x: &str, y: Option<&str>) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let bottom = (width as i32 - 4, height as i32 - 4);
    area.draw_text(x, &text_style(INK, HPos::Right, VPos::Bottom), bottom)?;
    if let Some(y) = y {
        area.draw_text(y, &text_style(INK, HPos::Left, VPos::Top), (4, 2))?;
    }
    Ok(())
}

fn draw_ratios(area: &Area<'_>, axis: &str, better: Better, bars: &[Ratio]) -> Drawn {
    let scale = Axis::new(axis, Scale::Log, Unit::Plain);
    let ends = bars.iter().flat_map(|(_, value)| [value.low, value.high]);
    let ([left, right], ticks) = scale.layout(ends.chain([0.5, 2.0]));
    let bottom = bars.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_left(BARS_MARGIN)
        .margin_right(BARS_MARGIN)
        .x_label_area_size(BARS_BELOW)
        .build_cartesian_2d(left..right, bottom..0.0)?;
    let plane = chart.plotting_area();
    for &tick in &ticks {
        let place = scale.place(tick);
        let colour = if tick == 1.0 { INK } else { GRID };
        plane.draw(&PathElement::new(vec![(place, bottom), (place, 0.0)], colour))?;
        let at = plane.map_coordinate(&(place, bottom));
        area.draw_text(&scale.format(tick), &text_style(INK, HPos::Center, VPos::Top), (at.0, at.1 + 4))?;
    }
    draw_titles(area, axis, None)?;
    for (place, (label, value)) in bars.iter().enumerate() {
        let top = place as f64;
        let (start, end) = (scale.place(1.0), scale.place(value.median));
        let colour = match better.outcome(value) {
            Outcome::Gain => BETTER,
            Outcome::Loss => WORSE,
            Outcome::Even | Outcome::Unjudged => EVEN,
        };
        chart.draw_series([Rectangle::new([(start, top + 0.58), (end, top + 0.86)], colour.filled())])?;
        chart.draw_series(whisker(&scale, value, top + 0.72))?;
        let line = area.dim_in_pixel().0 as i32 - 4;
        let at = place as i32 * BAR_ROW as i32 + 3;
        let value = with_interval(value);
        let label = shortened(label, LINE.saturating_sub(value.chars().count()));
        area.draw_text(&label, &text_style(INK, HPos::Left, VPos::Top), (4, at))?;
        area.draw_text(&value, &text_style(INK, HPos::Right, VPos::Top), (line, at))?;
    }
    Ok(())
}

/// A label of no more than `most` characters. All of it is in the picture's description.
fn shortened(label: &str, most: usize) -> String {
    match label.chars().count() > most {
        true => label.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => label.to_owned(),
    }
}

/// The interval: a line with its ends marked.
fn whisker(scale: &Axis, value: &Estimate, at: f64) -> [PathElement<(f64, f64)>; 3] {
    let [low, high] = [value.low, value.high].map(|end| scale.place(end));
    let path = |points: [(f64, f64); 2]| PathElement::new(points.to_vec(), INK.stroke_width(2));
    let mark = |end| path([(end, at - 0.12), (end, at + 0.12)]);
    [path([(low, at), (high, at)]), mark(low), mark(high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(label: &str) -> Plot {
        let value = Estimate { median: 0.5, low: 0.4, high: 0.6 };
        Plot::ratios("Title", "× LocalSet", Better::Less, [(label.to_owned(), Some(value))]).unwrap()
    }

    #[test]
    fn a_bar_is_drawn_from_one_to_its_ratio_and_says_how_large_it_is() {
        let (svg, size) = draw(&ratios("QLAS"));
        assert_eq!(size, [WIDTH, BAR_ROW + BARS_BELOW]);
        assert!(svg.contains("QLAS") && svg.contains("0.50 (0.40 – 0.60)"), "{svg}");
        assert!(svg.contains("#0000E3") && !svg.contains("#0000E4"), "better, not worse: {svg}");
    }

    #[test]
    fn a_long_name_leaves_room_for_the_number() {
        assert_eq!(shortened("QLAS", 4), "QLAS");
        assert_eq!(shortened("µQLAS", 4), "µQL…");
        let (svg, _) = draw(&ratios(&"x".repeat(80)));
        assert!(svg.contains("0.50 (0.40 – 0.60)") && svg.contains("x…"), "{svg}");
    }

    #[test]
    fn every_line_has_its_colour() {
        let axes = (Axis::new("x", Scale::Linear, Unit::Plain), Axis::new("y", Scale::Log, Unit::Nanos));
        let series = ["a", "b"].map(|name| (name.to_owned(), vec![(0.0, 10.0), (1.0, 1_000.0)]));
        let (svg, _) = draw(&Plot::lines("Title", axes, series).unwrap());
        assert_eq!(svg.matches("<polyline").count() - svg.matches("#0000E2").count(), 2);
        assert!(svg.contains("#0000F1") && svg.contains("#0000F2"), "{svg}");
    }
}
