//! What a client says, and what it has to hear.

use crate::random::{Purpose, random};

pub(super) trait Dialogue {
    /// The request with that number on that connection, and what the server answers.
    fn exchange(&self, connection: usize, number: u64) -> (&[u8], &[u8]);
}

/// Bytes to cut messages from: at so many offsets they begin.
const LENGTH: usize = 64 << 10;

/// Messages of one size that are to come back: bytes that no other message has at the same place.
pub(super) struct Echoes {
    bytes: Vec<u8>,
    size: usize,
}

impl Echoes {
    pub(super) fn new(seed: u64, size: usize) -> Self {
        let mut random = random(seed, Purpose::Work, u64::MAX);
        let bytes = (0..LENGTH + size).map(|_| random.u8(..)).collect();
        Echoes { bytes, size }
    }
}

impl Dialogue for Echoes {
    fn exchange(&self, connection: usize, number: u64) -> (&[u8], &[u8]) {
        let mixed = (number ^ (connection as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let offset = (mixed >> 32) as usize % LENGTH;
        let message = &self.bytes[offset..offset + self.size];
        (message, message)
    }
}

/// Keys of a connection.
const KEYS: usize = 64;
/// Letters of a value.
const VALUE: usize = 64;

/// Requests to the key-value service and its answers, by connection and number: a key is set, then asked for. They begin
/// anew when all keys have been gone through.
pub(super) struct KeysAndValues(Vec<Vec<(String, String)>>);

impl KeysAndValues {
    pub(super) fn new(seed: u64, connections: usize) -> Self {
        let mut random = random(seed, Purpose::Work, u64::MAX);
        let mut of_key = |connection: usize, key: usize| {
            let value: String = (0..VALUE).map(|_| random.lowercase()).collect();
            let set = (format!("set {connection}.{key} {value}\n"), "ok\n".to_owned());
            [set, (format!("get {connection}.{key}\n"), format!("{value}\n"))]
        };
        let mut of_connection = |connection| (0..KEYS).flat_map(|key| of_key(connection, key)).collect();
        KeysAndValues((0..connections).map(&mut of_connection).collect())
    }
}

impl Dialogue for KeysAndValues {
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
    fn neighbours_differ() {
        let echoes = Echoes::new(1, 64);
        let of = |connection| (0..10).map(move |number| (connection, number));
        let all = (0..100).flat_map(of).map(|(connection, number)| echoes.exchange(connection, number).0);
        let messages: std::collections::BTreeSet<&[u8]> = all.collect();
        assert!(messages.len() > 980, "of 1,000 offsets out of 65,536 some eight coincide");
    }

    #[test]
    fn a_store_answers_as_expected_however_often_all_is_asked() {
        let (talk, store) = (KeysAndValues::new(1, 3), Store::default());
        for (number, connection) in
            (0..300).flat_map(|number| [0, 1, 2].map(|connection| (number, connection)))
        {
            let (request, answer) = talk.exchange(connection, number);
            assert_eq!(store.answer_all(&mut request.to_vec()), answer);
        }
    }
}
