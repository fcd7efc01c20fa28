//! The screen in a terminal, and its keys.

use std::error::Error;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyModifiers};

use crate::clients::now;
use crate::demo::Demo;

/// Runs until a key ends it, or for so many seconds. The terminal is restored at the end, also after an error or a panic.
pub(crate) fn run(seconds: Option<u32>) -> Result<(), Box<dyn Error>> {
    let mut demo = Demo::new()?;
    let mut terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
    let result = drive(&mut terminal, &mut demo, seconds);
    ratatui::try_restore()?;
    result
}

fn drive(
    terminal: &mut DefaultTerminal,
    demo: &mut Demo,
    seconds: Option<u32>,
) -> Result<(), Box<dyn Error>> {
    let began = now();
    let is_over = || seconds.is_some_and(|seconds| began.elapsed() >= Duration::from_secs(seconds.into()));
    while !is_over() {
        terminal.draw(|frame| frame.render_widget(&demo.view(), frame.area()))?;
        demo.window()?;
        while event::poll(Duration::ZERO)? {
            match event::read()?.as_key_press_event().and_then(key) {
                Some(Key::Quit) => return Ok(()),
                Some(Key::Background) => demo.toggle_background(),
                Some(Key::Share { up }) => demo.change_share(up)?,
                None => {}
            }
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq)]
enum Key {
    Quit,
    Background,
    Share { up: bool },
}

fn key(event: KeyEvent) -> Option<Key> {
    match event.code {
        KeyCode::Char('c') if event.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('b') => Some(Key::Background),
        KeyCode::Left => Some(Key::Share { up: false }),
        KeyCode::Right => Some(Key::Share { up: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let expected = [
            (KeyCode::Char('q'), KeyModifiers::NONE, Some(Key::Quit)),
            (KeyCode::Esc, KeyModifiers::NONE, Some(Key::Quit)),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Key::Quit)),
            (KeyCode::Char('c'), KeyModifiers::NONE, None),
            (KeyCode::Char('b'), KeyModifiers::NONE, Some(Key::Background)),
            (KeyCode::Left, KeyModifiers::NONE, Some(Key::Share { up: false })),
            (KeyCode::Right, KeyModifiers::NONE, Some(Key::Share { up: true })),
            (KeyCode::Enter, KeyModifiers::NONE, None),
        ];
        for (code, modifiers, wanted) in expected {
            assert_eq!(key(KeyEvent::new(code, modifiers)), wanted, "{code:?}");
        }
    }
}
