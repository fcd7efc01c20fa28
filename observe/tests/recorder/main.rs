//! What a recorder writes is what is read, also of a process that was killed.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

mod crash;
mod recording;
