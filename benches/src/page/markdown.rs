//! The numbers and tables of the page, for the project's documents.

use std::fmt::{self, Write};

use super::headline::{Headline, Side, answer};
use super::model::{Section, Table};
use super::{Page, WHAT_IT_IS};

/// The page as Markdown, without its pictures.
pub fn write(page: &Page) -> String {
    let mut text = String::new();
    write_page(page, &mut text).expect("writing to a string does not fail");
    text
}

fn write_page(page: &Page, out: &mut String) -> fmt::Result {
    writeln!(out, "{}\n", answer(&page.headlines))?;
    for (note, files) in &page.notes {
        writeln!(out, "**{note}** ({})\n", files.join(", "))?;
    }
    for (title, side) in [("What it costs", Side::Cost), ("What you gain", Side::Gain)] {
        let columns = ["what", "ratio", "interval", "in words", "command"];
        let mut table = Table::new(title, &columns);
        let lines = page.headlines.iter().filter(|line| line.side == side);
        table.rows = lines.map(headline).collect();
        if !table.rows.is_empty() {
            write_table(&table, out)?;
        }
    }
    writeln!(out, "{WHAT_IT_IS}\n")?;
    for section in &page.sections {
        write_section(section, out)?;
    }
    if !page.facts.is_empty() {
        writeln!(out, "## The machine\n")?;
    }
    for table in &page.facts {
        write_table(table, out)?;
    }
    for (question, command) in &page.missing {
        writeln!(out, "Not here: {question} `{command}`\n")?;
    }
    for reason in &page.left_out {
        writeln!(out, "Left out: {reason}\n")?;
    }
    Ok(())
}

fn headline(line: &Headline) -> Vec<String> {
    let word = line.outcome.word();
    let words = if word.is_empty() { line.words.clone() } else { format!("{}, {word}", line.words) };
    vec![
        format!("{}: {}", line.topic, line.label),
        format!("**{}**", line.value),
        line.interval.clone(),
        words,
        format!("`{}`", line.command),
    ]
}

fn write_section(section: &Section, out: &mut String) -> fmt::Result {
    writeln!(out, "## {}\n\n{}\n", section.title, section.question)?;
    if let Some(note) = &section.note {
        writeln!(out, "**{note}**\n")?;
    }
    let file = if section.file.is_empty() { String::new() } else { format!(" → {}", section.file) };
    writeln!(out, "{}\n\n`{}`{file}\n", section.method, section.command)?;
    for table in &section.tables {
        write_table(table, out)?;
    }
    for doubt in &section.doubts {
        writeln!(out, "{doubt}\n")?;
    }
    section.listed_bars().try_for_each(|bar| writeln!(out, "- {bar}"))?;
    if section.listed_bars().next().is_some() { writeln!(out) } else { Ok(()) }
}

/// The lines of a table, without its caption; nothing if it has no rows.
pub fn grid(table: &Table) -> String {
    let mut text = String::new();
    if !table.rows.is_empty() {
        write_grid(table, &mut text).expect("writing to a string does not fail");
    }
    text
}

fn write_table(table: &Table, out: &mut String) -> fmt::Result {
    writeln!(out, "{}:\n", table.caption)?;
    write_grid(table, out)?;
    writeln!(out)
}

fn write_grid(table: &Table, out: &mut String) -> fmt::Result {
    write_row(&table.columns, out)?;
    let rule = (0..table.columns.len()).map(|place| if place < table.words { "---" } else { "---:" });
    writeln!(out, "| {} |", rule.collect::<Vec<_>>().join(" | "))?;
    table.rows.iter().try_for_each(|row| write_row(row, out))
}

fn write_row(cells: &[String], out: &mut String) -> fmt::Result {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_what_markdown_takes_for_one() {
        let mut table = Table::new("Times", &["who", "ns"]);
        table.rows.push(vec!["a|b".to_owned(), "7".to_owned()]);
        let mut text = String::new();
        write_table(&table, &mut text).unwrap();
        assert_eq!(text, "Times:\n\n| who | ns |\n| --- | ---: |\n| a\\|b | 7 |\n\n");
    }
}
