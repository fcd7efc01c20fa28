//! What sessions say: pieces of an agent's output, and how channels carry them.

use std::borrow::Borrow;
use std::rc::Rc;

use serde::Serialize;

use crate::random::{Purpose, Random};

/// What one read of an agent's output brought.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Event {
    session: u32,
    number: u32,
    text: String,
}

/// An event as channels carry it: each receiver has a copy of its own, or all share one.
pub(super) trait Payload: Clone + Borrow<Event> + From<Event> + 'static {
    /// Whether a clone copies the text.
    const IS_COPIED: bool;
}

impl Payload for Event {
    const IS_COPIED: bool = true;
}

impl Payload for Rc<Event> {
    const IS_COPIED: bool = false;
}

/// A read gets what is there: some of a page, or the whole.
const READS: (u64, u64) = (1 << 10, 4 << 10);

const WORDS: [&str; 12] = [
    "Compiling",
    "warning:",
    "\u{1b}[32mok\u{1b}[0m",
    "\"src/main.rs\"",
    "test",
    "...",
    "error[E0382]",
    "at",
    "line",
    "1024",
    "{\"tool\":",
    "done\n",
];

/// A terminal's text, of which each read has a part.
pub(super) struct Output(String);

impl Output {
    pub(super) fn new(seed: u64) -> Rc<Self> {
        let mut random = Random::new(seed, Purpose::Work, 0);
        let mut text = String::new();
        while text.len() < 64 << 10 {
            text += WORDS[random.below(WORDS.len() as u64) as usize];
            text.push(' ');
        }
        Rc::new(Output(text))
    }

    fn read(&self, random: &mut Random) -> String {
        let length = READS.0 + random.below(READS.1 - READS.0 + 1);
        let from = random.below(self.0.len() as u64 - length) as usize;
        self.0[from..from + length as usize].to_owned()
    }
}

/// What a session's agent says, over and over.
pub(super) struct Speech {
    output: Rc<Output>,
    random: Random,
    session: u32,
    number: u32,
}

impl Speech {
    pub(super) fn new(output: Rc<Output>, seed: u64, session: u32) -> Self {
        Speech {
            output,
            random: Random::new(seed, Purpose::Work, 1 + u64::from(session)),
            session,
            number: 0,
        }
    }

    pub(super) fn next(&mut self) -> Event {
        self.number += 1;
        Event { session: self.session, number: self.number, text: self.output.read(&mut self.random) }
    }
}
