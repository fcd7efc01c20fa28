//! What a queue at depth k gets whatever the others do: docs/BOUNDS.md, attacked by a search.

use clockworker_schedulers::QueueId;
use clockworker_testing::climb::climb;
use fastrand::Rng;

use super::super::tree::{Claim, Exact, Tree, behind, whole};

/// Steps of a program, which is run over and over.
const STEPS: usize = 24;

/// A program of the others: before each slice, one of them falls asleep or wakes up, or nothing happens.
type Program = [Option<usize>; STEPS];

const fn claim(share: u32, request: u64, poll: u64) -> Claim {
    Claim { share, request, poll }
}

/// On the way down to a queue that always has work, three deep, `way` has the shares, and each of two others beside it the claim
/// `beside`.
struct Shape {
    way: u32,
    beside: Claim,
}

const SHAPES: [Shape; 4] = [
    Shape { way: 50, beside: claim(1, 1_000, 50_000) },
    Shape { way: 2, beside: claim(1, 10_000, 2_000) },
    Shape { way: 2, beside: claim(9, 10_000, 50_000) },
    Shape { way: 3, beside: claim(1, 500_000, 7_000) },
];

impl Shape {
    fn tree(&self) -> (Tree, QueueId) {
        let mut tree = Tree::default();
        let top = tree.add(None, claim(self.way, 20_000, 1_000));
        let middle = tree.add(Some(top), claim(self.way, 10_000, 1_000));
        let victim = tree.add(Some(middle), claim(self.way, 10_000, 1_000));
        for parent in [None, None, Some(top), Some(top), Some(middle), Some(middle)] {
            tree.add(parent, self.beside);
        }
        (tree, victim)
    }

    /// The greatest shortfall of the victim in any stretch.
    fn shortfall(&self, program: &Program) -> i128 {
        let (mut tree, victim) = self.tree();
        let part = tree.part(victim);
        tree.wake(victim);
        let others: Vec<QueueId> = tree.ids.iter().copied().filter(|&id| id != victim).collect();
        let mut awake = vec![false; others.len()];
        let (mut owed, mut least, mut worst) = (whole(0), whole(0), whole(0));
        for step in 0..400 {
            if let Some(nth) = program[step % STEPS] {
                if awake[nth] {
                    tree.sleep(others[nth])
                } else {
                    tree.wake(others[nth])
                }
                awake[nth] = !awake[nth];
            }
            let (id, ns) = tree.slice().unwrap();
            owed += part * whole(ns);
            if id == victim {
                owed -= whole(ns);
            }
            least = least.min(owed);
            worst = worst.max(owed - least);
        }
        worst.ceil().to_integer()
    }
}

/// B of docs/BOUNDS.md in one branch, where no share changes.
fn bound_in_branch(claim: &Claim, others: &[Claim]) -> Exact {
    let turns = others.iter().chain([claim]).map(|claim| claim.request + claim.poll);
    let kept = 2 * turns.max().unwrap_or(0);
    behind(claim, others, kept) + whole(claim.request + claim.poll + kept)
}

#[test]
fn no_program_takes_more_from_a_queue_three_deep_than_its_bound() {
    for seed in 0..12 {
        let mut random = Rng::with_seed(seed);
        let nth = seed as usize % SHAPES.len();
        let shape = &SHAPES[nth];
        let (tree, victim) = shape.tree();
        let others = tree.ids.len() - 1;
        let draw = |random: &mut Rng| random.usize(..2 * others).checked_sub(others);
        let start: Program = core::array::from_fn(|_| draw(&mut random));
        let mut at = (0..STEPS).cycle();
        let change = |program: &Program| {
            let mut changed = *program;
            changed[at.next().unwrap()] = draw(&mut random);
            changed
        };
        let (program, worst) = climb(start, 150, change, |program| shape.shortfall(program));
        let bound = tree.bound(victim, bound_in_branch);
        assert!(worst <= bound, "seed {seed}: {worst} ns, bound {bound}, by {program:?}");
        // Where long polls of small shares meet a large one, it comes near to where all others always have work.
        let steady = tree.bound(victim, |claim, others| behind(claim, others, 0));
        assert!(nth > 0 || 5 * worst >= 4 * steady, "seed {seed}: only {worst} ns, steady {steady}");
    }
}
