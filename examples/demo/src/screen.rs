//! The screen: the two sides beside each other, on one scale.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph, Sparkline, Widget, Wrap};

use crate::clients::{OFFERED, WINDOW};
use crate::history::{Summary, quantile};
use crate::options::Size;
use crate::report::{short, time};
use crate::sides::Side;
use crate::store::SHARDS;

/// A smaller screen has the numbers only.
const LEAST: Size = Size { columns: 60, rows: 15 };

/// What the screen shows.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) is_on: bool,
    /// The background's, in percent.
    pub(crate) share: u32,
    pub(crate) sides: [SideView; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct SideView {
    pub(crate) side: Side,
    pub(crate) recent: Summary,
    /// Of each window, the oldest first.
    pub(crate) each: Vec<Summary>,
}

/// The screen at a size, without a terminal.
pub(crate) fn picture(size: Size, view: &View) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.columns, size.rows));
    view.render(buffer.area, &mut buffer);
    buffer
}

impl Widget for &View {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.width < LEAST.columns || area.height < LEAST.rows {
            return self.small(area, buffer);
        }
        let rows = [Constraint::Length(2), Constraint::Min(10), Constraint::Length(2), Constraint::Length(1)];
        let [head, panels, note, foot] = Layout::vertical(rows).areas(area);
        let inside = |area: Rect| Rect { x: area.x + 1, width: area.width - 2, ..area };
        self.head().render(inside(head), buffer);
        let scale = Scale::of(&self.sides, usize::from(area.width / 2));
        let halves = Layout::horizontal([Constraint::Fill(1); 2]).areas::<2>(panels);
        for (side, half) in self.sides.iter().zip(halves) {
            side.panel(&scale, half, buffer);
        }
        self.note().render(inside(note), buffer);
        keys().render(inside(foot), buffer);
    }
}

impl View {
    fn head(&self) -> Paragraph<'static> {
        let background = if self.is_on {
            format!("{SHARDS} compactors run, with a share of {} % on Clockworker", self.share)
        } else {
            format!("{SHARDS} compactors are off; b switches them on")
        };
        let [local_set, clockworker] = self.sides.each_ref().map(|side| side.recent.p99);
        let mut headline =
            vec!["p99 ".into(), time(local_set).fg(color(Side::LocalSet)).bold(), " → ".into()];
        headline.push(time(clockworker).fg(color(Side::Clockworker)).bold());
        let title = format!("A key-value service, {OFFERED} req/s   ");
        let mut first = vec![Span::from(title).bold()];
        first.extend(headline);
        Paragraph::new(vec![Line::from(first), Line::from(background)])
    }

    fn note(&self) -> Paragraph<'static> {
        let window = WINDOW.as_millis();
        let note = format!(
            "They take turns on one thread, in windows of {window} ms, under equal arrivals. Numbers are medians of windows."
        );
        Paragraph::new(note).fg(Color::DarkGray).wrap(Wrap { trim: true })
    }

    /// What fits everywhere.
    fn small(&self, area: Rect, buffer: &mut Buffer) {
        let side =
            |side: &SideView| Line::from(format!("{}: p99 {}", side.side.title(), time(side.recent.p99)));
        let mut lines: Vec<Line<'_>> = self.sides.iter().map(side).collect();
        lines.push(Line::from(format!("background {}", if self.is_on { "on" } else { "off" })));
        let Size { columns, rows } = LEAST;
        lines.push(Line::from(format!("The whole screen needs {columns}×{rows}.")).fg(Color::DarkGray));
        Paragraph::new(lines).render(area, buffer);
    }
}

fn keys() -> Line<'static> {
    let keys = [("b", "background on/off"), ("←/→", "its share"), ("q", "quit")];
    keys.into_iter().flat_map(|(key, what)| [key.bold(), format!(" {what}   ").fg(Color::DarkGray)]).collect()
}

fn color(side: Side) -> Color {
    match side {
        Side::LocalSet => Color::Yellow,
        Side::Clockworker => Color::Cyan,
    }
}

/// What fills a bar or a column, on both sides.
struct Scale {
    bars: Summary,
    columns: Summary,
}

impl Scale {
    /// For columns of so many windows.
    fn of(sides: &[SideView; 2], shown: usize) -> Self {
        let recent: Vec<Summary> = sides.iter().map(|side| side.recent).collect();
        let newest = |side: &SideView| side.each.iter().rev().take(shown).copied().collect::<Vec<_>>();
        let each: Vec<Summary> = sides.iter().flat_map(newest).collect();
        let mut times: Vec<Duration> = each.iter().map(|window| window.p99).collect();
        times.sort_unstable();
        // Some windows are hit by what else runs on the machine. Their columns are cut off.
        let columns = Summary { p99: quantile(&times, 75) * 3 / 2, ..largest(&each) };
        Self { bars: largest(&recent), columns }
    }
}

/// The largest of each number.
fn largest(summaries: &[Summary]) -> Summary {
    let larger = |a: Summary, b: &Summary| Summary {
        p50: a.p50.max(b.p50),
        p99: a.p99.max(b.p99),
        answered: a.answered.max(b.answered),
        rows: a.rows.max(b.rows),
    };
    summaries.iter().fold(Summary::default(), larger)
}

impl SideView {
    fn panel(&self, scale: &Scale, area: Rect, buffer: &mut Buffer) {
        let color = color(self.side);
        let title = format!(" {} ", self.side.title());
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(color)
            .title(title.fg(color).bold());
        let inner = block.inner(area);
        block.render(area, buffer);
        let rows = [Constraint::Length(4), Constraint::Fill(3), Constraint::Fill(2)];
        let [bars, times, compacted] = Layout::vertical(rows).areas(inner);
        self.bars(scale, bars, buffer);
        // Little room is for the latency.
        let (times, compacted) =
            if inner.height < 10 { (times.union(compacted), Rect::ZERO) } else { (times, compacted) };
        let each = |of: fn(&Summary) -> u64| self.each.iter().map(of).collect::<Vec<_>>();
        let Summary { p99, rows, .. } = scale.columns;
        let micros = |window: &Summary| window.p99.as_micros() as u64;
        let title = format!("p99, full at {}", time(p99));
        Columns { title, values: &each(micros), full: micros(&scale.columns), color }.render(times, buffer);
        let (title, values) = (format!("rows/s done, full at {}", short(rows)), each(|window| window.rows));
        Columns { title, values: &values, full: rows, color: Color::Gray }.render(compacted, buffer);
    }

    fn bars(&self, scale: &Scale, area: Rect, buffer: &mut Buffer) {
        let Summary { p50, p99, answered, rows } = self.recent;
        let (full, color) = (scale.bars, color(self.side));
        let of_time = |time: Duration| time.as_secs_f64() / full.p99.as_secs_f64();
        let of = |number: u64, full: u64| number as f64 / full as f64;
        let bars = [
            ("p50", time(p50), of_time(p50), color),
            ("p99", time(p99), of_time(p99), color),
            ("answered", format!("{}/s", short(answered)), of(answered, full.answered), Color::Gray),
            ("rows/s done", short(rows), of(rows, full.rows), Color::Gray),
        ];
        let width = usize::from(area.width).saturating_sub(24);
        let lines = bars.map(|(name, value, part, color)| {
            Line::from(vec![
                format!(" {name:11} ").into(),
                format!("{value:>8}  ").bold(),
                bar(part, width).fg(color),
            ])
        });
        Paragraph::new(lines.to_vec()).render(area, buffer);
    }
}

/// A bar of so many cells at most, exact to half a cell. None for what is no number.
fn bar(part: f64, width: usize) -> String {
    let halves = (part.clamp(0.0, 1.0) * 2.0 * width as f64).ceil() as usize;
    "━".repeat(halves / 2) + ["", "╸"][halves % 2]
}

/// The newest values as columns, from the right, below a title.
struct Columns<'a> {
    title: String,
    values: &'a [u64],
    full: u64,
    color: Color,
}

impl Widget for Columns<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.height < 2 {
            return;
        }
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let rows =
            [Constraint::Length(u16::from(area.height > 3)), Constraint::Length(1), Constraint::Fill(1)];
        let [_, head, body] = Layout::vertical(rows).areas(area);
        Line::from(self.title.fg(Color::DarkGray)).render(head, buffer);
        let newest = &self.values[self.values.len().saturating_sub(body.width.into())..];
        let width = newest.len() as u16;
        let body = Rect { x: body.right() - width, width, ..body };
        Sparkline::default().data(newest).max(self.full.max(1)).style(self.color).render(body, buffer);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A screen of fixed numbers: twelve windows without the background, then 24 beside it, one of them hit hard.
    pub(crate) fn view() -> View {
        let summary = |[p50, p99]: [u64; 2], answered, rows| {
            let [p50, p99] = [p50, p99].map(Duration::from_micros);
            Summary { p50, p99, answered, rows }
        };
        let side = |side: Side, beside: Summary| {
            let alone = summary([37, 190], 3_998, 0);
            let mut each = [vec![alone; 12], vec![beside; 24]].concat();
            each[30].p99 *= 20;
            SideView { side, recent: beside, each }
        };
        let sides = [
            side(Side::LocalSet, summary([1_060, 4_310], 3_911, 91_100_000)),
            side(Side::Clockworker, summary([59, 246], 3_987, 83_500_000)),
        ];
        View { is_on: true, share: 5, sides }
    }

    fn empty() -> View {
        let sides = Side::BOTH.map(|side| SideView { side, recent: Summary::default(), each: Vec::new() });
        View { is_on: false, share: 5, sides }
    }

    fn lines(size: [u16; 2], view: &View) -> String {
        let [columns, rows] = size;
        let buffer = picture(Size { columns, rows }, view);
        let row = |row| (0..columns).map(|column| buffer[(column, row)].symbol()).collect::<String>();
        (0..rows).map(row).map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    #[track_caller]
    fn assert_lines(size: [u16; 2], expected: &str) {
        let lines = lines(size, &view());
        assert!(lines == expected, "{lines}");
    }

    #[test]
    fn at_80_by_24() {
        assert_lines([80, 24], include_str!("screen/80x24.txt"));
    }

    #[test]
    fn at_160_by_50() {
        assert_lines([160, 50], include_str!("screen/160x50.txt"));
    }

    #[test]
    fn at_the_least_size_the_latency_has_all_the_room() {
        assert_lines([60, 15], include_str!("screen/60x15.txt"));
    }

    #[test]
    fn a_smaller_one_has_numbers_and_says_so() {
        let expected = "\
tokio LocalSet: p99 4.31 ms
Clockworker: p99 246 µs
background on
The whole screen needs 60×15.

";
        for size in [[59, 5], [200, 5]] {
            assert_lines(size, expected);
        }
        assert_lines([10, 1], "tokio Loca\n");
    }

    #[test]
    fn before_the_first_window_there_are_no_numbers() {
        let lines = lines([80, 24], &empty());
        assert!(lines.contains("compactors are off; b switches them on"), "{lines}");
        assert!(lines.contains("p50                –"), "{lines}");
        assert!(!lines.contains('━') && !lines.contains('█'), "{lines}");
    }

    #[test]
    fn every_size_has_a_screen() {
        for columns in 1..=70 {
            for rows in 1..=20 {
                picture(Size { columns, rows }, &view());
            }
        }
    }

    #[test]
    fn a_bar_is_exact_to_half_a_cell() {
        let bars = [0.0, 0.01, 0.125, 0.126, 1.0, 2.0, f64::NAN].map(|part| bar(part, 4));
        assert_eq!(bars, ["", "╸", "╸", "━", "━━━━", "━━━━", ""]);
    }
}
