//! SIGINT and SIGTERM: the first asks for an end, a second one is one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::worker::Event;

/// Ctrl-c's, and that of supervisors.
const ENDS: [i32; 2] = [SIGINT, SIGTERM];

/// The exit code of a process that a second signal has ended.
const IMPATIENT: i32 = 2;

/// Tells of the first signal. From then on another ends the process at once.
pub(super) fn watch(events: Sender<Event>) -> io::Result<()> {
    let again = Arc::new(AtomicBool::new(false));
    for signal in ENDS {
        // In this order: the first signal finds the flag as it is.
        flag::register_conditional_shutdown(signal, IMPATIENT, Arc::clone(&again))?;
        flag::register(signal, Arc::clone(&again))?;
    }
    let mut signals = Signals::new(ENDS)?;
    let thread = move || {
        if signals.forever().next().is_some() {
            // If nobody listens, all cores are done.
            let _ = events.send(Event::Signal);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(thread).map(drop)
}
