//! Large futures on a small stack.

use std::mem::MaybeUninit;
use std::thread;

use clockworker::{Executor, JoinSet, new_task, spawn_local, yield_now};

/// As many bytes as tokio's `LocalSet` takes on such a stack without optimisation, to within 4 %: the caller and the box each have them
/// on it once.
const LARGE: usize = 1_000_000;

/// A future of that size, which writes none of it: that would take as much of the stack again.
async fn large<const SIZE: usize>() -> usize {
    let data = MaybeUninit::<[u8; SIZE]>::uninit();
    yield_now().await;
    size_of_val(&data)
}

/// Each on a thread of its own, with the stack of a test.
macro_rules! ways {
    ($size:expr => $($name:ident: $way:expr;)*) => {$(
        #[test]
        fn $name() {
            let way: fn() -> usize = $way;
            let thread = thread::Builder::new().stack_size(2 << 20).spawn(way).unwrap();
            assert_eq!(thread.join().unwrap(), $size);
        }
    )*};
}

/// Runs a task to its end.
fn finish(ex: &Executor, task: clockworker::JoinHandle<usize>) -> usize {
    ex.block_on(task).unwrap()
}

ways! { LARGE =>
    by_the_executor: || {
        let ex = Executor::new();
        finish(&ex, ex.spawn(large::<LARGE>()))
    };
    by_a_queue: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().spawn(large::<LARGE>()))
    };
    in_a_group: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().group(1).spawn(large::<LARGE>()))
    };
    with_attributes: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().new_task().tag(1).spawn(large::<LARGE>()))
    };
    in_a_group_with_attributes: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().group(1).new_task().priority(1).spawn(large::<LARGE>()))
    };
    beside_the_current_task: || Executor::new().block_on(async { spawn_local(large::<LARGE>()).await.unwrap() });
    beside_the_current_task_with_attributes:
        || Executor::new().block_on(async { new_task().tag(1).spawn(large::<LARGE>()).await.unwrap() });
    into_a_set: || {
        Executor::new().block_on(async {
            let mut set = JoinSet::new();
            set.spawn_local(large::<LARGE>());
            set.join_next().await.unwrap().unwrap()
        })
    };
    into_a_set_on_a_queue: || {
        let ex = Executor::new();
        let mut set = JoinSet::new();
        set.spawn_local_on(large::<LARGE>(), ex.default_queue());
        ex.block_on(set.join_next()).unwrap().unwrap()
    };
    by_a_handle: || {
        let ex = Executor::new();
        finish(&ex, ex.handle().spawn(large::<LARGE>))
    };
    if_there_is_room: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().try_spawn(large::<LARGE>()).unwrap())
    };
    if_there_is_room_in_a_group: || {
        let ex = Executor::new();
        finish(&ex, ex.default_queue().group(1).try_spawn(large::<LARGE>()).unwrap())
    };
    when_there_is_room: || {
        let ex = Executor::new();
        let spawned = ex.default_queue().spawn_when_room(large::<LARGE>());
        finish(&ex, ex.block_on(spawned).unwrap())
    };
    when_there_is_room_in_a_group: || {
        let ex = Executor::new();
        let spawned = ex.default_queue().group(1).spawn_when_room(large::<LARGE>());
        finish(&ex, ex.block_on(spawned).unwrap())
    };
    by_a_handle_in_a_group: || {
        let ex = Executor::new();
        finish(&ex, ex.handle().spawn_in(clockworker::DEFAULT_QUEUE, 1, large::<LARGE>))
    };
}

/// The caller has it twice already: by itself and in what captures it.
const CAPTURED: usize = 200_000;

ways! { CAPTURED =>
    captured_by_what_makes_it: || {
        let ex = Executor::new();
        let future = large::<CAPTURED>();
        finish(&ex, ex.handle().spawn(move || future))
    };
}
