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
        let mut table = Table::new(title, ["what", "ratio", "interval", "in words", "command"]);
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

fn write_table(table: &Table, out: &mut String) -> fmt::Result {
    writeln!(out, "{}:\n\n{}", table.caption, table.markdown())
}
