//! The policies inside a queue, each in its documented order.

mod arrival_fifo;
mod fair_turns;
mod forgetting;
mod las;
mod patience;
mod qlas;
mod runnable_fifo;
mod script;
mod serpt;
mod woken_first;
