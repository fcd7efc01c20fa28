//! What is where in the file, in words of 64 bits, in the machine's order of bytes.
//!
//! ```text
//! file:   header | series | a ring of frames, one for each period
//! series: count of all values | their sum | the greatest, and the inverse of the least, since the recorder's last call | name
//! frame:  mark | number | length in bytes | content | checksum
//! ```
//!
//! A frame that was being written when it is read, or when the process was killed, has a wrong checksum. Each live word stands for
//! itself. The first word of a name is written last.

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"CWRECORD");
pub(crate) const VERSION: u64 = 4;

/// The places of the header's words.
pub(crate) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const PROCESS: usize = 2;
    /// The length of the file, in words.
    pub(crate) const LENGTH: usize = 3;
    pub(crate) const WORDS: usize = 8;
}

pub(crate) const MAX_SERIES: usize = 64;
pub(crate) const LIVE_WORDS: usize = 4;
const NAME_WORDS: usize = 8;
/// Bytes of a series' name.
pub(crate) const MAX_NAME: usize = 8 * NAME_WORDS;
pub(crate) const SERIES_WORDS: usize = LIVE_WORDS + NAME_WORDS;
pub(crate) const SERIES: usize = header::WORDS;
pub(crate) const RING: usize = SERIES + MAX_SERIES * SERIES_WORDS;

const MARK: u64 = u64::from_le_bytes(*b"CW-FRAME");
const FRAME_HEAD: usize = 3;

/// Bytes as words, with zeros behind them.
pub(crate) fn words_of(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    })
}

pub(crate) fn bytes_of(words: &[u64]) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_ne_bytes())
}

/// A frame, as it is in the file.
pub(crate) fn frame(number: u64, content: &[u8]) -> Vec<u64> {
    let mut frame = vec![MARK, number, content.len() as u64];
    frame.extend(words_of(content));
    frame.push(checksum(&frame));
    frame
}

/// The frame that begins there, if it is whole: its number, its content, and how many words it takes.
pub(crate) fn read_frame(words: &[u64]) -> Option<(u64, Vec<u8>, usize)> {
    let &[MARK, number, length, ..] = words else { return None };
    let length = usize::try_from(length).ok()?;
    let end = FRAME_HEAD + length.div_ceil(8);
    let (frame, sum) = (words.get(..end)?, words.get(end)?);
    let content = bytes_of(&frame[FRAME_HEAD..]).take(length).collect();
    (*sum == checksum(frame)).then_some((number, content, end + 1))
}

/// FNV-1a's constants, by words.
fn checksum(words: &[u64]) -> u64 {
    let add = |sum: u64, word: &u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    words.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
