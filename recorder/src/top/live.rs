//! The table on the whole terminal, drawn anew again and again.

use std::time::Duration;

use clockworker_terminal::failure::Failure;
use clockworker_terminal::table::Table;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Alignment, Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets;

use crate::view::View;

/// Shows what `look` says, again and again, until a key ends it: q, escape, or ctrl-c. What cannot be read any more stays as it was,
/// with the reason above it.
pub(crate) fn show(every: Duration, mut look: impl FnMut() -> Result<View, Failure>) -> Result<(), Failure> {
    let mut view = look()?;
    let mut terminal =
        ratatui::try_init().map_err(Failure::unable("cannot draw on this terminal; try --once"))?;
    let done = loop {
        if let Err(error) = terminal.draw(|frame| draw(frame, &view)) {
            break Err(error);
        }
        match is_over(every) {
            Ok(false) => {}
            Ok(true) => break Ok(()),
            Err(error) => break Err(error),
        }
        match look() {
            Ok(new) => view = new,
            Err(failure) => view.head = failure.to_string(),
        }
    };
    ratatui::restore();
    done.map_err(Failure::unable("cannot draw on this terminal"))
}

/// Waits for a key for so long. Whether it ends the program.
fn is_over(every: Duration) -> std::io::Result<bool> {
    if !event::poll(every)? {
        return Ok(false);
    }
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event::read()? else {
        return Ok(false);
    };
    let is_interrupt = code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL);
    Ok(is_interrupt || matches!(code, KeyCode::Char('q') | KeyCode::Esc))
}

fn draw(frame: &mut Frame<'_>, view: &View) {
    // A line for the names of the columns, and one between the tables.
    let own = if view.series.rows.is_empty() { 0 } else { view.series.rows.len() as u16 + 2 };
    let lines = [Constraint::Length(1), Constraint::Min(2), Constraint::Length(own), Constraint::Length(1)];
    let [head, table, own, foot] = Layout::vertical(lines).areas(frame.area());
    frame.render_widget(Line::from(view.head.as_str()).bold(), head);
    frame.render_widget(widget(&view.table), table);
    let [_, own] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(own);
    frame.render_widget(widget(&view.series), own);
    frame.render_widget(Line::from("q: end").dim(), foot);
}

/// The names get what the numbers leave.
fn widget(table: &Table) -> widgets::Table<'_> {
    let width = |place: usize| {
        let cells = table.rows.iter().map(|row| row[place].chars().count());
        cells.chain([table.columns[place].chars().count()]).max().unwrap_or(0) as u16
    };
    let widths = (0..table.columns.len()).map(|place| match place {
        0 => Constraint::Min(8),
        _ => Constraint::Length(width(place)),
    });
    let cell = |place: usize, text: &str| {
        let side = if place < table.words { Alignment::Left } else { Alignment::Right };
        widgets::Cell::from(Line::from(text.to_owned()).alignment(side))
    };
    let row = |cells: &Vec<String>| {
        widgets::Row::new(cells.iter().enumerate().map(|(place, text)| cell(place, text)).collect::<Vec<_>>())
    };
    let rows: Vec<_> = table.rows.iter().map(row).collect();
    widgets::Table::new(rows, widths.collect::<Vec<_>>())
        .header(row(&table.columns).style(Style::new().reversed()))
        .column_spacing(2)
}
