//! Queues below queues.

mod shares;
mod tree;
mod work;

use clockworker::{Executor, Queue};

/// A queue of that share at the top.
fn top(ex: &Executor, name: &str, share: u32) -> Queue {
    ex.new_queue(name).share(share).create().unwrap()
}

/// A queue of that share below another.
fn below(parent: &Queue, name: &str, share: u32) -> Queue {
    parent.new_queue(name).share(share).create().unwrap()
}
