//! What documents say of the sources.

mod readme;
mod unsafe_list;
