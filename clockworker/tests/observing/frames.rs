//! Each queue's slices have a stack frame of their own.

use std::backtrace::Backtrace;

use clockworker::{Executor, Queue};

/// The queues whose frames are on the stack of a task.
fn queues_on_stack(ex: &Executor, queue: &Queue) -> Vec<String> {
    let stack = ex.block_on(queue.spawn(async { Backtrace::force_capture().to_string() })).unwrap();
    let frames = ex.queue_frames();
    stack.lines().filter_map(|line| frames.queue_of(line.trim())).map(str::to_owned).collect()
}

#[test]
fn the_stack_says_which_queue_it_is() {
    let ex = Executor::new();
    let queues: Vec<_> = (1..40).map(|n| ex.new_queue(&format!("q{n}")).create().unwrap()).collect();
    assert_eq!(queues_on_stack(&ex, &queues[0]), ["q1"]);
    assert_eq!(queues_on_stack(&ex, &queues[29]), ["q30"]);
    let shared: Vec<String> = (31..40).map(|n| format!("q{n}")).collect();
    assert_eq!(queues_on_stack(&ex, &queues[35]), [shared.join(", ")]);
    assert_eq!(ex.queue_frames().iter().count(), 32);
}
