//! The signal by which stacks are asked for. Each test is alone in a process of its own, as signals are the process's.

#![allow(unsafe_code, reason = "threads block signals by calls of the C library")]

use std::fs;
use std::io::{Read, Write, pipe};
use std::process::Command;
use std::sync::Mutex;

use clockworker_observe::stalls::NoStack;

use super::*;
use crate::support::*;

/// Whether the process handles the signal, or ignores it.
fn is_in_use(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = |name| {
        let line = status.lines().find_map(|line: &str| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    (mask("SigCgt:") | mask("SigIgn:")) >> (signal - 1) & 1 == 1
}

#[test]
fn the_signal_is_given_back_with_the_last_guard() {
    in_child(|| {
        let (ex, number) = (Executor::new(), libc::SIGRTMAX() - 4);
        let watch = || StallDetector::new(HOURS).watch(&ex).unwrap();
        assert!(!is_in_use(number));
        let (one, other) = (watch(), watch());
        assert!(is_in_use(number));
        drop(one);
        assert!(is_in_use(number));
        drop(other);
        assert!(!is_in_use(number));
        let _without = StallDetector::new(HOURS).without_stacks().watch(&ex).unwrap();
        assert!(!is_in_use(number));
    });
}

#[test]
fn any_real_time_signal_will_do_and_no_other() {
    in_child(|| {
        let (ex, (sender, reports)) = (Executor::new(), channel());
        for number in [libc::SIGRTMIN(), libc::SIGRTMAX()] {
            let guard = detector(MS, &sender).signal(number).watch(&ex).unwrap();
            let stall = guilty_main(&ex, &reports);
            assert!(stall.stack.is_ok(), "{stall}");
            drop(guard);
            reports.try_iter().for_each(drop);
        }
        for number in [i32::MIN, -1, 0, libc::SIGSEGV, libc::SIGRTMIN() - 1, libc::SIGRTMAX() + 1, i32::MAX] {
            let error = StallDetector::new(MS).signal(number).watch(&ex).unwrap_err();
            assert!(error.is_signal() && error.to_string().contains(&number.to_string()), "{error}");
        }
    });
}

#[test]
fn a_signal_that_is_in_use_is_an_error() {
    // A program inherits what is ignored.
    let mut ignoring = Command::new("sh");
    let program = std::env::current_exe().unwrap();
    let script = format!("trap '' {}; exec \"$0\" \"$@\"", libc::SIGRTMAX() - 4);
    ignoring.arg("-c").arg(script).arg(program);
    in_child_of(ignoring, || {
        let (ex, number) = (Executor::new(), libc::SIGRTMAX() - 4);
        let error = StallDetector::new(MS).watch(&ex).unwrap_err();
        assert!(error.is_signal_in_use() && error.to_string().contains(&number.to_string()), "{error}");
        assert!(is_in_use(number));
        // There are others.
        drop(StallDetector::new(MS).signal(number - 1).watch(&ex).unwrap());
        drop(StallDetector::new(MS).without_stacks().watch(&ex).unwrap());
    });
}

/// A read of a pipe in the stalled poll is interrupted by the signal, and goes on.
#[test]
fn system_calls_go_on() {
    in_child(|| {
        let (mut reader, writer) = pipe().unwrap();
        let writer = Mutex::new(writer);
        let ex = Executor::new();
        let writes = StallDetector::new(MS).on_stall(move |stall| {
            let answer = if stall.stack.is_ok() { b"!" } else { b"?" };
            writer.lock().unwrap().write_all(answer).unwrap();
        });
        let _guard = writes.watch(&ex).unwrap();
        let mut byte = [0];
        assert_eq!(ex.block_on(async { reader.read(&mut byte) }).unwrap(), 1);
        assert_eq!(byte, *b"!");
    });
}

/// A thread that blocks the signal gives no stack. The signal that is pending must not end the process once it has no
/// handler any more and the thread lets signals in again.
#[test]
fn a_thread_that_blocks_the_signal_gives_no_stack() {
    fn let_in(is_let_in: bool) {
        let how = if is_let_in { libc::SIG_UNBLOCK } else { libc::SIG_BLOCK };
        // SAFETY: a set of signals is bits, for which all zeros is a value.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is ours.
        unsafe { libc::sigaddset(&raw mut set, libc::SIGRTMAX() - 4) };
        // SAFETY: the set is ours, and the old one is not asked for.
        unsafe { libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut()) };
    }
    in_child(|| {
        let (ex, guard, reports) = watched(MS);
        let_in(false);
        let stall = guilty_main(&ex, &reports);
        assert_eq!(stall.stack, Err(NoStack::NoAnswer), "{stall}");
        assert!(stall.to_string().contains("\n  no stack: the thread has not answered"), "{stall}");
        drop(guard);
        let_in(true);
        // A new watch gets stacks as ever.
        let (_guard, reports) = watch(&ex, MS);
        assert!(guilty_main(&ex, &reports).stack.is_ok());
    });
}
