//! Hill climbing: a search for the input that scores most.

/// Changes an input `tries` times, keeps each change that does not score less, and returns the last one kept with its score.
///
/// A change that scores as much is kept too: it may lead elsewhere.
pub fn climb<I, S: PartialOrd>(
    start: I,
    tries: usize,
    mut change: impl FnMut(&I) -> I,
    mut score: impl FnMut(&I) -> S,
) -> (I, S) {
    let mut best = score(&start);
    let mut input = start;
    for _ in 0..tries {
        let next = change(&input);
        let found = score(&next);
        if found >= best {
            (input, best) = (next, found);
        }
    }
    (input, best)
}
