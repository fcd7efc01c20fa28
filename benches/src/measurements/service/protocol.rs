//! What a client says, and what the server answers.

use std::collections::HashMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, random};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Protocol {
    /// A line is a request: `set KEY VALUE` is answered with `ok`, `get KEY` with the value.
    KeyValue,
    /// What comes goes back.
    Echo,
}

/// What the key-value service has stored.
pub(super) type Store = HashMap<String, String>;

impl Protocol {
    /// Takes all requests that are whole out of `received`, which keeps its capacity, and answers them in order.
    pub(super) fn answer(self, received: &mut Vec<u8>, store: &mut Store) -> Vec<u8> {
        let whole = match self {
            Protocol::KeyValue => received.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
            Protocol::Echo => received.len(),
        };
        let requests = &received[..whole];
        let answers = match self {
            Protocol::KeyValue => {
                let lines = String::from_utf8_lossy(requests);
                lines.lines().map(|line| answer(line, store)).collect::<String>().into_bytes()
            }
            Protocol::Echo => requests.to_vec(),
        };
        received.drain(..whole);
        answers
    }

    /// What is said on each connection.
    pub(super) fn dialogues(self, seed: u64, connections: usize) -> Vec<Dialogue> {
        let mut random = random(seed, Purpose::Work, u64::MAX);
        let mut letters = |length| (0..length).map(|_| random.lowercase()).collect::<String>();
        let mut exchanges = |connection, number| match self {
            Protocol::KeyValue => {
                let (key, value) = (format!("{connection}.{number}"), letters(VALUE));
                vec![(format!("set {key} {value}\n"), "ok\n".into()), (format!("get {key}\n"), value + "\n")]
            }
            Protocol::Echo => {
                let message = letters(MESSAGE);
                vec![(message.clone(), message)]
            }
        };
        let number = if self == Protocol::Echo { MESSAGES } else { KEYS };
        let mut dialogue =
            |connection| (0..number).flat_map(|number| exchanges(connection, number)).collect();
        (0..connections).map(&mut dialogue).collect()
    }
}

/// Requests with their answers. They begin anew when all have been sent.
pub(super) type Dialogue = Rc<[(String, String)]>;

/// Keys of a connection.
const KEYS: usize = 64;
/// Messages of a connection: few, so that they are in the client's cache.
const MESSAGES: usize = 4;
/// Letters of a value.
const VALUE: usize = 64;
/// Letters of a message.
const MESSAGE: usize = 1_024;

fn answer(line: &str, store: &mut Store) -> String {
    let mut words = line.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some("set"), Some(key), Some(value)) => {
            store.insert(key.to_owned(), value.to_owned());
            "ok\n".to_owned()
        }
        (Some("get"), Some(key), None) => match store.get(key) {
            Some(value) => format!("{value}\n"),
            None => "nothing\n".to_owned(),
        },
        _ => "what?\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_answered_when_it_is_whole() {
        let mut store = Store::default();
        let mut received = b"get a\nset a one two\nget a\ndel a\nget".to_vec();
        let mut answer = |received: &mut Vec<u8>| Protocol::KeyValue.answer(received, &mut store);
        assert_eq!(answer(&mut received), b"nothing\nok\none two\nwhat?\n");
        assert_eq!(received, b"get");
        assert_eq!(answer(&mut received), b"");
        received.extend(b" a\n");
        assert_eq!(answer(&mut received), b"one two\n");
        assert!(received.is_empty());
    }
}
