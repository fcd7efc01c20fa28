//! Where the reference's tasks stand.

use std::collections::VecDeque;

use crate::programs::op::TaskName;

pub(super) type Runnable = async_task::Runnable<Place>;

#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) task: TaskName,
    pub(super) queue: u16,
}

/// Tasks that are to be polled.
#[derive(Default)]
pub(super) struct Lists {
    /// By queue.
    pub(super) ready: Vec<VecDeque<Runnable>>,
    /// Woken, not yet taken in.
    pub(super) woken: VecDeque<Runnable>,
    pub(super) running: Option<TaskName>,
    pub(super) yielded: Option<Runnable>,
    /// What is woken comes from the inbox.
    pub(super) taking_in: bool,
}

impl Lists {
    pub(super) fn push(&mut self, runnable: Runnable) {
        let Place { task, queue } = *runnable.metadata();
        if self.taking_in {
            self.ready[usize::from(queue)].push_back(runnable);
        } else if self.running == Some(task) {
            self.yielded = Some(runnable);
        } else {
            self.woken.push_back(runnable);
        }
    }

    pub(super) fn take_in_woken(&mut self) {
        while let Some(runnable) = self.woken.pop_front() {
            self.ready[usize::from(runnable.metadata().queue)].push_back(runnable);
        }
    }

    /// Takes a task out of wherever it is.
    pub(super) fn remove(&mut self, task: TaskName) -> Option<Runnable> {
        if self.yielded.as_ref().is_some_and(|runnable| runnable.metadata().task == task) {
            return self.yielded.take();
        }
        let lists = self.ready.iter_mut().chain([&mut self.woken]);
        lists.into_iter().find_map(|list| {
            let at = list.iter().position(|runnable| runnable.metadata().task == task)?;
            list.remove(at)
        })
    }

    /// The next task of the queue: the first if it is FIFO, else the one that leads, if it is there.
    pub(super) fn pop(&mut self, queue: u16, fifo: bool, led: TaskName) -> Option<Runnable> {
        let list = &mut self.ready[usize::from(queue)];
        if fifo {
            return list.pop_front();
        }
        let at = list.iter().position(|runnable| runnable.metadata().task == led)?;
        list.remove(at)
    }
}
