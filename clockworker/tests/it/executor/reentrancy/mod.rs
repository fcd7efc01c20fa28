//! Calling the executor from where it is least expected: destructors of futures, of outputs, of the future being run;
//! wakers; closures; while the executor is being dropped, and while the thread ends.

mod ends;
mod other_polls;
mod places;
mod queues;
mod thread_end;
mod tools;
mod wakers;
