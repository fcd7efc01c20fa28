//! Each queue's slices have a stack frame of their own.

use std::backtrace::Backtrace;

use clockworker::observe::Observation;
use clockworker::{Executor, Group, Queue};

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

/// The groups whose frames are on the stack of a task, each in the frame of its queue.
fn groups_on_stack(ex: &Executor, group: &Group) -> Vec<String> {
    let stack = ex.block_on(group.spawn(async { Backtrace::force_capture().to_string() })).unwrap();
    let frames = ex.queue_frames();
    let lines: Vec<&str> = stack.lines().map(str::trim).collect();
    let queue = lines.iter().find(|line| frames.queue_of(line).is_some()).unwrap();
    lines.iter().filter_map(|line| frames.group_of(queue, line)).map(str::to_owned).collect()
}

#[test]
fn the_stack_says_which_group_it_is_where_asked() {
    let ex = Executor::new();
    let queue = ex.new_queue("q").create().unwrap();
    let acme = queue.new_group(7).name("Acme").open().unwrap();
    let nameless = queue.group(1_000);
    let elsewhere = ex.new_queue("other").create().unwrap().group(8);
    assert!(groups_on_stack(&ex, &acme).is_empty(), "not asked for");
    ex.observe(Observation::new().frames_of_groups()).unwrap();
    let on_stack = [&acme, &nameless, &elsewhere].map(|group| groups_on_stack(&ex, group));
    assert_eq!(on_stack, [["Acme"], ["1000"], ["8"]], "both queues have a group of index 0");
    assert_eq!(queues_on_stack(&ex, &queue), ["q"]);
}

#[test]
fn many_groups_share_a_frame() {
    let ex = Executor::new();
    ex.observe(Observation::new().frames_of_groups()).unwrap();
    let queue = ex.default_queue();
    let groups: Vec<_> = (0..34).map(|key| queue.group(key)).collect();
    assert_eq!(groups_on_stack(&ex, &groups[30]), ["30"]);
    assert_eq!(groups_on_stack(&ex, &groups[32]), ["31, 32, 33"]);
}
