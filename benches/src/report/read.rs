//! The scenarios whose files are read: one reader for each.

use super::document::Document;
use super::simulate;
use crate::failure::Failure;
use crate::harness::Measurement;
use crate::measurements::actions::Actions;
use crate::measurements::compare::Compare;
use crate::measurements::overhead::Overhead;
use crate::measurements::priority::Priority;
use crate::measurements::programs::Programs;
use crate::measurements::service::Service;
use crate::measurements::sessions::Sessions;
use crate::measurements::tail::Tail;
use crate::measurements::tcp::Tcp;
use crate::measurements::tenants::Tenants;
use crate::page::Chapter;

#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub schema: &'static str,
    pub version: u32,
    /// What is to be run to get one.
    pub arguments: &'static [&'static str],
    pub question: &'static str,
    /// What is to be added for a run of seconds.
    pub quick: &'static [&'static str],
    pub read: fn(&Document) -> Result<Chapter, Failure>,
}

/// Every reader, in the order of the page.
pub const READERS: [Reader; 12] = [
    of::<Service>(),
    of::<Compare>(),
    of::<Overhead>(),
    of::<Programs>(),
    of::<Tcp>(),
    of::<Priority>(),
    of::<Tail>(),
    of::<Tenants>(),
    of::<Sessions>(),
    of::<Actions>(),
    simulate::SIMULATED,
    simulate::THEORY,
];

pub fn reader(schema: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.schema == schema)
}

const fn of<M: Measurement>() -> Reader {
    Reader {
        schema: M::SCHEMA,
        version: M::SCHEMA_VERSION,
        arguments: M::ARGUMENTS,
        question: M::QUESTION,
        quick: &["--quick"],
        read: |document| Ok((M::CHAPTER)(&document.content()?)),
    }
}
