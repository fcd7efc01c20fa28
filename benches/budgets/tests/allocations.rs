//! Counts every operation's allocations, with an allocator that counts and without valgrind, and compares them with the
//! budgets. So this needs a Rust toolchain only, and says that callgrind and the allocator see the same.

use std::collections::BTreeSet;
use std::sync::Mutex;

use clockworker_budgets::budgets::Budgets;
use clockworker_budgets::operations::{COUNTED_OPERATIONS, Operation, SIZES};
use clockworker_budgets::region::Region;
use clockworker_testing::memory::{Allocated, COUNTING, Counting};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// What a burst of tasks allocates for each: a cell, unless the executor has kept one, and now and then room in a list.
const MOST_IN_BURST: f64 = 1.0 + 1.0 / 1024.0;

/// Allocations in each counted call.
#[derive(Default)]
struct Counts(Mutex<Vec<i64>>);

impl Region for Counts {
    fn count(&self, _: u64, work: &mut dyn FnMut()) {
        let before = Allocated::now();
        work();
        let counted = (Allocated::now() - before).requests;
        self.0.lock().unwrap().push(counted);
    }
}

// One test: another beside it would allocate while this one counts.
#[test]
fn operations_allocate_as_often_as_their_budgets_say() {
    let budgets = Budgets::read().unwrap();
    let mut keys = BTreeSet::new();
    for operation in Operation::all() {
        // Of two operations of one key, only one would have a budget.
        assert!(keys.insert(operation.key), "{operation:?}");
        let counts = Counts::default();
        (operation.run)(&counts);
        let counts = counts.0.into_inner().unwrap();
        assert_eq!(counts.len(), SIZES.len(), "{operation:?}");
        let Some(budget) = budgets.of_key(operation.key) else { continue };
        let each = (counts[2] - counts[1]) as f64 / COUNTED_OPERATIONS as f64;
        // How many cells are kept depends on their size, and so on features. All else allocates exactly as often as its budget says.
        let fits = match budget.allocations.fract() {
            0.0 => each == budget.allocations,
            _ => each <= MOST_IN_BURST,
        };
        assert!(fits, "{operation:?}: {each} of {counts:?}, budget {}", budget.allocations);

        // The file must not be changed to say otherwise.
        let key = operation.key;
        if key.starts_with("poll") || key.starts_with("wake") || key == "hop" {
            assert_eq!(budget.allocations, 0.0, "{operation:?} is not to allocate");
        }
    }
}
