//! Promise 8: an executor whose tasks all wait costs nothing.

use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::Executor;
use clockworker_testing::effort::{is_long, pick};
use clockworker_testing::host::Host;
use tokio::sync::oneshot::{self, Receiver};

const TASKS: usize = 1_000;

/// Waits on each host. The least CPU time of them counts: an executor that is not idle shows it in each, what the machine takes
/// beside it in some.
const WAITS: u32 = 5;

/// The part of a long wait that going to sleep and waking up once may take of a processor.
const MOST_CPU: f64 = 0.001;

#[test]
fn neither_the_host_nor_a_task_is_polled() {
    // A host that spins is never idle.
    for &host in Host::ALL.iter().filter(|&&host| host != Host::Spinning) {
        wait_on(host, pick(Duration::from_millis(50), Duration::from_secs(2)));
    }
}

fn wait_on(host: Host, wait: Duration) {
    let ex = Rc::new(Executor::new());
    let create = |(name, share)| ex.new_queue(name).share(share).create().unwrap();
    let queues = [("a", 1), ("b", 3), ("c", 1)].map(create);
    for queue in queues.iter().cycle().take(TASKS) {
        let _detached = queue.spawn(std::future::pending::<()>());
    }
    let waits = async {
        // All tasks have been polled, and the host has settled.
        for _ in 0..100 {
            clockworker::yield_now().await;
        }
        sent_after(Duration::from_millis(10)).await.unwrap();
        let mut least_cpu = None;
        for _ in 0..WAITS {
            let sent = sent_after(wait);
            let (cpu_before, before) = (cpu_ns(), ex.stats());
            sent.await.unwrap();
            let (cpu, after) = (cpu_ns(), ex.stats());
            // The poll that this goes on in was for the wake.
            assert_eq!(after.host_polls - before.host_polls - 1, 0, "host polls while idle, {host:?}");
            assert_eq!(after.polls - before.polls, 0, "polls of tasks while idle, {host:?}");
            least_cpu =
                cpu.zip(cpu_before).map(|(cpu, before)| cpu - before).into_iter().chain(least_cpu).min();
        }
        let part = least_cpu.map(|ns| ns as f64 / wait.as_nanos() as f64);
        println!("{host:?}: {part:?} of a processor while idle");
        assert!(!is_long() || part.is_none_or(|part| part < MOST_CPU), "{part:?} of a processor, {host:?}");
    };
    host.run(&ex, waits);
}

/// Sends after that time, from another thread: what this one's timers cost is not the executor's.
fn sent_after(time: Duration) -> Receiver<()> {
    let (send, receive) = oneshot::channel();
    thread::spawn(move || {
        #[allow(clippy::disallowed_methods, reason = "it lets a real second pass")]
        thread::sleep(time);
        send.send(())
    });
    receive
}

/// What this thread had of a processor, where the kernel tells.
fn cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}
