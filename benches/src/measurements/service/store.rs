//! The store of the key-value service.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

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
    #[cfg(any(test, all(feature = "rivals", target_os = "linux")))]
    pub(super) fn answer_all(&self, lines: &mut Vec<u8>) -> Vec<u8> {
        let whole = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = lines.split_off(whole);
        let whole = std::mem::replace(lines, rest);
        let answers: String = String::from_utf8_lossy(&whole).lines().map(|line| self.answer(line)).collect();
        answers.into_bytes()
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
}
