//! What a client says to the service, and what the service answers: a key is set, then asked for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem;
use std::rc::Rc;

use crate::random::{Purpose, Random};
use crate::serving::dialogue::Dialogue;

#[derive(Clone, Default)]
pub(super) struct Store(Rc<RefCell<HashMap<String, String>>>);

impl Store {
    /// Carries out a line and answers it with one: `set KEY VALUE` with `ok`, `get KEY` with the value.
    pub(super) fn answer(&self, line: &str) -> String {
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("set"), Some(key), Some(value)) => {
                self.0.borrow_mut().insert(key.to_owned(), value.to_owned());
                "ok\n".to_owned()
            }
            (Some("get"), Some(key), None) => match self.0.borrow().get(key) {
                Some(value) => format!("{value}\n"),
                None => "nothing\n".to_owned(),
            },
            _ => "what?\n".to_owned(),
        }
    }

    /// Carries out all lines that are whole, and answers them in order. The beginning of another one is left.
    pub(super) fn answer_all(&self, lines: &mut Vec<u8>) -> Vec<u8> {
        let whole = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = lines.split_off(whole);
        let whole = mem::replace(lines, rest);
        let answers: String = String::from_utf8_lossy(&whole).lines().map(|line| self.answer(line)).collect();
        answers.into_bytes()
    }
}

const KEYS: usize = 64;
const VALUE: usize = 64;

/// Requests and their answers, by connection and number. They begin anew when all keys have been gone through.
pub(super) struct Talk(Vec<Vec<(String, String)>>);

impl Talk {
    pub(super) fn new(seed: u64, connections: usize) -> Self {
        let mut random = Random::new(seed, Purpose::Work, u64::MAX);
        let mut of_key = |connection: usize, key: usize| {
            let value: String = (0..VALUE).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
            let set = (format!("set {connection}.{key} {value}\n"), "ok\n".to_owned());
            [set, (format!("get {connection}.{key}\n"), format!("{value}\n"))]
        };
        let mut of_connection = |connection| (0..KEYS).flat_map(|key| of_key(connection, key)).collect();
        Talk((0..connections).map(&mut of_connection).collect())
    }
}

impl Dialogue for Talk {
    fn exchange(&self, connection: usize, number: u64) -> (&[u8], &[u8]) {
        let exchanges = &self.0[connection];
        let (request, answer) = &exchanges[(number % exchanges.len() as u64) as usize];
        (request.as_bytes(), answer.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_answered_when_it_is_whole_with_what_was_set_on_any_connection() {
        let store = Store::default();
        let mut lines = b"get a\nset a one two\nget a\ndel a\nget".to_vec();
        assert_eq!(store.answer_all(&mut lines), b"nothing\nok\none two\nwhat?\n");
        assert_eq!(lines, b"get");
        assert_eq!(store.answer_all(&mut lines), b"");
        lines.extend(b" a\n");
        assert_eq!(store.clone().answer_all(&mut lines), b"one two\n");
        assert!(lines.is_empty());
    }

    #[test]
    fn a_store_answers_as_expected_however_often_all_is_asked() {
        let (talk, store) = (Talk::new(1, 3), Store::default());
        for (number, connection) in
            (0..300).flat_map(|number| [0, 1, 2].map(|connection| (number, connection)))
        {
            let (request, answer) = talk.exchange(connection, number);
            assert_eq!(store.answer_all(&mut request.to_vec()), answer);
        }
    }
}
