//! What policies are made of.

pub(crate) mod attained;
pub(crate) mod bitmap;
pub(crate) mod bucket_entry;
pub(crate) mod buckets;
pub(crate) mod by_deadline;
pub(crate) mod by_index;
pub(crate) mod by_key;
pub(crate) mod by_priority;
pub(crate) mod debts;
pub(crate) mod fair_turns;
pub(crate) mod half_life;
pub(crate) mod least_first;
pub(crate) mod occasions;
pub(crate) mod own_or_group;
pub(crate) mod passed_over;
pub(crate) mod ready_list;
pub(crate) mod remembered;
pub(crate) mod ring;
pub(crate) mod task_lists;
pub(crate) mod tournament;

/// Memory for so many tasks and groups stays when a queue has drained: half a mebibyte for a ring of ids. A policy gives back what
/// a larger burst took.
pub(crate) const KEPT: usize = 65_536;
