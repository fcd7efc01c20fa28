//! The policies inside a queue, each in its documented order.

mod arrival_fifo;
mod deadline;
mod fair_groups;
mod fair_turns;
mod forgetting;
mod las;
mod optimality;
mod patience;
mod priority;
mod qlas;
mod runnable_fifo;
mod script;
mod search;
mod serpt;
mod woken_first;
