//! Trees of queues that always have work, beside a flat server in exact fractions, which gives each queue at each moment the
//! product of its shares.

use fastrand::Rng;

use super::super::tree::{Claim, Tree, ahead, behind, cases, whole};

fn claim(random: &mut Rng) -> Claim {
    let longest = random.choice([100, 10_000, 100_000]).unwrap();
    Claim {
        share: random.choice([1, 1, 2, 3, 9, 20]).unwrap(),
        request: random.choice([1_000, 10_000, 50_000, 500_000]).unwrap(),
        poll: random.u64(1..=longest),
    }
}

/// Up to 14 queues, up to four deep.
fn tree(random: &mut Rng) -> Tree {
    let mut tree = Tree::default();
    for number in 0..random.usize(2..15) {
        let above = random.usize(..2 * number + 1);
        let parent = tree.ids.get(above).copied().filter(|&above| tree.tree.depth(above) < 3);
        let claim = claim(random);
        tree.add(parent, claim);
    }
    tree
}

/// No queue is ever farther from the product of its shares than the bounds of its branches add up to.
#[test]
fn each_gets_the_product_of_its_shares() {
    let mut deepest = 0;
    for seed in 0..cases() {
        let mut tree = tree(&mut Rng::with_seed(seed));
        let ids = tree.ids.clone();
        ids.iter().for_each(|&id| tree.wake(id));
        let limit = |&id| {
            let behind = tree.bound(id, |claim, others| behind(claim, others, 0));
            (tree.part(id), behind, tree.bound(id, ahead))
        };
        let limits: Vec<_> = ids.iter().map(limit).collect();
        deepest = deepest.max(ids.iter().map(|&id| tree.levels(id).len()).max().unwrap());
        let (mut time, mut served) = (0, vec![0; limits.len()]);
        for _ in 0..200 {
            let (id, ns) = tree.slice().unwrap();
            time += ns;
            served[id.index()] += ns;
            for (queue, &(part, behind, ahead)) in limits.iter().enumerate() {
                let owed = (part * whole(time) - whole(served[queue])).ceil().to_integer();
                // 1 ns for the rounding of shares.
                assert!(owed <= behind + 1, "seed {seed}, queue {queue}: {owed} ns behind, bound {behind}");
                assert!(-owed <= ahead + 1, "seed {seed}, queue {queue}: {} ns ahead, bound {ahead}", -owed);
            }
        }
    }
    assert_eq!(deepest, 4);
}
