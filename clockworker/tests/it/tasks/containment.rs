//! A panic at every place, at every time, whoever has the task's handle: the tasks beside it complete.

use clockworker_testing::containment::{Outcome, all};
use clockworker_testing::policy::Policy;

#[test]
fn all_survive_in_every_case() {
    let (cases, mut sum) = (all(Policy::ALL), Outcome::default());
    for case in &cases {
        case.play(&mut sum).unwrap();
        assert!(sum.is_whole(), "{case:?}: with the cases before, {sum:?}");
    }
    // Not each case gets as far as its panic, but most do.
    assert!(sum.panics > cases.len() as u64 / 2, "{sum:?} in {} cases", cases.len());
}
