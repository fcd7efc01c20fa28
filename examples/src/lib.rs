//! Short programs, one question each. They are in the files beside this crate's `README.md`, which lists them; the crate
//! itself is empty.

#![forbid(unsafe_code)]
