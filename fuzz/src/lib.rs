//! What the fuzz targets run: each takes bytes, makes a scene of them, and panics if a promise is broken.

pub mod eevdf;
pub mod hostile;
pub mod quiet;

/// Bytes that decide. Once they are used up, each further one is zero.
#[derive(Debug, Default)]
pub struct Script {
    bytes: Box<[u8]>,
    at: std::cell::Cell<usize>,
}

impl Script {
    /// A script of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), at: Default::default() }
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
}
