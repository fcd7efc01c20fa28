//! What documents say of the sources, and how the sources import each other.

mod files;
mod imports;
mod readme;
mod unsafe_list;
