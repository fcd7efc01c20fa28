//! The policies inside a queue, each in its documented order.

mod deadline;
mod every_policy;
mod fair_groups;
mod fair_turns;
mod forgetting;
mod las;
mod levels;
mod optimality;
mod priority;
mod qlas;
mod script;
mod search;
mod serpt;
mod woken_first;
mod world;
