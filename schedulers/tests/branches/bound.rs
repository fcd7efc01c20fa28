//! What a queue at depth k gets whatever the others do: docs/BOUNDS.md, attacked by a search.

use super::support::{Claim, Fraction, Random, Tree, behind};

/// A program of the others: before each slice, one of them falls asleep or wakes up, or nothing happens.
type Program = Vec<Option<usize>>;

const fn claim(share: u64, request: u64, poll: u64) -> Claim {
    Claim { share, request, poll }
}

/// Who always has work, three deep, and what is beside it and beside those above it.
fn world(shape: u64) -> (Tree, usize) {
    let [way, share, request, poll] =
        [[50, 1, 1_000, 50_000], [2, 1, 10_000, 2_000], [2, 9, 10_000, 50_000], [3, 1, 500_000, 7_000]]
            [shape as usize % 4];
    let mut tree = Tree::new();
    let top = tree.add(None, claim(way, 20_000, 1_000));
    let middle = tree.add(Some(top), claim(way, 10_000, 1_000));
    let victim = tree.add(Some(middle), claim(way, 10_000, 1_000));
    for parent in [None, None, Some(top), Some(top), Some(middle), Some(middle)] {
        tree.add(parent, claim(share, request, poll));
    }
    (tree, victim)
}

/// B of docs/BOUNDS.md in one branch, where no share changes.
fn bound_in_branch(claim: &Claim, others: &[Claim]) -> Fraction {
    let turns = others.iter().chain([claim]).map(|claim| claim.request + claim.poll);
    let kept = 2 * turns.max().unwrap_or(0);
    behind(claim, others, kept) + Fraction::whole(claim.request + claim.poll + kept)
}

/// The greatest shortfall of the victim in any stretch, by a program that is run over and over.
fn attack(program: &Program, shape: u64) -> i128 {
    let (mut tree, victim) = world(shape);
    let part = tree.part(victim);
    tree.wake(victim);
    let mut awake = vec![false; tree.queues.len()];
    let (mut owed, mut least, mut worst) = (Fraction::whole(0), Fraction::whole(0), 0);
    for step in 0..400 {
        if let Some(queue) = program[step % program.len()] {
            let queue = if queue >= victim { queue + 1 } else { queue };
            if awake[queue] {
                tree.sleep(queue)
            } else {
                tree.wake(queue)
            }
            awake[queue] = !awake[queue];
        }
        let (queue, ns) = tree.slice().unwrap();
        owed = owed + part * Fraction::whole(ns);
        if queue == victim {
            owed = owed.minus(Fraction::whole(ns));
        }
        least = least.minus(least.max(owed).minus(owed));
        worst = worst.max(owed.minus(least).ceil());
    }
    worst
}

#[test]
fn no_program_takes_more_from_a_queue_three_deep_than_its_bound() {
    const SEED: u64 = 0x5eed;
    let mut random = Random::new(SEED);
    for start in 0..12 {
        let (tree, victim) = world(start);
        let bound = tree.bound(victim, bound_in_branch).ceil();
        let steady = tree.bound(victim, |claim, others| behind(claim, others, 0)).ceil();
        let others = tree.queues.len() as u64 - 1;
        let mut draw = || random.below(2 * others).checked_sub(others).map(|queue| queue as usize);
        let mut program: Program = (0..24).map(|_| draw()).collect();
        let mut best = attack(&program, start);
        for at in (0..24).cycle().take(150) {
            let mut next = program.clone();
            next[at] = draw();
            let found = attack(&next, start);
            if found >= best {
                (program, best) = (next, found);
            }
        }
        assert!(best <= bound, "seed {SEED:#x}, start {start}: {best} ns, bound {bound}, by {program:?}");
        // Where long polls of small shares meet a large one, it comes near to where all others always have work.
        let near = start % 4 != 0 || 5 * best >= 4 * steady;
        assert!(near, "seed {SEED:#x}, start {start}: only {best} ns, steady {steady}");
    }
}
