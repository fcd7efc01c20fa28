//! [`Pool`]: the memory of freed cells, for the next ones.
//!
//! Each cell comes from the allocator, for itself. One that the owner thread frees is kept for the next of its size, up to
//! [`MOST_KEPT`] of each: an allocator that serves all sizes and threads keeps books for each.
//! What other threads free, and large cells, and such as need another alignment, go back to the allocator at once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::array;
use std::cell::Cell;
use std::ptr::NonNull;

/// Bytes of the largest cell that is kept.
const LARGEST: usize = 512;

/// Sizes of cells differ by a word.
const STEP: usize = 8;

const CLASSES: usize = LARGEST / STEP;

/// Bytes of free cells of a class that a pool keeps.
const MOST_KEPT: usize = 1 << 20;

/// What a test that uses a freed cell reads there.
const FREED: u8 = 0xdb;

/// A size of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    /// The class of cells of that layout. None if a pool keeps none of them.
    pub(super) const fn of(cell: Layout) -> Option<Self> {
        // Loom's model keeps freed cells, to notice a later use.
        let keeps_freed = cfg!(all(test, clockworker_loom));
        match !keeps_freed && cell.size() <= LARGEST && cell.align() <= STEP {
            true => Some(Self((cell.size().div_ceil(STEP) - 1) as u8)),
            false => None,
        }
    }

    /// Of a cell.
    const fn layout(self) -> Layout {
        match Layout::from_size_align((self.0 as usize + 1) * STEP, STEP) {
            Ok(layout) => layout,
            Err(_) => panic!("a step is a power of two"),
        }
    }

    /// Takes the memory of a cell from the allocator, uninitialised.
    ///
    /// # Aborts
    ///
    /// If there is no memory, as `Box` does.
    #[cold]
    pub(super) fn allocate(self) -> NonNull<u8> {
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc(self.layout()) };
        NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(self.layout()))
    }

    /// Gives the memory of a cell back to the allocator.
    ///
    /// # Safety
    ///
    /// This class [allocated](Class::allocate) it, and nothing uses it any more.
    #[cold]
    pub(super) unsafe fn deallocate(self, memory: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { dealloc(memory.as_ptr(), self.layout()) };
    }
}

/// What a cell is while it is kept.
struct Free {
    next: Option<NonNull<Free>>,
}

/// See the [module docs](self). The owner thread's.
pub(crate) struct Pool {
    lists: [List; CLASSES],
    /// The most bytes in each.
    most_kept: Cell<usize>,
}

/// The free cells of a class.
#[derive(Default)]
struct List {
    first: Cell<Option<NonNull<Free>>>,
    /// Bytes of all of them.
    kept: Cell<usize>,
}

// SAFETY: only the pool reaches the memory that it keeps, and no cell is there any more.
unsafe impl Send for Pool {}

impl Pool {
    pub(crate) fn new() -> Self {
        Self { lists: array::from_fn(|_| List::default()), most_kept: Cell::new(MOST_KEPT) }
    }

    /// Takes the memory of a cell, uninitialised.
    #[inline]
    pub(super) fn take(&self, class: Class) -> NonNull<u8> {
        self.take_kept(class).unwrap_or_else(|| class.allocate())
    }

    #[inline]
    fn take_kept(&self, class: Class) -> Option<NonNull<u8>> {
        let list = &self.lists[usize::from(class.0)];
        let free = list.first.get()?;
        // SAFETY: it is in this list, so it is the pool's, and each holds the next.
        list.first.set(unsafe { free.as_ref() }.next);
        list.kept.set(list.kept.get() - class.layout().size());
        Some(free.cast())
    }

    /// Takes a cell's memory back.
    ///
    /// # Safety
    ///
    /// The class [allocated](Class::allocate) it, maybe on another thread, and nothing uses it any more.
    #[inline]
    pub(super) unsafe fn give_back(&self, class: Class, memory: NonNull<u8>) {
        let (list, size) = (&self.lists[usize::from(class.0)], class.layout().size());
        let kept = list.kept.get() + size;
        if kept > self.most_kept.get() {
            // SAFETY: the caller's promise.
            return unsafe { class.deallocate(memory) };
        }
        list.kept.set(kept);
        if cfg!(debug_assertions) {
            // SAFETY: the memory is the pool's now, and so long.
            unsafe { memory.write_bytes(FREED, size) };
        }
        // SAFETY: as above; it is a word long at least, and aligned so.
        unsafe { memory.cast().write(Free { next: list.first.get() }) };
        list.first.set(Some(memory.cast()));
    }

    /// Keeps nothing from now on. For the end of the executor.
    pub(crate) fn close(&self) {
        self.most_kept.set(0);
        for class in (0..CLASSES).map(|class| Class(class as u8)) {
            while let Some(memory) = self.take_kept(class) {
                // SAFETY: it was kept, so the class allocated it.
                unsafe { class.deallocate(memory) };
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    /// Cells of so many bytes.
    fn class(size: usize) -> Class {
        Class::of(Layout::from_size_align(size, 8).unwrap()).unwrap()
    }

    /// Takes so many cells, and writes all over each.
    fn take(pool: &Pool, size: usize, cells: usize) -> Vec<NonNull<u8>> {
        let one = |_| {
            let memory = pool.take(class(size));
            // SAFETY: it is that long, and this test's.
            unsafe { memory.write_bytes(0xA5, size) };
            memory
        };
        (0..cells).map(one).collect()
    }

    fn give_back(pool: &Pool, size: usize, cells: impl IntoIterator<Item = NonNull<u8>>) {
        for memory in cells {
            // SAFETY: each was taken with that size, and is given back once.
            unsafe { pool.give_back(class(size), memory) };
        }
    }

    #[test]
    fn a_class_is_of_small_cells_whose_alignment_is_a_words() {
        let of = |size, align| Class::of(Layout::from_size_align(size, align).unwrap());
        assert_eq!((of(1, 1), of(8, 8), of(9, 8)), (Some(Class(0)), Some(Class(0)), Some(Class(1))));
        assert_eq!(of(LARGEST, 8).map(|class| class.layout().size()), Some(LARGEST));
        assert_eq!((of(LARGEST + 1, 8), of(88, 16)), (None, None));
    }

    fn kept(pool: &Pool, size: usize) -> usize {
        pool.lists[usize::from(class(size).0)].kept.get()
    }

    #[test]
    fn what_was_freed_is_used_again_for_cells_of_its_size() {
        let pool = Pool::new();
        let cells = take(&pool, 88, 3);
        give_back(&pool, 88, cells.iter().copied());
        assert_eq!(kept(&pool, 88), 3 * 88);
        let others = take(&pool, 96, 3);
        assert_eq!(kept(&pool, 88), 3 * 88);
        let again = take(&pool, 81, 3);
        assert_eq!((again.iter().rev().eq(&cells), kept(&pool, 88)), (true, 0));
        give_back(&pool, 88, again);
        give_back(&pool, 96, others);
    }

    #[test]
    fn a_pool_keeps_so_much_and_nothing_once_it_is_closed() {
        let pool = Pool::new();
        let burst = 2 * MOST_KEPT / 512;
        let mut cells = take(&pool, 512, burst);
        let last = cells.pop();
        give_back(&pool, 512, cells);
        assert_eq!(kept(&pool, 512), MOST_KEPT);
        // A burst of one size leaves room for those of another.
        give_back(&pool, 88, take(&pool, 88, 10));
        assert_eq!(kept(&pool, 88), 880);
        pool.close();
        assert_eq!([88, 512].map(|size| kept(&pool, size)), [0, 0]);
        give_back(&pool, 512, last);
        assert_eq!((kept(&pool, 512), pool.take_kept(class(512))), (0, None));
    }
}
