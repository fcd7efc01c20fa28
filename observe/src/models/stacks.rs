//! The table that a signal handler walks a stack into. The handler of a thread is a thread here, as it is to the lookout.

use super::explore;
use crate::stalls::{GivenUp, StackTable, Walked};
use crate::sync::{Arc, thread};

/// What the handler of a thread does: it keeps two frames, if it is asked.
fn handle(table: &StackTable, number: u32) {
    let mark = number as usize;
    if table.begin(number) {
        assert!(table.keep(0, mark) && table.keep(1, mark) && !table.keep(2, mark));
        table.end(2, mark);
    }
}

/// Asks a thread and looks once, as a lookout whose patience is over.
fn ask(table: &StackTable, number: u32) {
    if table.ask(number).is_ok()
        && (table.is_walked() || table.give_up(number) == GivenUp::Walked && table.is_walked())
    {
        let mark = number as usize;
        assert_eq!(table.take(), Walked { addresses: vec![mark; 2], interrupted_at: mark });
    }
}

/// Two threads are asked, one after the other, with or without an answer. Each stack is whole, and of the thread that was asked.
#[test]
fn a_stack_is_of_the_thread_that_was_asked() {
    explore("stacks/two", || {
        let table = Arc::new(StackTable::new());
        let handlers = [1, 2].map(|number| {
            let table = Arc::clone(&table);
            thread::spawn(move || handle(&table, number))
        });
        ask(&table, 1);
        ask(&table, 2);
        handlers.into_iter().for_each(|handler| handler.join().unwrap());
    });
}

/// A lookout gives up, perhaps while a handler walks. The next thread is asked when that is done, or is not asked.
#[test]
fn a_handler_that_is_late_is_not_disturbed() {
    explore("stacks/late", || {
        let table = Arc::new(StackTable::new());
        assert_eq!(table.ask(1), Ok(()));
        let late = Arc::clone(&table);
        let first = thread::spawn(move || handle(&late, 1));
        thread::yield_now();
        let _ = table.give_up(1);
        if table.ask(2).is_ok() {
            let next = Arc::clone(&table);
            // It has learnt of the first by the table alone.
            thread::spawn(move || handle(&next, 2)).join().unwrap();
        }
        first.join().unwrap();
    });
}
