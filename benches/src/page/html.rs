//! The page: one file that needs no other, no script and no network.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::draw;
use super::headline::{Headline, Side, answer, by_topic};
use super::model::{Section, Table};
use super::plot::{Kind, Plot};
use super::{Page, WHAT_IT_IS};

const STYLE: &str = include_str!("style.css");

const TITLE: &str = "Clockworker: costs and gains";

/// Tables of a section that are shown at once.
const MOST_TABLES: usize = 3;

/// The page as HTML. The same page gives the same bytes.
pub fn write(page: &Page) -> String {
    let mut pictures = 0;
    let content = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (TITLE) }
                // No icon: a browser would ask for one otherwise.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                (header(page))
                (contents(page))
                main {
                    @for (place, section) in page.sections.iter().enumerate() {
                        (section_of(section, place, &mut pictures))
                    }
                    (machine(page))
                    (missing(page))
                }
            }
        }
    };
    content.into_string()
}

fn header(page: &Page) -> Markup {
    html! {
        header {
            h1 { (TITLE) }
            p.answer { (answer(&page.headlines)) }
            @for (note, files) in &page.notes { p.note { (note) " (" (files.join(", ")) ")" } }
            div.cards {
                (card("What it costs", Side::Cost, &page.headlines))
                (card("What you gain", Side::Gain, &page.headlines))
            }
            p.soft { (WHAT_IT_IS) }
        }
    }
}

fn card(title: &str, side: Side, headlines: &[Headline]) -> Markup {
    let topics = by_topic(headlines, side);
    html! {
        section.card {
            h2 { (title) }
            @if topics.is_empty() { p.soft { "Not measured." } }
            @for (topic, lines) in topics {
                h3 { span { (topic) } " " code { (lines[0].command) } }
                ul { @for line in lines { (line_of(line)) } }
            }
        }
    }
}

fn line_of(line: &Headline) -> Markup {
    let word = line.outcome.word();
    let class = if word.is_empty() { "even" } else { word };
    html! {
        li {
            span { (line.label) }
            span.value.(class) { (line.value) }
            span.how { (line.interval) }
            span.how {
                span.words { (line.words) @if !word.is_empty() { ", " } }
                @if !word.is_empty() { strong.(class) { (word) } }
            }
        }
    }
}

fn anchor(place: usize) -> String {
    format!("section-{}", place + 1)
}

fn contents(page: &Page) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                @for (place, section) in page.sections.iter().enumerate() {
                    li { a href={ "#" (anchor(place)) } { (section.title) } }
                }
                @if !page.facts.is_empty() { li { a href="#machine" { "The machine" } } }
                @if page.has_missing() { li { a href="#missing" { "What is not here" } } }
            }
        }
    }
}

fn section_of(section: &Section, place: usize, pictures: &mut usize) -> Markup {
    html! {
        section id=(anchor(place)) {
            h2 { (section.title) }
            p { (section.question) }
            @if let Some(note) = &section.note { p.note { (note) } }
            p.soft { (section.method) }
            p {
                code { (section.command) }
                @if !section.file.is_empty() { span.soft { " → " (section.file) } }
            }
            @if !section.plots.is_empty() {
                div.plots { @for plot in &section.plots { (picture(plot, pictures)) } }
            }
            (tables_of(&section.tables))
            @for doubt in &section.doubts { p.note { (doubt) } }
            @if section.listed_bars().next().is_some() {
                p { "Where it was to be, and whether it is:" @if let Some(verdicts) = section.verdicts() { " " (verdicts) } }
                ul { @for bar in section.listed_bars() { li { (bar) } } }
            }
        }
    }
}

/// Many tables are folded up: the next section is to be found without scrolling past them.
fn tables_of(tables: &[Table]) -> Markup {
    let all = html! { @for table in tables { (table_of(table, "numbers")) } };
    html! {
        @if tables.len() > MOST_TABLES {
            details {
                summary { "The " (tables.len()) " tables" }
                (all)
            }
        } @else { (all) }
    }
}

fn picture(plot: &Plot, pictures: &mut usize) -> Markup {
    *pictures += 1;
    let [title, description] = ["title", "text"].map(|part| format!("picture-{pictures}-{part}"));
    let (drawing, [width, height]) = draw::draw(plot);
    html! {
        figure {
            h3 { (plot.title) }
            svg.plot viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-labelledby={ (title) " " (description) } {
                title id=(title) { (plot.title) }
                desc id=(description) { (plot.in_words()) }
                (PreEscaped(drawing))
            }
            @if let Kind::Lines { series, .. } = &plot.kind {
                figcaption {
                    ul.legend {
                        @for (place, (label, _)) in series.iter().enumerate() {
                            li { span.(format!("s{}", place + 1)) {} (label) }
                        }
                    }
                }
            }
        }
    }
}

fn table_of(table: &Table, kind: &str) -> Markup {
    let class = |column: usize| if column < table.words { "w" } else { "n" };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.caption) {
            table.(kind) {
                caption { span { (table.caption) } }
                thead {
                    tr {
                        @for (place, column) in table.columns.iter().enumerate() {
                            th scope="col" class=(class(place)) { (column) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (place, cell) in row.iter().enumerate() {
                                @if place == 0 { th.w scope="row" { (cell) } }
                                @else { td class=(class(place)) { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn machine(page: &Page) -> Markup {
    html! {
        @if !page.facts.is_empty() {
            section id="machine" {
                h2 { "The machine" }
                p.soft { "Absolute times are those of this machine. Ratios are paired, so that its drift is in both." }
                @for table in &page.facts { (table_of(table, "facts")) }
            }
        }
    }
}

fn missing(page: &Page) -> Markup {
    html! {
        @if page.has_missing() {
            section id="missing" {
                h2 { "What is not here" }
                ul {
                    @for (question, command) in &page.missing {
                        li { (question) " Run " code { (command) " --json FILE" } " and name the file with " code { "--from" } "." }
                    }
                    @for reason in &page.left_out { li { "Left out: " (reason) } }
                }
            }
        }
    }
}
