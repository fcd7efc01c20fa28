//! Names, as words of the file.

use crate::layout::{NAME_BYTES, NAME_WORDS};

/// As much of a name as is kept.
pub(crate) fn to_words(name: &str) -> [u64; NAME_WORDS - 2] {
    let mut bytes = [0; NAME_BYTES];
    let end = (0..=name.len().min(NAME_BYTES)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
    let word =
        |at: usize| bytes[8 * at..8 * at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    std::array::from_fn(word)
}

pub(crate) fn from_words(words: &[u64]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
