//! A key, its value, and a checksum that tells whether they are what was written.

use std::rc::Rc;

use hyper::body::Bytes;

/// An entry of the store. A clone shares key and value with it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Rc<str>,
    pub(crate) value: Bytes,
    checksum: u64,
}

impl Entry {
    pub(crate) fn new(key: &str, value: Bytes) -> Self {
        let checksum = fnv(&[key.as_bytes(), &value]);
        Self { key: key.into(), value, checksum }
    }

    pub(crate) fn is_intact(&self) -> bool {
        self.checksum == fnv(&[self.key.as_bytes(), &self.value])
    }
}

/// The hash of Fowler, Noll and Vo (FNV-1a), of these parts one after the other.
pub(crate) fn fnv(parts: &[&[u8]]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, step)
}
