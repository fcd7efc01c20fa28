//! The program from outside, a module for each command, or what all of them have.

mod support;

mod actions;
mod cli;
mod docs;
mod report;
mod servers;
mod workloads;
