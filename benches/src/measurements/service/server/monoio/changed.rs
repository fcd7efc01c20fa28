//! By its imports.

mod imports {
    pub(super) use clockworker::{spawn_local, yield_now};
}

#[path = "program.rs"]
pub(super) mod program;
