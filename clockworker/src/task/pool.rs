//! [`Pool`]: the memory of an executor's cells.
//!
//! Spawning 100,000 tasks and joining them takes 100,000 cells of one size from the allocator and gives them back. An allocator
//! that serves all sizes and threads keeps books for each. A pool does not: it takes [blocks](block) of 16 KiB, cuts each into cells
//! of one size, and counts how many of a block are in use. A block without cells goes back to the allocator, but for the last
//! [`SPARES`] of them.
//!
//! A pool is its owner thread's. Other threads push what they free onto [`Returned`]; the owner collects that before it takes another
//! block, when a queue's last task has finished, and before it sleeps.
//!
//! Every cell holds a [`SharedRef`](super::SharedRef), and with it the pool that it came from. So when the pool is dropped, no cell of it
//! is left, wherever the last one was freed. What other threads free after the end of the executor stays until then.
//!
//! From the allocator come, each for itself: cells that other threads make, large ones and such as need another alignment (see
//! [`Class::of`]), and the first [`SINGLE`] of a class, so that an executor of a few tasks has no blocks. (And a memory checker
//! sees each of their cells, as in most tests.)

mod block;
mod returned;
#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests;

use std::alloc::Layout;
use std::array;
use std::cell::Cell;
use std::ptr::NonNull;

use block::{Block, Blocks, Place};
pub(crate) use returned::Returned;
#[cfg(all(test, clockworker_loom))]
pub(crate) use returned::Vacant;

/// Bytes of the largest cell that comes from a pool.
const LARGEST: usize = 512;

/// Sizes of cells differ by a word.
const STEP: usize = 8;

const CLASSES: usize = LARGEST / STEP;

/// Cells of a class that come from the allocator before there is a block: one of them takes more memory than so many small cells.
const SINGLE: u32 = if cfg!(all(test, clockworker_shuttle)) { 0 } else { 64 };

/// Blocks without cells that are kept for the next ones: 256 KiB.
const SPARES: usize = 16;

/// A size of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

/// See the [module docs](self).
pub(crate) struct Pool {
    lanes: [Lane; CLASSES],
    /// Blocks whose cells are all in use.
    full: Blocks,
    /// Blocks of any class without cells.
    spare: Blocks,
    spares: Cell<usize>,
    /// How many spares it keeps.
    keeps: Cell<usize>,
}

/// The blocks of a class that have room.
#[derive(Default)]
struct Lane {
    /// From which cells are taken now.
    current: Cell<Option<Block>>,
    partial: Blocks,
    /// How many cells came from the allocator.
    single: Cell<u32>,
}

// SAFETY: only the pool and its owner's calls reach its blocks. It may be dropped on another thread, when no cell of it is left.
unsafe impl Send for Pool {}

impl Class {
    /// The class of cells of that layout. None if they come from the allocator.
    pub(super) const fn of(cell: Layout) -> Option<Self> {
        // Loom's model keeps freed cells, to notice a later use.
        let keeps_freed = cfg!(all(test, clockworker_loom));
        match !keeps_freed && cell.size() <= LARGEST && cell.align() <= STEP {
            true => Some(Self((cell.size().div_ceil(STEP) - 1) as u8)),
            false => None,
        }
    }

    /// Bytes of a cell.
    fn size(self) -> usize {
        (usize::from(self.0) + 1) * STEP
    }
}

impl Pool {
    pub(crate) fn new() -> Self {
        Self {
            lanes: array::from_fn(|_| Lane::default()),
            full: Blocks::default(),
            spare: Blocks::default(),
            spares: Cell::new(0),
            keeps: Cell::new(SPARES),
        }
    }

    /// Takes the memory of a cell: uninitialised, and of the class's size. None if the cell is to come from the allocator.
    ///
    /// # Aborts
    ///
    /// If there is no memory, as `Box` does.
    #[inline]
    pub(super) fn take(&self, class: Class, returned: &Returned) -> Option<NonNull<u8>> {
        let lane = &self.lanes[usize::from(class.0)];
        let memory = lane.current.get().and_then(Block::take);
        if memory.is_some() { memory } else { self.take_from_another(class, lane, returned) }
    }

    #[cold]
    fn take_from_another(&self, class: Class, lane: &Lane, returned: &Returned) -> Option<NonNull<u8>> {
        if lane.single.get() < SINGLE {
            lane.single.set(lane.single.get() + 1);
            return None;
        }
        self.collect(returned);
        loop {
            if let Some(memory) = lane.current.get().and_then(Block::take) {
                return Some(memory);
            }
            let next = lane.partial.pop().unwrap_or_else(|| self.fresh(class));
            next.set_place(Place::Current);
            if let Some(full) = lane.current.replace(Some(next)) {
                full.set_place(Place::Full);
                self.full.push(full);
            }
        }
    }

    /// A block without cells.
    fn fresh(&self, class: Class) -> Block {
        match self.spare.pop() {
            Some(spare) => {
                self.spares.set(self.spares.get() - 1);
                spare.cut(class.size());
                spare
            }
            None => Block::allocate(class.size()),
        }
    }

    /// Takes a cell's memory back.
    ///
    /// # Safety
    ///
    /// This pool gave it out, and nothing uses it any more.
    #[inline]
    pub(super) unsafe fn give_back(&self, memory: NonNull<u8>) {
        // SAFETY: the caller's promise.
        let block = unsafe { Block::of(memory) };
        // SAFETY: as above.
        let in_use = unsafe { block.give_back(memory) };
        match block.place() {
            Place::Full => self.settle_full(block, in_use),
            Place::Partial if in_use == 0 => self.settle_empty(block),
            Place::Current if in_use == 0 && self.spares.get() == self.keeps.get() => {
                self.settle_current(block)
            }
            _ => {}
        }
    }

    /// Finds a place for a block that was full.
    #[inline(never)]
    fn settle_full(&self, block: Block, in_use: usize) {
        self.full.unlink(block);
        block.set_place(Place::Partial);
        self.lane_of(block).partial.push(block);
        if in_use == 0 {
            self.settle_empty(block);
        }
    }

    /// Finds a place for a block that had room, and is empty.
    #[inline(never)]
    fn settle_empty(&self, block: Block) {
        self.lane_of(block).partial.unlink(block);
        if self.spares.get() < self.keeps.get() {
            self.spares.set(self.spares.get() + 1);
            block.set_place(Place::Spare);
            self.spare.push(block);
        } else {
            // SAFETY: none of its cells is in use, and no list has it.
            unsafe { block.free() };
        }
    }

    /// Frees the empty block that cells are taken from, at the end of a burst: there are spares enough. It was the last to be
    /// allocated, and what is below it could not be given back to the kernel while it stays.
    #[cold]
    fn settle_current(&self, block: Block) {
        self.lane_of(block).current.set(None);
        // SAFETY: none of its cells is in use, and it was in this place only.
        unsafe { block.free() };
    }

    fn lane_of(&self, block: Block) -> &Lane {
        &self.lanes[block.size() / STEP - 1]
    }

    /// Takes back what other threads have freed.
    #[inline]
    pub(crate) fn collect(&self, returned: &Returned) {
        if !returned.is_empty() {
            self.collect_all(returned);
        }
    }

    #[cold]
    fn collect_all(&self, returned: &Returned) {
        for memory in returned.take_all() {
            // SAFETY: it was given out by this pool, and pushed when it was freed.
            unsafe { self.give_back(memory) };
        }
    }

    /// Keeps no block without cells from now on. For the end of the executor.
    pub(crate) fn close(&self, returned: &Returned) {
        self.collect(returned);
        self.keeps.set(0);
        for lane in &self.lanes {
            let Some(block) = lane.current.get() else { continue };
            if block.in_use() == 0 {
                self.settle_current(block);
            }
        }
        while let Some(spare) = self.spare.pop() {
            self.spares.set(self.spares.get() - 1);
            // SAFETY: a spare has no cells, and no list has it any more.
            unsafe { spare.free() };
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let lists = self.lanes.iter().map(|lane| &lane.partial).chain([&self.full, &self.spare]);
        let currents = self.lanes.iter().filter_map(|lane| lane.current.take());
        for block in currents.chain(lists.flat_map(|list| std::iter::from_fn(|| list.pop()))) {
            // SAFETY: each cell in use would hold the pool, so there is none. The block was in this place only.
            unsafe { block.free() };
        }
    }
}
