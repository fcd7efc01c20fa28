//! Bytes that decide, read one after the other.

use std::cell::Cell;

/// Bytes that decide what happens. Once they are used up, each further one is zero.
#[derive(Debug, Default)]
pub struct Tape {
    bytes: Box<[u8]>,
    at: Cell<usize>,
}

impl Tape {
    /// A tape of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), at: Cell::default() }
    }

    /// Whether all bytes are used up.
    pub fn is_over(&self) -> bool {
        self.at.get() >= self.bytes.len()
    }

    /// The next byte, if there is one.
    pub fn try_next(&self) -> Option<u8> {
        let byte = *self.bytes.get(self.at.get())?;
        self.at.set(self.at.get() + 1);
        Some(byte)
    }

    /// The next byte.
    pub fn byte(&self) -> u8 {
        self.try_next().unwrap_or(0)
    }

    /// The next byte, modulo `end`.
    pub fn below(&self, end: u8) -> u8 {
        self.byte() % end
    }
}
