//! Unfinished tasks in the order of their arrival, and which of them are ready.

use super::bitmap::Bitmap;
use super::by_index;
use crate::TaskId;

/// Says of a slot that its task has no place.
const NOWHERE: u32 = u32::MAX;

/// So many more places may be dead than are alive before the living move up.
const SLACK: usize = 64;

/// Each unfinished task has a *place*, the later it arrived the higher. Those of ready tasks are marked in a bitmap.
///
/// A finished task leaves its place dead. Once most places are dead the living move up, in order, which is O(1) per
/// arrival on average. Nothing is allocated but at an arrival.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalOrder {
    /// By place: whose it is; `None` where it is dead.
    tasks: Vec<Option<TaskId>>,
    /// By slot: the place, or `NOWHERE`.
    places: Vec<u32>,
    alive: usize,
    ready: Bitmap,
    ready_count: usize,
    /// No place below is ready.
    lowest: u32,
}

impl ArrivalOrder {
    /// Of no tasks.
    pub(crate) const fn new() -> Self {
        Self {
            tasks: Vec::new(),
            places: Vec::new(),
            alive: 0,
            ready: Bitmap::new(),
            ready_count: 0,
            lowest: 0,
        }
    }

    /// The place of the task in `slot`, if it has one.
    #[inline]
    pub(crate) fn place(&self, slot: usize) -> Option<u32> {
        self.places.get(slot).copied().filter(|&place| place != NOWHERE)
    }

    /// Gives a new task the last place. `marks` are places too, and stay before the same tasks if places move up.
    pub(crate) fn arrive(&mut self, task: TaskId, marks: [&mut u32; 2]) -> u32 {
        self.depart(task.slot());
        if self.tasks.len() > 2 * self.alive + SLACK {
            marks.into_iter().for_each(|mark| *mark = self.alive_before(*mark));
            self.move_up();
        }
        let place = self.end();
        self.tasks.push(Some(task));
        if task.slot() >= self.places.len() {
            by_index::grow(&mut self.places, task.slot(), || NOWHERE);
        }
        self.places[task.slot()] = place;
        self.alive += 1;
        place
    }

    /// The task in `slot` is finished, and not ready. No-op if it has no place.
    pub(crate) fn depart(&mut self, slot: usize) {
        if let Some(place) = self.place(slot) {
            self.tasks[place as usize] = None;
            self.places[slot] = NOWHERE;
            self.alive -= 1;
        }
    }

    /// The place after the last.
    pub(crate) fn end(&self) -> u32 {
        self.tasks.len() as u32
    }

    /// Marks a place as ready. It was not.
    #[inline]
    pub(crate) fn set_ready(&mut self, place: u32) {
        self.ready.set(place);
        self.ready_count += 1;
        self.lowest = self.lowest.min(place);
    }

    /// How many places are ready.
    #[inline]
    pub(crate) fn ready_count(&self) -> usize {
        self.ready_count
    }

    /// The first ready place.
    #[inline]
    pub(crate) fn first_ready(&mut self) -> Option<u32> {
        let first = self.ready.at_or_above(self.lowest.into());
        self.lowest = first.unwrap_or_else(|| self.end());
        first
    }

    /// The first ready place from `from` on and before `before`.
    pub(crate) fn ready_between(&self, from: u32, before: u32) -> Option<u32> {
        self.ready.at_or_above(from.into()).filter(|&place| place < before)
    }

    /// Takes the task of a ready place out.
    #[inline]
    pub(crate) fn take_ready(&mut self, place: u32) -> Option<TaskId> {
        self.ready.clear(place);
        self.ready_count -= 1;
        self.tasks.get(place as usize).copied().flatten()
    }

    fn alive_before(&self, place: u32) -> u32 {
        self.tasks.iter().take(place as usize).flatten().count() as u32
    }

    /// Gives the living the first places, in order.
    fn move_up(&mut self) {
        let mut to = 0;
        for from in 0..self.end() {
            let Some(task) = self.tasks[from as usize].take() else { continue };
            if self.ready.contains(from) {
                self.ready.clear(from);
                self.ready.set(to);
            }
            self.tasks[to as usize] = Some(task);
            self.places[task.slot()] = to;
            to += 1;
        }
        self.tasks.truncate(to as usize);
        self.lowest = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_move_up_in_order_and_marks_with_them() {
        let mut order = ArrivalOrder::new();
        let (mut mark, mut end) = (0, 0);
        let task = |slot| TaskId::new(slot, 0);
        for slot in 0..100 {
            let place = order.arrive(task(slot), [&mut mark, &mut end]);
            assert_eq!(place, slot);
            order.set_ready(place);
        }
        // Of 100, those in 10, 20 … 90 stay; 90 is not ready.
        for slot in (0..100).filter(|slot| slot % 10 != 0 || *slot == 0) {
            assert_eq!(order.take_ready(slot), Some(task(slot)));
            order.depart(slot as usize);
        }
        assert_eq!(order.take_ready(90), Some(task(90)));
        (mark, end) = (20, 100); // before the task in 20, and after all
        assert_eq!(order.arrive(task(0), [&mut mark, &mut end]), 9);
        assert_eq!((mark, end), (1, 9));
        assert_eq!((order.end(), order.ready_count()), (10, 8));
        let first = order.first_ready();
        assert_eq!((first, first.and_then(|place| order.take_ready(place))), (Some(0), Some(task(10))));
        assert_eq!(order.ready_between(mark, end), Some(1));
        assert_eq!((order.ready_between(8, end), order.place(90), order.place(95)), (None, Some(8), None));
    }
}
