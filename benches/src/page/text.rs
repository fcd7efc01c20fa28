//! A chapter for the terminal: its tables, doubts and bars.

use std::fmt::{self, Write};

use super::model::{Chapter, Section, Table};

/// A column's name is broken before it is longer than this.
const NAME: usize = 14;

/// The chapter as text, between the note that its numbers mean nothing, if they do not, and the facts of the machine.
pub fn write(note: Option<&str>, chapter: &Chapter, facts: &str) -> String {
    let mut text = note.map_or_else(String::new, |note| format!("{note}\n\n"));
    for section in &chapter.sections {
        write_section(section, &mut text).expect("writing to a string does not fail");
    }
    text + facts
}

fn write_section(section: &Section, out: &mut String) -> fmt::Result {
    writeln!(out, "{}\n{}\n", section.title, section.method)?;
    for table in &section.tables {
        writeln!(out, "{}:\n{}\n", table.caption, folded(table))?;
    }
    let verdicts = section.verdicts().map(|verdicts| format!("Bars: {verdicts}"));
    let bars = section.listed_bars().map(|bar| bar.to_string());
    let lines: Vec<String> = section.doubts.iter().cloned().chain(verdicts).chain(bars).collect();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if lines.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Names and intervals stand below each other, so that many columns have room beside each other.
fn folded(table: &Table) -> Table {
    let fold = |(place, cell): (usize, &String)| match place < table.words {
        true => cell.clone(),
        false => cell.replace("; ", "\n").replacen(" (", "\n(", 1),
    };
    let rows = table.rows.iter().map(|row| row.iter().enumerate().map(fold).collect()).collect();
    Table { columns: table.columns.iter().map(|column| broken(column)).collect(), rows, ..table.clone() }
}

fn broken(name: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + word.chars().count() < NAME) {
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_a_note_tables_doubts_and_facts() {
        let table = Table::of(
            "Times",
            [7],
            [("who", |_| "a b (c)".to_owned()), ("ns, all of them", |ns| format!("{ns} (6 – 8)"))],
        );
        let section =
            Section { tables: vec![table], doubts: vec!["It was late".to_owned()], ..Section::default() };
        let text =
            write(Some("quick"), &Chapter { sections: vec![section], ..Chapter::default() }, "seed 1\n");
        assert!(text.starts_with("quick\n\n") && text.ends_with("It was late\n\nseed 1\n"), "{text}");
        for wanted in ["a b (c)", "ns, all of ", " (6 – 8) "] {
            assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
        }
        assert!(!text.contains("7 (6"), "{text}");
    }
}
