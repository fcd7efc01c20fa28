//! What a client says, and what it has to hear.

use crate::random::{Purpose, Random};

pub(crate) trait Dialogue {
    /// The message with that number on that connection, and what the server answers it with.
    fn exchange(&self, connection: usize, number: u64) -> (&[u8], &[u8]);
}

/// Bytes to cut messages from: at so many offsets they begin.
const LENGTH: usize = 64 << 10;

/// Messages of one size that are to come back: bytes that no other message says at the same place.
pub(crate) struct Echoes {
    bytes: Vec<u8>,
    size: usize,
}

impl Echoes {
    pub(crate) fn new(seed: u64, size: usize) -> Self {
        let mut random = Random::new(seed, Purpose::Work, u64::MAX);
        let bytes = (0..LENGTH + size).map(|_| random.below(256) as u8).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ() {
        let echoes = Echoes::new(1, 64);
        let of = |connection| (0..10).map(move |number| (connection, number));
        let all = (0..100).flat_map(of).map(|(connection, number)| echoes.exchange(connection, number).0);
        let messages: std::collections::BTreeSet<&[u8]> = all.collect();
        assert!(messages.len() > 980, "of 1,000 offsets out of 65,536 some eight coincide");
    }
}
