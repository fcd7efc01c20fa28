//! [`Block`]: memory that a pool cuts into cells of one size.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

/// Blocks begin at a multiple of so many bytes, by which the block of a cell is found.
const SPAN: usize = 16 << 10;

/// Bytes of a block. With the word that glibc keeps before it, it is as long as its span: they lie side by side, and nothing between
/// them hinders that they are given back to the kernel.
const SIZE: usize = SPAN - size_of::<usize>();

const LAYOUT: Layout = match Layout::from_size_align(SIZE, SPAN) {
    Ok(layout) => layout,
    Err(_) => panic!("the span is a power of two"),
};

/// What a test that uses a freed cell reads there: memory checkers take all of a block for in use.
const FREED: u8 = 0xdb;

/// Where the first cell begins: behind the header, at a cache line.
const FIRST: usize = 64;

const _: () = assert!(size_of::<Header>() <= FIRST);

/// A block, as its pool refers to it. The pool has it in one place, and drops that when it frees the block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Block(NonNull<Header>);

/// What a block begins with. The owner thread's.
struct Header {
    /// The cells that were given back, each of which holds the next.
    free: Cell<Option<NonNull<Free>>>,
    /// Where the cells begin that were never taken, in bytes from the block's beginning.
    untouched: Cell<usize>,
    /// Bytes of a cell.
    size: Cell<usize>,
    in_use: Cell<usize>,
    place: Cell<Place>,
    /// Its neighbours in the list that it is in.
    before: Cell<Option<Block>>,
    after: Cell<Option<Block>>,
}

/// Where a pool has a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its class takes cells from it.
    Current,
    /// In its class's list of blocks that have room.
    Partial,
    Full,
    Spare,
}

/// What a cell is that was given back.
struct Free {
    next: Option<NonNull<Free>>,
}

impl Block {
    /// A block without cells, cut into such of `size` bytes.
    ///
    /// # Aborts
    ///
    /// If there is no memory.
    pub(super) fn allocate(size: usize) -> Self {
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc(LAYOUT) };
        let Some(header) = NonNull::new(memory.cast::<Header>()) else { handle_alloc_error(LAYOUT) };
        let empty = Header {
            free: Cell::new(None),
            untouched: Cell::new(FIRST),
            size: Cell::new(size),
            in_use: Cell::new(0),
            place: Cell::new(Place::Spare),
            before: Cell::new(None),
            after: Cell::new(None),
        };
        // SAFETY: the memory is this call's, large enough and aligned.
        unsafe { header.write(empty) };
        Self(header)
    }

    /// The block of a cell.
    ///
    /// # Safety
    ///
    /// `memory` was [taken](Block::take) from a block.
    #[inline]
    pub(super) unsafe fn of(memory: NonNull<u8>) -> Self {
        let begin = memory.as_ptr().map_addr(|address| address & !(SPAN - 1));
        // SAFETY: the block begins there, as it is aligned so and no longer, and not at null.
        Self(unsafe { NonNull::new_unchecked(begin.cast()) })
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the pool keeps no `Block` of one that it has freed.
        unsafe { self.0.as_ref() }
    }

    /// Cuts it anew. It has no cells.
    pub(super) fn cut(self, size: usize) {
        let header = self.header();
        debug_assert_eq!(header.in_use.get(), 0);
        header.free.set(None);
        header.untouched.set(FIRST);
        header.size.set(size);
    }

    /// Takes the memory of a cell. None if all are in use.
    #[inline]
    pub(super) fn take(self) -> Option<NonNull<u8>> {
        let header = self.header();
        let memory = match header.free.get() {
            Some(free) => {
                // SAFETY: the free cells are the block's, and each holds the next.
                header.free.set(unsafe { free.as_ref() }.next);
                free.cast()
            }
            None => self.touch()?,
        };
        header.in_use.set(header.in_use.get() + 1);
        Some(memory)
    }

    /// Takes the first cell that was never taken.
    #[inline]
    fn touch(self) -> Option<NonNull<u8>> {
        let header = self.header();
        let (begin, size) = (header.untouched.get(), header.size.get());
        if begin + size > SIZE {
            return None;
        }
        header.untouched.set(begin + size);
        // SAFETY: it is within the block.
        Some(unsafe { self.0.cast::<u8>().add(begin) })
    }

    /// Takes a cell's memory back. Returns how many are in use.
    ///
    /// # Safety
    ///
    /// It was taken from this block, and nothing uses it any more.
    #[inline]
    pub(super) unsafe fn give_back(self, memory: NonNull<u8>) -> usize {
        let (header, free) = (self.header(), memory.cast::<Free>());
        if cfg!(debug_assertions) {
            // SAFETY: the memory is the block's again, and as long as its cells are.
            unsafe { memory.write_bytes(FREED, header.size.get()) };
        }
        // SAFETY: the memory is the block's again. It is a word long at least, and aligned so.
        unsafe { free.write(Free { next: header.free.get() }) };
        header.free.set(Some(free));
        let in_use = header.in_use.get() - 1;
        header.in_use.set(in_use);
        in_use
    }

    /// Gives it back to the allocator.
    ///
    /// # Safety
    ///
    /// No cell of it is in use, and no `Block` of it is used again.
    pub(super) unsafe fn free(self) {
        // SAFETY: it was allocated with this layout; the rest is the caller's promise.
        unsafe { dealloc(self.0.as_ptr().cast(), LAYOUT) };
    }

    pub(super) fn in_use(self) -> usize {
        self.header().in_use.get()
    }

    pub(super) fn size(self) -> usize {
        self.header().size.get()
    }

    #[inline]
    pub(super) fn place(self) -> Place {
        self.header().place.get()
    }

    pub(super) fn set_place(self, place: Place) {
        self.header().place.set(place);
    }
}

/// A list of blocks, through the blocks themselves. A block is in one at most.
#[derive(Default)]
pub(super) struct Blocks {
    first: Cell<Option<Block>>,
}

impl Blocks {
    pub(super) fn push(&self, block: Block) {
        let after = self.first.replace(Some(block));
        block.header().before.set(None);
        block.header().after.set(after);
        if let Some(after) = after {
            after.header().before.set(Some(block));
        }
    }

    pub(super) fn pop(&self) -> Option<Block> {
        let first = self.first.get()?;
        self.unlink(first);
        Some(first)
    }

    /// Takes a block out of this list, which it is in.
    pub(super) fn unlink(&self, block: Block) {
        let (before, after) = (block.header().before.take(), block.header().after.take());
        match before {
            Some(before) => before.header().after.set(after),
            None => self.first.set(after),
        }
        if let Some(after) = after {
            after.header().before.set(before);
        }
    }

    #[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
    pub(super) fn len(&self) -> usize {
        std::iter::successors(self.first.get(), |block| block.header().after.get()).count()
    }
}
