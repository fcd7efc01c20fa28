//! Servers and their clients, over TCP on 127.0.0.1. Whoever waits, waits for an event; deadlines are tokio's paused clock's.

#![forbid(unsafe_code)]

mod accepting;
mod full;
mod hosts;
mod places;
mod requests;
mod shutdown;
mod support;
