//! A screen as a picture: SVG.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// A cell, in pixels.
const WIDTH: f64 = 9.0;
const HEIGHT: f64 = 20.0;
const MARGIN: f64 = 12.0;

/// The picture. Text is text; blocks and lines are drawn, as fonts differ in how they join them.
pub(crate) fn of(screen: &Buffer) -> String {
    let (columns, rows) = (screen.area.width, screen.area.height);
    let [width, height] =
        [f64::from(columns) * WIDTH + 2.0 * MARGIN, f64::from(rows) * HEIGHT + 2.0 * MARGIN];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"15\" \
         transform=\"translate({MARGIN} {MARGIN})\">\n"
    );
    for row in 0..rows {
        let cells: Vec<&Cell> = (0..columns).map(|column| &screen[(column, row)]).collect();
        let y = f64::from(row) * HEIGHT;
        let mut column = 0;
        for run in cells.chunk_by(|a, b| is_one_piece(a, b)) {
            let x = column as f64 * WIDTH;
            column += run.len();
            match shape(run[0]) {
                Some(shape) => draw(&mut svg, shape, color(run[0].fg), [x, y], run.len() as f64 * WIDTH),
                None => write_text(&mut svg, run, x, y),
            }
        }
    }
    svg + "</g>\n</svg>\n"
}

/// Whether two cells beside each other are drawn at once.
fn is_one_piece(a: &Cell, b: &Cell) -> bool {
    let is_alike = match (shape(a), shape(b)) {
        (None, None) => true,
        (Some(Shape::Line(line)), _) => a.symbol() == b.symbol() && line == ACROSS,
        _ => a.symbol() == b.symbol(),
    };
    is_alike && a.style() == b.style()
}

fn write_text(svg: &mut String, run: &[&Cell], x: f64, y: f64) {
    let text: String = run.iter().map(|cell| cell.symbol()).collect();
    let kept = text.trim_end();
    let indent = kept.chars().take_while(|c| *c == ' ').count();
    let kept = kept.trim_start();
    if kept.is_empty() {
        return;
    }
    let weight = if run[0].modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let (x, y) = (x + indent as f64 * WIDTH, y + HEIGHT * 0.75);
    let length = kept.chars().count() as f64 * WIDTH;
    let escaped = kept.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" fill=\"{}\"{weight} xml:space=\"preserve\">{escaped}</text>",
        color(run[0].fg)
    );
}

/// What is drawn of a cell, or of several that are alike.
enum Shape {
    /// A column, of so many eighths.
    Column(u32),
    /// A part of a bar, of so many halves.
    Bar(u32),
    /// A path from edge to edge, in a cell of one by one.
    Line(&'static str),
}

const ACROSS: &str = "M0 .5H1";

fn shape(cell: &Cell) -> Option<Shape> {
    let symbol = cell.symbol().chars().next()?;
    Some(match symbol {
        '▁'..='█' => Shape::Column(symbol as u32 - '▁' as u32 + 1),
        '╸' => Shape::Bar(1),
        '━' => Shape::Bar(2),
        '─' => Shape::Line(ACROSS),
        '│' => Shape::Line("M.5 0V1"),
        '╭' => Shape::Line("M1 .5Q.5 .5 .5 1"),
        '╮' => Shape::Line("M0 .5Q.5 .5 .5 1"),
        '╯' => Shape::Line("M0 .5Q.5 .5 .5 0"),
        '╰' => Shape::Line("M1 .5Q.5 .5 .5 0"),
        _ => return None,
    })
}

fn draw(svg: &mut String, shape: Shape, color: &str, [x, y]: [f64; 2], width: f64) {
    let mut rect = |y: f64, width: f64, height: f64| {
        writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"/>")
    };
    let _ = match shape {
        Shape::Column(eighths) => {
            let height = f64::from(eighths) * HEIGHT / 8.0;
            rect(y + HEIGHT - height, width, height)
        }
        Shape::Bar(halves) => rect(y + HEIGHT * 0.3, f64::from(halves) * width / 2.0, HEIGHT * 0.4),
        Shape::Line(path) => writeln!(
            svg,
            "<path d=\"{path}\" transform=\"translate({x} {y}) scale({width} {HEIGHT})\" fill=\"none\" \
             stroke=\"{color}\" stroke-width=\"1.5\" vector-effect=\"non-scaling-stroke\"/>"
        ),
    };
}

/// The colours that the screen has.
fn color(color: Color) -> &'static str {
    match color {
        Color::Yellow => "#e5b454",
        Color::Cyan => "#56c8d8",
        Color::Gray => "#aab2c0",
        Color::DarkGray => "#808896",
        _ => "#e6e9ef",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Size;
    use crate::screen::{self, tests::view};

    #[test]
    fn the_picture_is_well_formed_and_has_all_words_of_the_screen() {
        for size in
            [Size { columns: 80, rows: 24 }, Size { columns: 160, rows: 50 }, Size { columns: 1, rows: 1 }]
        {
            let buffer = screen::picture(size, &view());
            let svg = of(&buffer);
            let picture = roxmltree::Document::parse(&svg).unwrap();
            assert_eq!(
                picture.root_element().attribute("width"),
                Some(&*(size.columns * 9 + 24).to_string())
            );
            let drawn: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
            let drawn = drawn.join(" ");
            let symbols = buffer.content().iter().map(|cell| cell.symbol()).collect::<String>();
            let words = symbols.split(|c: char| c.is_whitespace() || "─━╸│╭╮╰╯▁▂▃▄▅▆▇█".contains(c));
            words.for_each(|word| assert!(drawn.contains(word), "{word}"));
        }
    }

    #[test]
    fn text_is_escaped() {
        let svg = of(&Buffer::with_lines(["a < b && c > d"]));
        let picture = roxmltree::Document::parse(&svg).unwrap();
        let text = picture.descendants().find(|node| node.has_tag_name("text")).unwrap();
        assert_eq!(text.text(), Some("a < b && c > d"));
    }
}
