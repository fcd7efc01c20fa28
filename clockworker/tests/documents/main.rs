//! What documents say of the sources.

mod files;
mod readme;
mod unsafe_list;
