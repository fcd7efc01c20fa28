//! What the client says to the service, and has to hear: a key is set, then asked for.

use crate::random::{Purpose, Random};
use crate::serving::dialogue::Dialogue;

/// Keys that a connection has for itself.
const KEYS: usize = 64;

/// Bytes of a value.
const VALUE: usize = 64;

/// The requests of all connections, which begin anew when all keys have been gone through.
#[derive(Debug)]
pub struct Talk {
    /// By connection and number.
    requests: Vec<Vec<Exchange>>,
}

#[derive(Debug)]
struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Talk {
    /// Of so many connections.
    pub fn new(seed: u64, connections: usize) -> Self {
        let mut random = Random::new(seed, Purpose::Work, u64::MAX);
        let of_key = |connection: usize, key: usize, random: &mut Random| {
            let value: String = (0..VALUE).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
            let set = Exchange::new(format!("set {connection}.{key} {value}\n"), "ok\n".to_owned());
            let get = Exchange::new(format!("get {connection}.{key}\n"), format!("{value}\n"));
            [set, get]
        };
        let mut of_connection = |connection: usize| -> Vec<Exchange> {
            (0..KEYS).flat_map(|key| of_key(connection, key, &mut random)).collect()
        };
        Talk { requests: (0..connections).map(&mut of_connection).collect() }
    }

    fn exchange(&self, connection: usize, number: u64) -> &Exchange {
        let requests = &self.requests[connection];
        &requests[(number % requests.len() as u64) as usize]
    }
}

impl Exchange {
    fn new(request: String, answer: String) -> Self {
        Exchange { request: request.into_bytes(), answer: answer.into_bytes() }
    }
}

impl Dialogue for Talk {
    fn request(&self, connection: usize, number: u64) -> &[u8] {
        &self.exchange(connection, number).request
    }

    fn answer(&self, connection: usize, number: u64) -> &[u8] {
        &self.exchange(connection, number).answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::service::store::Store;

    #[test]
    fn a_store_answers_as_expected_however_often_all_is_asked() {
        let (talk, store) = (Talk::new(1, 3), Store::default());
        for number in 0..300 {
            for connection in 0..3 {
                let request = std::str::from_utf8(talk.request(connection, number)).unwrap();
                let line = request.strip_suffix('\n').unwrap();
                assert_eq!(store.answer(line).as_bytes(), talk.answer(connection, number), "{line}");
            }
        }
    }
}
