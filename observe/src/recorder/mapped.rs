//! [`Mapped`]: a file as words in memory.

use std::fs::File;
use std::io::{self, Read};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapMut;

/// A file that this process has created, as words that other processes may read at any time.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapMut,
}

impl Mapped {
    /// Makes the file so many words long, which are zeros, and maps it.
    ///
    /// The zeros are written, so that a disk that is full is an error here. (A page without room would end the process by a signal
    /// when it is touched.)
    pub(crate) fn new(mut file: &File, words: usize) -> io::Result<Self> {
        io::copy(&mut io::repeat(0).take(words as u64 * 8), &mut file)?;
        // SAFETY: all access is by atomics (`words`), so it may change under us. If it is made shorter, access ends the process
        // by a signal, and nothing else: the docs of `Recorder::create` say so.
        let map = unsafe { MmapMut::map_mut(file) }?;
        Ok(Self { map })
    }

    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: a map begins at a page, so it is aligned; it is whole words long, lives as long as `self`, and is accessed by
        // these atomics only.
        unsafe { slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / 8) }
    }

    /// Writes words one after the other. A reader may see the first of them.
    pub(crate) fn set(&self, at: usize, values: &[u64]) {
        for (word, &value) in self.words()[at..].iter().zip(values) {
            word.store(value, Ordering::Release);
        }
    }
}
