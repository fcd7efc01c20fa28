//! All programs, in the order of the table.

#![allow(
    clippy::duplicate_mod,
    reason = "every program is compiled with two sets of imports: that is the point"
)]

use super::program::Program;
use super::quantity::Quantity::{
    self, CpuTime, Memory, MemoryEach, P99, P999, PollsPerBatch, Time, TimePerPoll,
};

#[path = "."]
mod on_local_set {
    mod task {
        pub(super) use tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

#[path = "."]
mod on_clockworker {
    mod task {
        pub(super) use clockworker::compat::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

/// One program for monoio.
#[cfg(target_os = "linux")]
#[path = "."]
mod on_monoio {
    mod task {
        pub(super) use crate::measurements::programs::monoio_hosts::plain as run;
        pub(super) use monoio::spawn;
    }

    pub(super) mod requests;
}

#[cfg(target_os = "linux")]
#[path = "."]
mod on_clockworker_in_monoio {
    mod task {
        pub(super) use crate::measurements::programs::monoio_hosts::clockworker as run;
        pub(super) use clockworker::spawn_local as spawn;
    }

    pub(super) mod requests;
}

/// Where Clockworker may be, at the most.
const LIMIT: f64 = 1.05;

/// A program with both sets of imports, of which one time is measured.
macro_rules! program {
    ($key:literal, $title:literal, $file:ident::$function:ident) => {
        Program {
            key: $key,
            title: $title,
            quantities: &[Time],
            base: "LocalSet",
            apart: false,
            limit: LIMIT,
            runs: [on_local_set::both::$file::$function, on_clockworker::both::$file::$function],
        }
    };
}

impl Program {
    const fn measuring(self, quantities: &'static [Quantity]) -> Self {
        Program { quantities, ..self }
    }

    const fn apart(self) -> Self {
        Program { apart: true, ..self }
    }

    const fn within(self, limit: f64) -> Self {
        Program { limit, ..self }
    }
}

/// All programs.
pub static PROGRAMS: &[Program] = &[
    program!("ring_1000", "10,000 actors in a ring, 1,000 tokens", actors::ring_of_1_000).within(1.0),
    program!("ring_10000", "10,000 actors in a ring, 10,000 tokens", actors::ring_of_10_000).within(1.0),
    program!("random_actors", "1,000 actors that send at random", actors::random_sends),
    program!("select_loops", "500 actors that select! mailbox, tick and end", actors::select_loops),
    program!("batches", "200 consumers that drain batches of 100", channels::batches)
        .measuring(&[Time, PollsPerBatch]),
    program!("broadcast", "broadcast to 200 receivers", channels::broadcasts),
    program!("watch", "watch, 500 watchers", channels::watches),
    program!("pairs", "1,000 busy pairs, request and response", calls::pairs).measuring(&[Time, P99, P999]),
    program!("oneshot_calls", "100 callers of one service, oneshot answers", calls::one_service),
    program!("notify_pairs", "1,000 pairs that Notify each other", calls::notify_pairs),
    program!("mutex_across_yield", "100 tasks, a mutex held across a yield", locks::mutex_across_yield),
    program!("mutex_contended", "100 tasks, a mutex held across a call", locks::mutex_contended),
    program!("semaphore", "1,000 tasks, 10 permits", locks::semaphore),
    program!("join_in_tasks", "join! of three that yield, in 200 tasks", joined::join_in_tasks),
    program!("join_all_in_main", "join_all of 1,000 that yield, in main", joined::join_all_in_main),
    program!("join_all_in_task", "join_all of 1,000 that yield, in a task", joined::join_all_in_task),
    program!("buffered_in_main", "buffer_unordered(64) of yields, in main", joined::buffered_in_main),
    program!(
        "buffered_tokio_yield",
        "the same with tokio's yield_now kept",
        joined::buffered_by_tokio_in_main
    ),
    program!("buffered_in_task", "buffer_unordered(64) of yields, in a task", joined::buffered_in_task),
    program!("main_yields", "a main future that yields alone", mains::yields_alone),
    program!("main_yields_tokio", "the same, tokio's yield_now kept", mains::yields_by_tokio_alone),
    program!("main_spawns_two", "a main future that spawns two, over and over", mains::spawns_two),
    program!("tokio_spawn_from_main", "tokio::spawn(..).await from main", mains::tokio_spawn_from_main),
    program!("tokio_spawn_from_task", "tokio::spawn(..).await from a task", mains::tokio_spawn_from_task),
    program!("spawn_and_join", "100,000 tasks, spawned and joined", spawns::spawn_and_join),
    program!("join_set", "a JoinSet kept at 1,000 tasks", spawns::join_set),
    program!("spawns_from_thread", "spawns for another thread", spawns::spawns_from_a_thread),
    program!("spawns_from_4_threads", "spawns for four threads", spawns::spawns_from_four_threads),
    program!("spawn_blocking", "64 tasks that spawn_blocking", spawns::spawn_blocking),
    program!("timeouts", "timeouts that do not run out", timers::timeouts),
    program!("sleepers", "100,000 sleepers", timers::sleepers).measuring(&[CpuTime, P99]),
    program!("timers_beside_hogs", "100 timers beside four CPU hogs", timers::timers_beside_hogs)
        .measuring(&[TimePerPoll, P99]),
    program!("key_value", "a key-value server with a slow command", services::key_value)
        .measuring(&[Time, P99]),
    program!("proxy", "a proxy: copy_bidirectional, timeouts", services::proxy).measuring(&[Time, P99]),
    program!("memory_burst", "after 1,000,000 spawns at once", memory::after_spawns)
        .measuring(&[Memory])
        .apart(),
    program!("memory_in_turn", "after 1,000,000 spawns, 1,000 at a time", memory::after_spawns_in_turn)
        .measuring(&[Memory])
        .apart(),
    program!("memory_connections", "4,000 idle connections", memory::per_connection)
        .measuring(&[MemoryEach])
        .apart(),
    #[cfg(target_os = "linux")]
    Program {
        key: "monoio_requests",
        title: "on monoio, a task per request",
        quantities: &[Time],
        base: "monoio spawn",
        apart: false,
        limit: LIMIT,
        runs: [on_monoio::requests::task_per_request, on_clockworker_in_monoio::requests::task_per_request],
    },
];

/// The program of that key.
pub fn find(key: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.key == key)
}

/// Which programs there are, a line each.
pub fn titles() -> String {
    let line = |program: &Program| {
        let measured: Vec<&str> = program.quantities.iter().map(|quantity| quantity.title()).collect();
        format!("{:24}{} ({})\n", program.key, program.title, measured.join(", "))
    };
    PROGRAMS.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_titles_are_of_one_program_each() {
        for (place, program) in PROGRAMS.iter().enumerate() {
            assert_eq!(find(program.key).map(|found| found.title), Some(program.title));
            assert!(PROGRAMS[..place].iter().all(|other| other.title != program.title), "{}", program.title);
        }
    }
}
