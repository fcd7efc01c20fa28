//! Means.

/// The mean of some samples, and its standard error: none of less than two.
pub(crate) fn mean_and_error(samples: &[f64]) -> (f64, Option<f64>) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, (samples.len() > 1).then(|| (squares / (count * (count - 1.0))).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_one_has_no_error() {
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, Some(1.0)));
        assert_eq!(mean_and_error(&[5.0]), (5.0, None));
    }
}
