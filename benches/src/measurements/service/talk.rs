//! What the client says to the service, and has to hear: a key is set, then asked for.

use crate::random::{Purpose, Random};
use crate::serving::dialogue::Dialogue;

/// Keys that a connection has for itself.
const KEYS: usize = 64;

/// Bytes of a value.
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
    use crate::measurements::service::store::Store;

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
