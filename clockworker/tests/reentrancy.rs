//! Calling the executor from where it is least expected: destructors of futures, of outputs, of the future being run; wakers;
//! closures; while the executor is being dropped, and while the thread ends.

mod life_support;

#[path = "reentrancy/closures.rs"]
mod closures;
#[path = "reentrancy/drops.rs"]
mod drops;
#[path = "reentrancy/other_polls.rs"]
mod other_polls;
#[path = "reentrancy/queues.rs"]
mod queues;
#[path = "reentrancy/remains.rs"]
mod remains;
#[path = "reentrancy/thread_end.rs"]
mod thread_end;
#[path = "reentrancy/tools.rs"]
mod tools;
#[path = "reentrancy/wakers.rs"]
mod wakers;
