//! [`GroupBuilder`]: opens groups with attributes.

use std::sync::Arc;

use clockworker_schedulers::{Attributes, Share};

use crate::group::Group;
use crate::queue::GroupError;
use crate::queue_handle::Queue;

/// Opens a [`Group`] with attributes, of which the queue's scheduler is told. From [`Queue::new_group`].
///
/// # Example
///
/// ```
/// use clockworker::Executor;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let tenants = ex.new_queue("tenants").create()?;
/// let gold = tenants.new_group(42).weight(3).open()?;
/// assert_eq!(gold.weight(), 3);
/// // While it is open, `group` gives it as it is.
/// assert_eq!(tenants.group(42).weight(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until `open`"]
pub struct GroupBuilder<'a> {
    queue: &'a Queue,
    key: u64,
    weight: u32,
    /// But for the weight, which is not checked yet.
    attributes: Attributes,
    name: Option<Arc<str>>,
}

impl<'a> GroupBuilder<'a> {
    pub(crate) fn new(queue: &'a Queue, key: u64) -> Self {
        Self { queue, key, weight: Share::MIN.get(), attributes: Attributes::new(), name: None }
    }

    /// The group's weight: 1 to [`Share::MAX`](crate::schedulers::Share::MAX), 1 unless told otherwise. Under a scheduler that
    /// heeds it, as [`FairGroups`](crate::schedulers::FairGroups) does, groups that have work at the same time get the queue's CPU
    /// time in proportion to their weights. The default scheduler does not.
    ///
    /// The group has it while it is open: as long as a task of it is unfinished, or a handle to it is kept. Keep the handle of a tenant
    /// that comes and goes, or say the weight each time.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The group's priority, 0 unless told otherwise. To a scheduler that heeds it, as [`Priority`](crate::schedulers::Priority) does,
    /// higher goes first.
    pub fn priority(mut self, priority: i8) -> Self {
        self.attributes = self.attributes.with_priority(priority);
        self
    }

    /// A number for schedulers of your own, 0 unless told otherwise.
    pub fn tag(mut self, tag: u64) -> Self {
        self.attributes = self.attributes.with_tag(tag);
        self
    }

    /// The group's name, for those who look at it: its [`Debug`](std::fmt::Debug), its [stats](crate::GroupStats) and
    /// [probes](crate::probe) see it. If the group is open already, it has this name from then on.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let tenant = ex.default_queue().new_group(42).name("Acme").open().unwrap();
    /// assert_eq!(tenant.name().as_deref(), Some("Acme"));
    /// ```
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Opens the group. If it is open already with these attributes, this is one more handle to it.
    ///
    /// O(1), and a call of the scheduler.
    ///
    /// # Errors
    ///
    /// If the weight is out of range, or the group is open with other attributes: [`Group::set_attributes`] changes those.
    pub fn open(self) -> Result<Group, GroupError> {
        let weight = Share::new(self.weight).map_err(GroupError::weight)?;
        let attributes = self.attributes.with_weight(weight);
        let group = match Group::find(self.queue.clone(), self.key) {
            None => Group::open(self.queue.clone(), self.key, attributes),
            Some(group) if group.attributes() == attributes => group,
            Some(_) => return Err(GroupError::open(self.key)),
        };
        self.name.into_iter().for_each(|name| group.set_name(name));
        Ok(group)
    }
}
