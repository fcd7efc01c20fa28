//! Property test: a state machine whose transitions are the programs' ops, done on Clockworker and on the reference executor,
//! and compared after each.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` say how many cases and of which seed; without them it is 600 of seed 0. A
//! failure is shrunk and shown, with its seed.

use std::env;

use clockworker_testing::policy::Policy;
use clockworker_testing::programs::{Numbering, On, Op, Pair, Script, TaskName};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

const CASES: u32 = 600;

fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0);
    }
    config
}

/// What transitions depend on: the names that were given so far.
#[derive(Clone, Debug, Default)]
struct Known {
    names: Numbering,
}

impl ReferenceStateMachine for Known {
    type State = Known;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Known> {
        Just(Known::default()).boxed()
    }

    fn transitions(known: &Known) -> BoxedStrategy<Op> {
        let names = known.names.clone();
        // Some more than there are: those of the children of what comes next.
        let named = op(names.given() + 3);
        named.prop_map(move |op| names.clone().rename(op)).boxed()
    }

    fn apply(mut known: Known, op: &Op) -> Known {
        known.names.skip_past(op);
        known
    }
}

fn op(names: TaskName) -> impl Strategy<Value = Op> + Clone {
    act(names).prop_recursive(2, 24, 6, move |inner| {
        prop_oneof![1 => act(names), 1 => (on(), script(names, inner)).prop_map(|(on, script)| {
            Op::Spawn { on, script: script.into() }
        })]
    })
}

/// All but a spawn.
fn act(names: TaskName) -> impl Strategy<Value = Op> + Clone {
    let name = move || 0..names;
    let (slot, share) = (|| 0..4_u8, || 1..=16_u32);
    prop_oneof![
        4 => Just(Op::Park),
        4 => (1..=3_u8).prop_map(Op::Yield),
        3 => name().prop_map(Op::Join),
        1 => Just(Op::Panic),
        3 => (0..=800_u16).prop_map(Op::Work),
        3 => name().prop_map(Op::Wake),
        2 => name().prop_map(Op::WakeElsewhere),
        1 => name().prop_map(Op::DropWakerElsewhere),
        2 => name().prop_map(Op::Abort),
        1 => name().prop_map(Op::AbortElsewhere),
        2 => name().prop_map(Op::DropHandle),
        1 => name().prop_map(Op::DropHandleElsewhere),
        2 => (slot(), share(), policy()).prop_map(|(slot, share, policy)| Op::Create { slot, share, policy }),
        1 => (slot(), share()).prop_map(|(slot, share)| Op::Share { slot, share }),
        1 => (slot(), policy()).prop_map(|(slot, policy)| Op::Scheduler { slot, policy }),
        1 => slot().prop_map(Op::Close),
    ]
}

fn on() -> impl Strategy<Value = On> + Clone {
    prop_oneof![2 => Just(On::Beside), 1 => (0..4_u8).prop_map(On::Queue), 1 => (0..4_u8).prop_map(On::Elsewhere)]
}

fn policy() -> impl Strategy<Value = Policy> + Clone {
    prop_oneof![1 => Just(Policy::RunnableFifo), 1 => prop::sample::select(Policy::ALL)]
}

fn script(names: TaskName, op: impl Strategy<Value = Op> + 'static) -> impl Strategy<Value = Script> {
    let rarely = || prop::bool::weighted(0.1);
    let steps = prop::collection::vec(op, 0..6);
    let wakes = prop::option::weighted(0.2, 0..names);
    (steps, wakes, rarely(), rarely()).prop_map(|(steps, wakes_at_drop, panics_at_drop, output_panics)| {
        Script { steps, wakes_at_drop, panics_at_drop, output_panics, ..Script::default() }
    })
}

/// Both executors.
struct Both;

impl StateMachineTest for Both {
    type SystemUnderTest = Pair;
    type Reference = Known;

    fn init_test(_: &Known) -> Pair {
        Pair::new()
    }

    fn apply(mut pair: Pair, _: &Known, op: Op) -> Pair {
        if let Err(difference) = pair.step(&op) {
            panic!("seed {:?}, at {op:?}:\n{difference}", config().rng_seed);
        }
        pair
    }

    fn teardown(pair: Pair, _: Known) {
        match pair.end() {
            Ok(outcome) => assert!(outcome.audit().is_clean(), "{:?}", outcome.audit()),
            Err(difference) => panic!("seed {:?}, at the end:\n{difference}", config().rng_seed),
        }
    }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn any_sequence_of_operations_is_seen_alike_on_both(sequential 1..40 => Both);
}
