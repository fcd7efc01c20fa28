use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use super::*;
use crate::task::{Shared, SharedRef};

/// Cells of so many bytes.
fn class(size: usize) -> Class {
    Class::of(Layout::from_size_align(size, 8).unwrap()).unwrap()
}

/// A pool whose cells come from blocks from the first on, and what other threads have freed of it.
fn pool() -> (Pool, Returned) {
    let pool = Pool::new();
    pool.lanes.iter().for_each(|lane| lane.single.set(SINGLE));
    (pool, Returned::new())
}

/// Takes so many cells, and writes all over each.
fn take(pool: &Pool, returned: &Returned, size: usize, cells: usize) -> Vec<NonNull<u8>> {
    let one = |_| {
        let memory = pool.take(class(size), returned).unwrap();
        // SAFETY: it is that long, and this test's.
        unsafe { memory.write_bytes(0xA5, size) };
        memory
    };
    (0..cells).map(one).collect()
}

fn give_back(pool: &Pool, cells: impl IntoIterator<Item = NonNull<u8>>) {
    for memory in cells {
        // SAFETY: each was taken from this pool, and is given back once.
        unsafe { pool.give_back(memory) };
    }
}

/// The blocks that a pool has, by where it has them: current, partial, full, spare.
fn blocks(pool: &Pool) -> [usize; 4] {
    let lanes = || pool.lanes.iter();
    [
        lanes().filter(|lane| lane.current.get().is_some()).count(),
        lanes().map(|lane| lane.partial.len()).sum(),
        pool.full.len(),
        pool.spare.len(),
    ]
}

/// How many cells of that size a block has.
fn per_block(size: usize) -> usize {
    let (pool, returned) = pool();
    let mut cells = take(&pool, &returned, size, 1);
    while blocks(&pool) == [1, 0, 0, 0] {
        cells.extend(take(&pool, &returned, size, 1));
    }
    give_back(&pool, cells.iter().copied());
    cells.len() - 1
}

#[test]
fn a_class_is_of_small_cells_whose_alignment_is_a_words() {
    let of = |size, align| Class::of(Layout::from_size_align(size, align).unwrap());
    assert_eq!((of(1, 1), of(8, 8), of(9, 8)), (Some(Class(0)), Some(Class(0)), Some(Class(1))));
    assert_eq!(of(LARGEST, 8).map(Class::size), Some(LARGEST));
    assert_eq!((of(LARGEST + 1, 8), of(88, 16)), (None, None));
}

#[test]
fn the_first_cells_of_a_class_come_from_the_allocator() {
    let (pool, returned) = (Pool::new(), Returned::new());
    for size in [88, 96] {
        for _ in 0..SINGLE {
            assert_eq!(pool.take(class(size), &returned), None);
        }
    }
    assert_eq!(blocks(&pool), [0; 4]);
    assert!(pool.take(class(88), &returned).is_some());
    assert_eq!(blocks(&pool), [1, 0, 0, 0]);
}

#[test]
fn cells_in_use_do_not_overlap() {
    let (pool, returned) = pool();
    let sizes = [88, 96, 512, 8, 88];
    let all: Vec<(usize, Vec<NonNull<u8>>)> =
        sizes.iter().map(|&size| (size, take(&pool, &returned, size, 500))).collect();
    let words_of = |cell: &NonNull<u8>, size: usize| {
        let begin = cell.as_ptr().addr();
        (0..size / 8).map(move |word| begin + 8 * word)
    };
    let mut words = Vec::new();
    for (size, cells) in &all {
        cells.iter().for_each(|cell| words.extend(words_of(cell, *size)));
    }
    assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
    all.into_iter().for_each(|(_, cells)| give_back(&pool, cells));
}

#[test]
fn a_block_is_full_of_cells_but_for_its_header_and_the_allocators_word() {
    assert_eq!([8, 88].map(per_block), [2_039, 185]);
}

#[test]
fn a_block_goes_from_current_to_full_to_partial_to_spare_and_is_cut_anew() {
    let (pool, returned) = pool();
    let each = per_block(88);
    let mut cells = take(&pool, &returned, 88, 2 * each + 1);
    assert_eq!(blocks(&pool), [1, 0, 2, 0]);
    let first = cells.remove(0);
    give_back(&pool, [first]);
    assert_eq!(blocks(&pool), [1, 1, 1, 0]);
    let rest: Vec<_> = cells.drain(..each - 1).collect();
    give_back(&pool, rest);
    assert_eq!(blocks(&pool), [1, 0, 1, 1]);
    let others = take(&pool, &returned, 96, 2);
    assert_eq!(blocks(&pool), [2, 0, 1, 0], "the spare serves another class");
    assert_eq!(others[1].as_ptr().addr() - others[0].as_ptr().addr(), 96);
    give_back(&pool, cells.into_iter().chain(others));
    assert_eq!(blocks(&pool), [2, 0, 0, 1], "those that cells are taken from stay");
}

#[test]
fn room_in_blocks_is_used_before_another_is_asked_for() {
    let (pool, returned) = pool();
    let each = per_block(64);
    let mut cells = take(&pool, &returned, 64, 5 * each);
    // One of each is left.
    let left: Vec<_> = cells.iter().copied().step_by(each).collect();
    cells.retain(|cell| !left.contains(cell));
    let given_back = cells.len();
    give_back(&pool, cells);
    let blocks_before: usize = blocks(&pool).iter().sum();
    let again = take(&pool, &returned, 64, given_back);
    assert_eq!(blocks(&pool).iter().sum::<usize>(), blocks_before);
    give_back(&pool, again.into_iter().chain(left));
}

#[test]
fn a_pool_keeps_so_many_blocks_without_cells_and_none_once_it_is_closed() {
    let (pool, returned) = pool();
    let each = per_block(88);
    let cells = take(&pool, &returned, 88, (2 * SPARES) * each);
    give_back(&pool, cells);
    assert_eq!(blocks(&pool), [0, 0, 0, SPARES], "the current one was the last, and empty");
    let mut cells = take(&pool, &returned, 88, 2 * each);
    give_back(&pool, take(&pool, &returned, 96, 1));
    assert_eq!(blocks(&pool)[0], 2, "the block of the other class is empty, and cells are taken from it");
    pool.close(&returned);
    assert_eq!(blocks(&pool), [1, 0, 1, 0]);
    let last = cells.pop();
    give_back(&pool, cells);
    assert_eq!(blocks(&pool), [1, 0, 0, 0], "one cell is in use");
    give_back(&pool, last);
    assert_eq!(blocks(&pool), [0; 4]);
}

#[test]
fn what_other_threads_free_is_used_again() {
    let shared = SharedRef::new(Shared::new());
    let take = |cells| -> Vec<usize> {
        let one = |_| shared.take_memory(class(88)).unwrap().as_ptr().expose_provenance();
        (0..cells).map(one).collect()
    };
    for _ in 0..SINGLE {
        assert_eq!(shared.take_memory(class(88)), None);
    }
    let each = per_block(88);
    let mut mine = take(3 * each);
    let before: HashSet<usize> = mine.iter().copied().collect();
    let shared_there = Arc::new(shared.clone());
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (theirs, shared) = (mine.split_off(mine.len() - each), Arc::clone(&shared_there));
            thread::spawn(move || {
                for address in theirs {
                    let memory = NonNull::new(std::ptr::with_exposed_provenance_mut(address)).unwrap();
                    // SAFETY: it was taken there, and is freed once.
                    unsafe { shared.give_memory_back(shared.local(), memory) };
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let again: HashSet<usize> = take(3 * each).into_iter().collect();
    assert_eq!(again, before);
    shared.close_pool();
    shared.close_credits();
}
