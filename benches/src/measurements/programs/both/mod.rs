//! Programs that are written for `LocalSet`. What compiles them has a module `task` beside this one, with the names of
//! `tokio::task`.

use super::task;

mod channels;
mod memory;
mod services;
mod spawns;
mod support;
mod sync;
mod timers;
mod yields;

use crate::measurements::programs::Program;
use spawns::{spawns_from_threads, tokio_spawns};
use support::{timed, timed_in_task};
use yields::{all, buffered, yield_often, yield_often_by_tokio};

pub(crate) static PROGRAMS: &[Program] = &[
    Program::new("ring_10000", "10,000 actors in a ring, 10,000 tokens", |setting| {
        channels::ring(setting, setting.size(10_000, 100))
    }),
    Program::new("random_actors", "1,000 actors that send at random", channels::random_sends),
    Program::new("select_loops", "500 actors that select! mailbox, tick and end", channels::select_loops),
    Program::new("batches", "200 consumers that drain batches of 100", channels::batches),
    Program::new("broadcast", "broadcast to 200 receivers", channels::broadcasts),
    Program::new("watch", "watch, 500 watchers", channels::watches),
    Program::new("pairs", "1,000 busy pairs, request and response", sync::pairs),
    Program::new("oneshot_calls", "100 callers of one service, oneshot answers", sync::one_service),
    Program::new("mutex_across_yield", "100 tasks, a mutex held across a yield", sync::mutex_across_yield),
    Program::new("mutex_contended", "100 tasks, a mutex held across a call", sync::mutex_contended),
    Program::new("semaphore", "1,000 tasks, 10 permits", sync::semaphore),
    Program::new("join_in_tasks", "join! of three that yield, in 200 tasks", yields::join_in_tasks),
    Program::new("join_all_in_main", "join_all of 1,000 that yield, in main", |setting| {
        timed(all(setting.size(1_000, 50), setting.size(50, 2)))
    }),
    Program::new("buffered_in_main", "buffer_unordered(64) of yields, in main", |setting| {
        timed(buffered(setting.size(20_000, 200), yield_often))
    }),
    Program::new("main_yields", "a main future that yields alone", |setting| {
        timed(yield_often(setting.size(200_000, 200)))
    }),
    Program::new("main_yields_tokio", "the same, tokio's yield_now kept", |setting| {
        timed(yield_often_by_tokio(setting.size(200_000, 200)))
    }),
    Program::new("main_spawns_two", "a main future that spawns two, over and over", spawns::spawns_two),
    Program::new("tokio_spawn_from_task", "tokio::spawn(..).await from a task", |setting| {
        timed_in_task(tokio_spawns(setting.size(50_000, 50)))
    }),
    Program::new("join_set", "a JoinSet kept at 1,000 tasks", spawns::join_set),
    Program::new("spawns_from_4_threads", "spawns for four threads", |setting| {
        spawns_from_threads(setting, 4)
    }),
    Program::new("spawn_blocking", "64 tasks that spawn_blocking", spawns::spawn_blocking),
    Program::new("timeouts", "timeouts that do not run out", timers::timeouts),
    Program::new("sleepers", "100,000 sleepers", timers::sleepers),
    Program::new("timers_beside_hogs", "100 timers beside four CPU hogs", timers::timers_beside_hogs),
    Program::new("key_value", "a key-value server with a slow command", services::key_value),
    Program::new("proxy", "a proxy: copy_bidirectional, timeouts", services::proxy),
    Program::new("memory_burst", "after 1,000,000 spawns at once", memory::after_spawns).apart(),
    Program::new("memory_connections", "4,000 idle connections", memory::per_connection).apart(),
];
