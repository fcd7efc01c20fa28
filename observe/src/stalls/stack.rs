//! [`Stack`]: where a thread stands.

use std::fmt;

/// Where a stalled thread stands, innermost function first. `Display` prints it as a panic's backtrace is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    pub(super) frames: Vec<Frame>,
}

/// A function that is being called. Functions that were inlined have frames of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The address of the instruction.
    pub address: usize,
    /// The function's name, if the program has symbols.
    pub function: Option<String>,
    /// The source file, if the program has debug information.
    pub file: Option<String>,
    /// The line in it, from 1 on.
    pub line: Option<u32>,
}

/// Why a [`Stall`](super::Stall) has no stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoStack {
    /// The detector is [without stacks](super::StallDetector::without_stacks).
    NotAsked,
    /// There is no way to get one on this platform: it takes Linux.
    Unsupported,
    /// The poll ended before the thread answered.
    Ended,
    /// The thread has not answered within a second: it blocks the signal, or the kernel does not let it run.
    NoAnswer,
    /// The thread of an earlier stall is still at it.
    Busy,
}

impl Stack {
    /// The functions being called, innermost first.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, frame) in self.frames.iter().enumerate() {
            match &frame.function {
                Some(function) => writeln!(f, "{number:>4}: {function}")?,
                None => writeln!(f, "{number:>4}: {:#x}", frame.address)?,
            }
            match (&frame.file, frame.line) {
                (Some(file), Some(line)) => writeln!(f, "        at {file}:{line}")?,
                (Some(file), None) => writeln!(f, "        at {file}")?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl fmt::Display for NoStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoStack::NotAsked => "not asked for",
            NoStack::Unsupported => "not available on this platform",
            NoStack::Ended => "the poll ended before the thread answered",
            NoStack::NoAnswer => "the thread has not answered the signal",
            NoStack::Busy => "the thread of an earlier stall is still walking its stack",
        })
    }
}

impl std::error::Error for NoStack {}
