//! A million short-lived tenants, and the memory that policies keep of them.

use clockworker::schedulers::{
    Attributes, FairGroups, Gone, GroupId, Las, Qlas, Ready, Scheduler, Serpt, Served, Subject, Task, TaskId,
};
use clockworker_testing::memory::{Allocated, COUNTING, Counting};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

const TENANTS: u64 = 1_000_000;

/// Until then all has grown that grows: what policies remember of closed groups is looked through every 4,096 closings, at most.
const WARM: u64 = 10_000;

/// What is always there, and has work.
const WORKER: Task = Task { id: TaskId::new(0, 0), group: GroupId::new(1) };

/// The one that comes and goes.
const TENANT: Task = Task { id: TaskId::new(1, 0), group: GroupId::new(3) };

/// One tenant: its only task has one poll. It closes in debt.
fn come_and_go(policy: &mut impl Scheduler, key: u64) {
    policy.said(Subject::NewGroup { group: TENANT.group, key }, &Attributes::new());
    policy.push(TENANT, Ready::Spawned);
    while policy.pop().expect("two tasks are ready") == WORKER.id {
        policy.served(Served::Task { task: WORKER, polls: 1, ns: 8_000 }, 0);
        policy.push(WORKER, Ready::Yielded);
    }
    policy.served(Served::Task { task: TENANT, polls: 1, ns: 5_000 }, 0);
    policy.gone(Gone::Task(TENANT));
    policy.gone(Gone::Group(TENANT.group));
}

/// The most bytes that a policy had while tenants of these keys came and went.
fn most_bytes(policy: &mut impl Scheduler, keys: std::ops::Range<u64>) -> i64 {
    let bytes = keys.map(|key| {
        come_and_go(policy, key);
        Allocated::now().bytes
    });
    bytes.max().expect("there are tenants")
}

fn memory_is_flat(name: &str, mut policy: impl Scheduler) {
    policy.said(Subject::NewGroup { group: WORKER.group, key: u64::MAX }, &Attributes::new());
    policy.push(WORKER, Ready::Spawned);
    // Alone for ten seconds, so that it has been wherever its own service can bring it.
    for _ in 0..1_000_000 {
        let worker = policy.pop();
        assert_eq!(worker, Some(WORKER.id));
        policy.served(Served::Task { task: WORKER, polls: 1, ns: 10_000 }, 0);
        policy.push(WORKER, Ready::Yielded);
    }
    let warm = most_bytes(&mut policy, 0..WARM);
    let most = most_bytes(&mut policy, WARM..TENANTS);
    assert!(most <= warm, "{name}: {most} bytes after {TENANTS} tenants, {warm} after {WARM}");
}

// One test, as the count is the process's.
#[test]
fn a_million_tenants_take_no_more_memory_than_ten_thousand() {
    memory_is_flat("FairGroups", FairGroups::new());
    memory_is_flat("Las", Las::new());
    memory_is_flat("Qlas", Qlas::new());
    memory_is_flat("Serpt", Serpt::new());
}
