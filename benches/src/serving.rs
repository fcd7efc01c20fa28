//! Servers that are measured, each a process of its own, and the client of all of them: what `tcp` and `service` have in
//! common.

pub mod host;

pub mod command;
pub mod gate;
pub mod server;

pub mod dialogue;
pub mod pattern;
pub mod schedule;

pub mod child;
pub mod client;
pub mod connection;
pub mod contender;
