//! Each queue's slices have a stack frame of their own.

use std::backtrace::Backtrace;

use clockworker::{Executor, Group, JoinHandle, Queue};

use super::observing;
use clockworker_observe::{Observation, Observe};

/// The queues whose frames are on the stack of a task, and the groups with frames inside the frame of the queue.
fn on_stack(ex: &Executor, task: JoinHandle<String>) -> (Vec<String>, Vec<String>) {
    let stack = ex.block_on(task).unwrap();
    let (frames, lines) = (ex.queue_frames(), Vec::from_iter(stack.lines().map(str::trim)));
    let queue = lines.iter().find(|line| frames.queue_of(line).is_some()).unwrap();
    let queues = lines.iter().filter_map(|line| frames.queue_of(line)).map(str::to_owned).collect();
    let groups = lines.iter().filter_map(|line| frames.group_of(queue, line)).map(str::to_owned).collect();
    (queues, groups)
}

fn queues_on_stack(ex: &Executor, queue: &Queue) -> Vec<String> {
    on_stack(ex, queue.spawn(async { Backtrace::force_capture().to_string() })).0
}

fn groups_on_stack(ex: &Executor, group: &Group) -> Vec<String> {
    on_stack(ex, group.spawn(async { Backtrace::force_capture().to_string() })).1
}

#[test]
fn the_stack_says_which_queue_it_is() {
    let ex = observing(Observation::new());
    let queues: Vec<_> = (1..40).map(|n| ex.new_queue(&format!("q{n}")).create().unwrap()).collect();
    assert_eq!(queues_on_stack(&ex, &queues[0]), ["q1"]);
    assert_eq!(queues_on_stack(&ex, &queues[29]), ["q30"]);
    let shared: Vec<String> = (31..40).map(|n| format!("q{n}")).collect();
    assert_eq!(queues_on_stack(&ex, &queues[35]), [shared.join(", ")]);
    assert_eq!(ex.queue_frames().iter().count(), 32);
}

#[test]
fn the_stack_says_which_group_it_is_where_asked() {
    let ex = observing(Observation::new());
    let queue = ex.new_queue("q").create().unwrap();
    let acme = queue.new_group(7).name("Acme").open().unwrap();
    let nameless = queue.group(1_000);
    let elsewhere = ex.new_queue("other").create().unwrap().group(8);
    assert!(groups_on_stack(&ex, &acme).is_empty(), "not asked for");
    ex.observe(Observation::new().frames_of_groups()).unwrap();
    let on_stack = [&acme, &nameless, &elsewhere].map(|group| groups_on_stack(&ex, group));
    assert_eq!(on_stack, [["Acme"], ["1000"], ["8"]], "both queues have a group of index 0");
    assert_eq!(queues_on_stack(&ex, &queue), ["q"]);
    let many: Vec<_> = (100..133).map(|key| queue.group(key)).collect();
    assert_eq!(groups_on_stack(&ex, &many[28]), ["128"]);
    assert_eq!(groups_on_stack(&ex, &many[30]), ["129, 130, 131, 132"]);
}
