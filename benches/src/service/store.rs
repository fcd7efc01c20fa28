//! The service's state, and what it answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Keys and values, shared by all connections of one thread.
#[derive(Clone, Debug, Default)]
pub struct Store(Rc<RefCell<HashMap<String, String>>>);

impl Store {
    /// Carries out a line and answers it with one: `set KEY VALUE` with `ok`, `get KEY` with the value.
    pub fn answer(&self, line: &str) -> String {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_got_on_every_connection() {
        let store = Store::default();
        let other = store.clone();
        assert_eq!(store.answer("get a"), "nothing\n");
        assert_eq!(store.answer("set a one two"), "ok\n");
        assert_eq!(other.answer("get a"), "one two\n");
        assert_eq!(other.answer("del a"), "what?\n");
    }
}
