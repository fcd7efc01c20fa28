//! What a client says, and what the server answers.

use std::collections::HashMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, random};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Protocol {
    /// A line is a request: `set KEY VALUE` is answered with `ok`, `get KEY` with the value. The client sends so many at once.
    KeyValue(usize),
    /// What comes goes back. The client's messages are lines of so many letters.
    Echo(usize),
}

/// What the key-value service has stored.
pub(super) type Store = HashMap<String, String>;

impl Protocol {
    /// Takes all requests that are whole out of `received`, which keeps its capacity, and answers them in order.
    pub(super) fn answer(self, received: &mut Vec<u8>, store: &mut Store) -> Vec<u8> {
        let whole = match self {
            Protocol::KeyValue(_) => {
                received.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
            }
            Protocol::Echo(_) => received.len(),
        };
        let requests = &received[..whole];
        let answers = match self {
            Protocol::KeyValue(_) => {
                let lines = String::from_utf8_lossy(requests);
                lines.lines().map(|line| answer(line, store)).collect::<String>().into_bytes()
            }
            Protocol::Echo(_) => requests.to_vec(),
        };
        received.drain(..whole);
        answers
    }

    /// What is said on each connection.
    pub(super) fn dialogues(self, seed: u64, connections: usize) -> Vec<Dialogue> {
        let mut random = random(seed, Purpose::Work, u64::MAX);
        let mut letters = |length| (0..length).map(|_| random.lowercase()).collect::<String>();
        let mut exchanges = |connection, number| match self {
            Protocol::KeyValue(_) => {
                let (key, value) = (format!("{connection}.{number}"), letters(VALUE));
                vec![(format!("set {key} {value}\n"), "ok\n".into()), (format!("get {key}\n"), value + "\n")]
            }
            Protocol::Echo(length) => {
                let message = letters(length - 1) + "\n";
                vec![(message.clone(), message)]
            }
        };
        let (number, at_once) = match self {
            Protocol::KeyValue(at_once) => (KEYS, at_once),
            Protocol::Echo(_) => (MESSAGES, 1),
        };
        let mut dialogue = |connection| {
            let exchanges: Vec<_> = (0..number).flat_map(|number| exchanges(connection, number)).collect();
            exchanges.chunks(at_once).map(|some| some.iter().cloned().unzip()).collect()
        };
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

/// What is said on each connection to the HTTP server, of which axum sets all headers but the date.
pub(super) fn http(connections: usize) -> Vec<Dialogue> {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ndate: {DATE}\r\n\
         content-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let get = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned();
    (0..connections).map(|_| [(get.clone(), answer.clone())].into()).collect()
}

/// Members of a chat room. As many connections, one after the other, are one room.
pub(super) const MEMBERS: usize = 8;

/// The date of every answer, so that all are one text.
pub(super) const DATE: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
pub(super) const BODY: &str = "ok";

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
    fn requests_that_are_sent_at_once_are_answered_in_order() {
        for (request, answers) in Protocol::KeyValue(16).dialogues(1, 1)[0].iter() {
            assert_eq!((request.lines().count(), answers.lines().count()), (16, 16));
            let answered = Protocol::KeyValue(16).answer(&mut request.clone().into(), &mut Store::new());
            assert_eq!(answered, answers.as_bytes());
        }
    }

    #[test]
    fn a_line_is_answered_when_it_is_whole() {
        let mut store = Store::default();
        let mut received = b"get a\nset a one two\nget a\ndel a\nget".to_vec();
        let mut answer = |received: &mut Vec<u8>| Protocol::KeyValue(1).answer(received, &mut store);
        assert_eq!(answer(&mut received), b"nothing\nok\none two\nwhat?\n");
        assert_eq!(received, b"get");
        assert_eq!(answer(&mut received), b"");
        received.extend(b" a\n");
        assert_eq!(answer(&mut received), b"one two\n");
        assert!(received.is_empty());
    }
}
