//! What the messages say: bytes that no other message says at the same place.

use super::dialogue::Dialogue;
use crate::random::{Purpose, Random};

/// Bytes to cut messages from; more than the largest message by a prime, so that offsets do not repeat soon.
const LENGTH: usize = 64 << 10;

/// The contents of all messages of one size.
#[derive(Debug)]
pub struct Pattern {
    bytes: Vec<u8>,
    size: usize,
}

impl Pattern {
    /// Of messages of `size` bytes.
    pub fn new(seed: u64, size: usize) -> Self {
        let mut random = Random::new(seed, Purpose::Work, u64::MAX);
        let bytes = (0..LENGTH + size).map(|_| random.below(256) as u8).collect();
        Pattern { bytes, size }
    }

    /// The message with that number on that connection.
    pub fn message(&self, connection: usize, number: u64) -> &[u8] {
        let mixed = (number ^ (connection as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let offset = (mixed >> 32) as usize % LENGTH;
        &self.bytes[offset..offset + self.size]
    }
}

/// Every message is to come back.
impl Dialogue for Pattern {
    fn request(&self, connection: usize, number: u64) -> &[u8] {
        self.message(connection, number)
    }

    fn answer(&self, connection: usize, number: u64) -> &[u8] {
        self.message(connection, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ() {
        let pattern = Pattern::new(1, 64);
        let mut messages: Vec<&[u8]> = (0..100)
            .flat_map(|connection| (0..10).map(move |number| (connection, number)))
            .map(|(connection, number)| pattern.message(connection, number))
            .collect();
        assert!(messages.iter().all(|message| message.len() == 64));
        messages.sort_unstable();
        messages.dedup();
        assert!(
            messages.len() > 980,
            "of 1,000 offsets out of 65,536 some eight coincide: {}",
            messages.len()
        );
    }
}
