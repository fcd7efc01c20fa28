//! [`Mapped`]: a file as words in memory.

use std::fs::File;
use std::io::{self, Read};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapMut;

use crate::layout;

/// A file that this process has created, as words that other processes may read at any time.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapMut,
}

impl Mapped {
    /// Maps a new file, and makes it so many words long, which are zeros.
    ///
    /// They are written, so that a disk that is full is an error here. (A page for which there is no room when it is first touched
    /// would end the process by a signal.)
    pub(crate) fn new(mut file: &File, words: usize) -> io::Result<Self> {
        io::copy(&mut io::repeat(0).take(words as u64 * 8), &mut file)?;
        // SAFETY: all access is by atomics (`words`), so it may change under us. If it is made shorter, access ends the process
        // by a signal, and nothing else: the docs of `Recorder::create` say so.
        let map = unsafe { MmapMut::map_mut(file) }?;
        Ok(Self { map })
    }

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: a map begins at a page, so it is aligned; it is whole words long, lives as long as `self`, and is accessed by
        // these atomics only.
        unsafe { slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / 8) }
    }

    /// Some words. None where the file has ended.
    #[inline]
    pub(crate) fn some<const N: usize>(&self, at: usize) -> Option<&[AtomicU64; N]> {
        self.words().get(at..)?.first_chunk()
    }

    /// Writes words one after the other. A reader may see some of them.
    pub(crate) fn set(&self, at: usize, values: &[u64]) {
        for (word, &value) in self.words()[at..at + values.len()].iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Writes words one after the other, and behind them their checksum, by which a reader knows whether it sees all of them.
    #[inline]
    pub(crate) fn set_checked(&self, at: usize, parts: [&[u64]; 2]) {
        let (mut end, mut sum) = (at, layout::CHECKSUM);
        for part in parts {
            self.set(end, part);
            sum = layout::check(sum, part);
            end += part.len();
        }
        self.set(end, &[sum]);
    }
}
