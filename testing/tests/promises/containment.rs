//! Promise 11: a panic stays in its task, wherever it strikes. `clockworker_testing::containment` has the cases.

use clockworker_testing::containment::{Outcome, all};
use clockworker_testing::effort::is_long;
use clockworker_testing::policy::Policy;
use clockworker_testing::watchdog::{PATIENCE, watch};

#[test]
fn all_other_tasks_complete_and_all_handles_resolve() {
    let cases = all(if is_long() { Policy::ALL } else { &Policy::ALL[..1] });
    let tried = cases.clone();
    let sum = watch(
        PATIENCE,
        move |pulse| {
            let mut sum = Outcome::default();
            for case in tried {
                case.play(&mut sum).unwrap();
                assert!(sum.is_whole(), "{case:?}: with the cases before it, {sum:?}");
                pulse.beat(1);
            }
            sum
        },
        |done| format!("{:?}", cases.get(done as usize)),
    );
    println!("{} cases: {sum:?}", cases.len());
    assert!(sum.panics > 0 && sum.survivors > 0 && sum.handles > 0);
}
