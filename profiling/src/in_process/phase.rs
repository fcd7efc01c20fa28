//! What a poll consists of, and which function belongs to what.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Spawn,
    ReadyList,
    Pick,
    Clock,
    Waker,
    State,
    Own,
    Finish,
    Memory,
    Loop,
    Host,
    Root,
    Rest,
}

/// All of them with their names in the table, in its order.
pub(super) const TITLES: [(Phase, &str); 13] = [
    (Phase::Spawn, "spawn"),
    (Phase::ReadyList, "ready list: push, pop, served"),
    (Phase::Pick, "pick between queues"),
    (Phase::Clock, "clock"),
    (Phase::Waker, "waker"),
    (Phase::State, "task state: record, cell, handover"),
    (Phase::Own, "the task's own work"),
    (Phase::Finish, "finish and join"),
    (Phase::Memory, "allocator, copying"),
    (Phase::Loop, "run loop: checks between polls"),
    (Phase::Host, "host: tokio's runtime"),
    (Phase::Root, "the future that spawns and awaits"),
    (Phase::Rest, "rest"),
];

/// Functions that more than one phase calls. They belong to what their caller belongs to (as do all that no rule is for,
/// which is most of `core` and `alloc`), and where that is not known because they were not inlined, to this.
const SHARED: &[(&str, Phase)] = &[
    ("clockworker::task::shared::Shared::local", Phase::Waker),
    ("clockworker::task::owner::", Phase::Waker),
    ("tokio::runtime::context::CONTEXT", Phase::Loop),
    ("tokio::runtime::task::core::Core<T,S>::set_stage", Phase::Finish),
    ("tokio::runtime::task::state::Snapshot", Phase::State),
    ("tokio::runtime::task::state::State::fetch_update", Phase::State),
    ("tokio::runtime::task::state::State::load", Phase::State),
    // A task's reference to its LocalSet. Clockworker counts those that it has in blocks.
    ("alloc::sync::Arc<T,A> as core::ops::drop::Drop", Phase::Finish),
];

/// A function belongs to a phase if its name begins with the first string and has one of the others in it, if there are any;
/// the first rule that fits decides.
///
/// Names are as they are demangled, without a leading `<`.
#[rustfmt::skip]
const RULES: &[(&str, &[&str], Phase)] = &[
    // The workload.
    ("clockworker_benches::workload::", &[], Phase::Own),
    ("clockworker_benches::", &[], Phase::Root),

    // Clockworker.
    ("clockworker_schedulers::eevdf::", &[], Phase::Pick),
    ("clockworker_schedulers::parts::tournament::", &[], Phase::Pick),
    ("clockworker_schedulers::", &[], Phase::ReadyList),
    ("clockworker::queue::policy::Policy<S>::", &[], Phase::ReadyList),
    ("clockworker::run::slice::", &["slice::push", "slice::pop"], Phase::ReadyList),
    ("clockworker::base::clock::", &[], Phase::Clock),
    ("clockworker::run::meter::Meter::read", &[], Phase::Clock),
    ("quanta::", &[], Phase::Clock),
    ("clockworker::run::pick::", &["::run_slice", "Core>::pick", "::end_slice", "grant", "::charge"], Phase::Pick),
    ("clockworker::run::", &["::spawn"], Phase::Spawn),
    ("clockworker::executor::", &["::spawn"], Phase::Spawn),
    ("clockworker::queue_handle::", &[], Phase::Spawn),
    ("clockworker::group::", &[], Phase::Spawn),
    ("clockworker::queue::records::Records::insert", &[], Phase::Spawn),
    ("clockworker::task::cell::", &["cell::spawn_here", "Cell<F>::allocate"], Phase::Spawn),
    ("clockworker::task::header::Header::new", &[], Phase::Spawn),
    ("clockworker::task::id::Id::next", &[], Phase::Spawn),
    ("clockworker::task::shared_ref::", &["::clone"], Phase::Spawn),
    ("clockworker::task::waker::lend", &[], Phase::State),
    ("clockworker::task::waker::", &[], Phase::Waker),
    ("clockworker::task::header::wake_task", &[], Phase::Waker),
    ("clockworker::task::woken_list::WokenList::push", &[], Phase::Waker),
    ("clockworker::task::woken_list::", &[], Phase::Loop),
    ("clockworker::task::join::", &[], Phase::Finish),
    ("clockworker::task::shared_ref::", &[], Phase::Finish),
    ("clockworker::task::live::LiveTask::complete", &[], Phase::Finish),
    ("clockworker::task::state::", &["State::complete", "State::release"], Phase::Finish),
    ("clockworker::task::header::release", &[], Phase::Finish),
    ("clockworker::task::cell::Cell<F>::", &["::store", "::take_output", "::drop_output", "::free"], Phase::Finish),
    ("clockworker::queue::records::", &["Records::remove", "records::Removed"], Phase::Finish),
    ("clockworker::queue::records::Records::prefetch", &[], Phase::Loop),
    ("clockworker::task::shared::", &[], Phase::Loop),
    ("clockworker::task::inbox::", &[], Phase::Loop),
    ("clockworker::task::", &[], Phase::State),
    ("clockworker::queue::records::Record", &[], Phase::State),
    ("clockworker::", &[], Phase::Loop),

    // tokio's LocalSet and its tasks.
    ("tokio::runtime::task::state::State::transition_to_notified", &[], Phase::Waker),
    ("tokio::runtime::task::waker::", &[], Phase::Waker),
    ("tokio::runtime::task::harness::", &["wake_by_ref"], Phase::Waker),
    ("tokio::runtime::task::state::State::transition_to_", &["complete", "terminal", "join_handle_dropped"], Phase::Finish),
    ("tokio::runtime::task::harness::", &["::complete", "::dealloc", "join", "output"], Phase::Finish),
    ("tokio::runtime::task::core::Core<T,S>::", &["::store_output", "::take_output"], Phase::Finish),
    ("tokio::runtime::task::raw::", &["raw::try_read_output", "raw::dealloc", "raw::drop_join_handle"], Phase::Finish),
    ("tokio::runtime::task::join::", &[], Phase::Finish),
    ("tokio::runtime::task::list::", &["::remove"], Phase::Finish),
    ("tokio::runtime::task::list::", &["::bind"], Phase::Spawn),
    ("tokio::runtime::task::", &["core::Cell<T,S>::new", "id::Id::next", "RawTask::new", "task::new_task"], Phase::Spawn),
    ("tokio::runtime::task::", &[], Phase::State),
    ("tokio::task::local::", &["::spawn"], Phase::Spawn),
    ("tokio::task::local::", &["::schedule", "LocalSet::next_task", "task_push_back", "task_pop_front"], Phase::ReadyList),
    ("tokio::task::local::LocalState::assert_owner", &[], Phase::State),
    ("tokio::task::local::", &[], Phase::Loop),
    ("tokio::task::coop::", &[], Phase::Loop),
    ("tokio::runtime::coop::", &[], Phase::Loop),
    ("tokio::runtime::context::budget", &[], Phase::Loop),
    ("tokio::runtime::context::set_current_task_id", &[], Phase::State),
    ("tokio::sync::task::atomic_waker::", &[], Phase::Loop),
    ("tokio::runtime::", &[], Phase::Host),
    ("tokio::util::wake::", &[], Phase::Host),
    ("mio::", &[], Phase::Host),

    // Rust's own.
    ("std::time::", &[], Phase::Clock),
    ("std::sys::", &["std::sys::pal::unix::time::", "std::sys::time::"], Phase::Clock),
    ("alloc::raw_vec::", &[], Phase::Memory),
    ("alloc::alloc::", &[], Phase::Memory),
    ("__rustc::__r", &[], Phase::Memory),
    ("__r", &["alloc"], Phase::Memory),
    ("core::ptr::drop_in_place<clockworker::task::", &[], Phase::Finish),
    ("core::ptr::drop_in_place<tokio::runtime::task::", &[], Phase::Finish),
];

/// The C library's functions, whose callers are not known here, by the beginnings of their names. Its inner functions have
/// no names in many installations; those that matter are the allocator's.
#[rustfmt::skip]
const C_LIBRARY: &[(Phase, &[&str])] = &[
    (Phase::Clock, &["[vdso]", "clock_gettime", "__GI___clock_gettime", "__vdso_clock_gettime"]),
    (Phase::Host, &["epoll_wait", "epoll_pwait", "eventfd_write", "write", "__write"]),
    (Phase::Memory, &[
        "libc.so", "__libc_", "__GI___libc_",
        "malloc", "calloc", "realloc", "free", "cfree",
        "aligned_alloc", "posix_memalign", "__posix_memalign", "_mid_memalign",
        "_int_", "sysmalloc", "systrim", "unlink_chunk", "tcache_", "alloc_perturb", "checked_request2size", "ptmalloc", "arena_",
        "brk", "__brk", "sbrk", "mmap", "__mmap", "munmap", "__munmap", "mremap", "madvise",
        "memcpy", "memmove", "memset", "__mem",
    ]),
];

/// The phase of a sample, and the function that decided it. `functions` is the one that ran, then those that it is
/// inlined into, outwards.
pub(super) fn classify(functions: &[String]) -> (Phase, &str) {
    let decide = |of: fn(&str) -> Option<Phase>| {
        functions.iter().find_map(|function| Some((of(function)?, function.as_str())))
    };
    let undecided = || (Phase::Rest, functions.first().map_or("(no name)", String::as_str));
    decide(by_rule).or_else(|| decide(by_default)).unwrap_or_else(undecided)
}

fn by_rule(function: &str) -> Option<Phase> {
    if by_default(function).is_some() {
        return None;
    }
    let name = function.trim_start_matches('<');
    let fits = |&&(begin, inside, _): &&(&str, &[&str], Phase)| {
        name.starts_with(begin) && (inside.is_empty() || inside.iter().any(|part| name.contains(part)))
    };
    let rule = RULES.iter().find(fits).map(|&(_, _, phase)| phase);
    let is_c = |begins: &[&str]| begins.iter().any(|begin| name.starts_with(begin));
    rule.or_else(|| C_LIBRARY.iter().find(|(_, begins)| is_c(begins)).map(|&(phase, _)| phase))
}

fn by_default(function: &str) -> Option<Phase> {
    let name = function.trim_start_matches('<');
    SHARED.iter().find(|(begin, _)| name.starts_with(begin)).map(|&(_, phase)| phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions as a release build has them, the innermost first; the last is the one that decides.
    #[rustfmt::skip]
    const SEEN: &[(Phase, &[&str])] = &[
        (Phase::Spawn, &["slab::Slab<T>::insert_at", "clockworker::queue::records::Records::insert"]),
        (Phase::Spawn, &["clockworker::run::queue::RunQueue::spawn"]),
        (Phase::Spawn, &["clockworker::run::spawn::<impl clockworker::run::core::Core>::spawn"]),
        (Phase::ReadyList, &[
            "<clockworker_schedulers::policies::qlas::Qlas as clockworker_schedulers::scheduler::Scheduler>::pop",
        ]),
        (Phase::ReadyList, &["clockworker_schedulers::parts::buckets::Buckets<T>::push_back"]),
        (Phase::Pick, &["clockworker_schedulers::eevdf::Eevdf::pick_contended"]),
        (Phase::Pick, &["clockworker_schedulers::parts::tournament::Tournament::reserve"]),
        (Phase::Pick, &["clockworker::run::pick::<impl clockworker::run::core::Core>::shorten_grant"]),
        (Phase::Clock, &["quanta::Clock::delta_as_nanos"]),
        (Phase::Clock, &["core::cell::Cell<T>::set", "clockworker::run::meter::Meter::read"]),
        (Phase::Waker, &["core::ptr::non_null::NonNull<T>::new", "clockworker::task::waker::wake_by_ref"]),
        // Shared by several phases: the caller's rule decides, wherever it is.
        (Phase::Waker, &["clockworker::task::owner::OwnerCell<T>::get", "clockworker::task::header::wake_task"]),
        (Phase::State, &["clockworker::task::waker::lend"]),
        (Phase::State, &["slab::Slab<T>::get_mut", "clockworker::queue::records::Records::take_ready"]),
        (Phase::Own, &["<clockworker_benches::workload::self_waking::SelfWaking as core::future::future::Future>::poll"]),
        (Phase::Finish, &["clockworker::task::state::State::complete_unwatched"]),
        (Phase::Finish, &["clockworker::task::live::LiveTask::complete"]),
        (Phase::Memory, &["_int_malloc"]),
        (Phase::Memory, &["libc.so.6"]),
        (Phase::Loop, &["clockworker::run::pick::<impl clockworker::run::core::Core>::enter_task"]),
        (Phase::Loop, &["clockworker::run::timing::Timing::end"]),
        (Phase::Waker, &[
            "tokio::runtime::task::state::State::fetch_update_action",
            "tokio::runtime::task::state::State::transition_to_notified_by_ref",
        ]),
        (Phase::State, &["tokio::runtime::task::state::State::ref_dec"]),
        (Phase::ReadyList, &["tokio::loom::std::mutex::Mutex<T>::lock", "tokio::task::local::LocalSet::next_task"]),
        (Phase::Loop, &["tokio::runtime::context::CONTEXT::{{constant}}", "tokio::runtime::context::budget"]),
        (Phase::Host, &["tokio::runtime::time::Driver::park_internal"]),
        (Phase::Host, &["epoll_wait"]),
        (Phase::Root, &["clockworker_benches::arms::bracketed::bracketed::{{closure}}"]),
        (Phase::Finish, &["tokio::runtime::task::core::Core<T,S>::set_stage"]),
        (Phase::Spawn, &["core::sync::atomic::atomic_add", "tokio::task::local::Context::spawn"]),
        (Phase::Rest, &["core::fmt::write"]),
        (Phase::Rest, &[]),
    ];

    #[test]
    fn stacks_that_were_seen_go_where_they_belong() {
        for (phase, functions) in SEEN {
            let functions: Vec<String> = functions.iter().map(|&function| function.to_owned()).collect();
            assert_eq!(classify(&functions).0, *phase, "{functions:?}");
        }
    }

    #[test]
    fn the_innermost_function_with_a_rule_decides() {
        let functions =
            ["core::mem::replace", "clockworker::base::clock::Clock::now", "clockworker::run::slice::run"];
        let functions = functions.map(str::to_owned);
        assert_eq!(classify(&functions), (Phase::Clock, "clockworker::base::clock::Clock::now"));
    }

    #[test]
    fn phases_are_in_the_order_of_their_numbers() {
        assert!(TITLES.iter().enumerate().all(|(number, &(phase, _))| phase as usize == number));
    }
}
