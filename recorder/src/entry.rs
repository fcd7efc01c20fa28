//! [`Entry`]: what a record says of a period.

/// What happened in a period, as words of a record.
pub(crate) trait Entry: Copy {
    /// How many words it is.
    const WORDS: usize;
    /// An array of them.
    type Words: AsRef<[u64]>;

    /// Adds what came later.
    fn add_later(&mut self, later: &Self);

    fn words(&self) -> Self::Words;

    /// None if there are more words, or fewer.
    fn from_words(words: &[u64]) -> Option<Self>;
}
