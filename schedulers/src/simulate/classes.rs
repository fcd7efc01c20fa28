//! Jobs by size: [`Classes`].

use super::Service;
use super::duration::format_ns;

/// Which jobs are reported together: those whose sizes lie between the same two bounds.
///
/// ```
/// use clockworker_schedulers::simulate::{Classes, Service};
///
/// let service = Service::bimodal(10_000, 10_000_000, 0.005).unwrap();
/// let classes = Classes::of(&service);
/// assert_eq!(classes.titles(), ["= 10us", "= 10ms"]);
/// assert_eq!((classes.of_size(10_000), classes.of_size(10_000_000)), (0, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The last size of each class but the last.
    bounds: Vec<u64>,
    titles: Vec<String>,
}

/// So many sizes, and no more, have a class each.
const FEW: usize = 4;

impl Classes {
    /// The classes that end with these sizes, and one above them.
    pub fn at(bounds_ns: impl IntoIterator<Item = u64>) -> Self {
        let mut bounds: Vec<u64> = bounds_ns.into_iter().collect();
        bounds.sort_unstable();
        bounds.dedup();
        let titles = match bounds.last() {
            None => vec!["all".to_owned()],
            Some(last) => {
                let up_to = bounds.iter().map(|bound| format!("≤ {}", format_ns(*bound as f64)));
                up_to.chain([format!("> {}", format_ns(*last as f64))]).collect()
            }
        };
        Self { bounds, titles }
    }

    /// One for each size, where there are at most four; else the small half, the next 40 %, the next 9 %, and the largest
    /// hundredth.
    pub fn of(service: &Service) -> Self {
        match service.few_sizes(FEW) {
            Some(sizes) => Self {
                titles: sizes.iter().map(|size| format!("= {}", format_ns(*size as f64))).collect(),
                bounds: sizes[..sizes.len() - 1].to_vec(),
            },
            None => Self::at([0.5, 0.9, 0.99].map(|part| service.quantile(part))),
        }
    }

    /// The place of a size's class.
    #[inline]
    pub fn of_size(&self, size_ns: u64) -> usize {
        self.bounds.partition_point(|bound| *bound < size_ns)
    }

    /// What each is called.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_the_class_that_it_ends() {
        let classes = Classes::at([1_000, 20_000]);
        assert_eq!(classes.titles(), ["≤ 1us", "≤ 20us", "> 20us"]);
        assert_eq!([1, 1_000, 1_001, 20_000, 20_001].map(|size| classes.of_size(size)), [0, 0, 1, 1, 2]);
        assert_eq!(Classes::at([]).titles(), ["all"]);
    }

    #[test]
    fn continuous_sizes_are_cut_at_quantiles() {
        let classes = Classes::of(&Service::exponential(20_000.0).unwrap());
        assert_eq!(classes.titles().len(), 4);
        assert_eq!([13_863, 13_864, 46_053, 92_104].map(|size| classes.of_size(size)), [0, 1, 2, 3]);
    }
}
