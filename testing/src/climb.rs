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

#[cfg(test)]
mod tests {
    use super::climb;

    #[test]
    fn it_climbs_to_the_top_and_stays_there() {
        let mut random = fastrand::Rng::with_seed(1);
        let step = |at: &i32| at + random.i32(-1..=1);
        assert_eq!(climb(0, 1_000, step, |at| -(at - 30).abs()), (30, 0));
    }
}
