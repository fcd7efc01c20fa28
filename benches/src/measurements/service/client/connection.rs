//! One of the client's connections: writes requests, and compares every byte of the answers.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use mio::event::Event;
use mio::net::TcpStream;

use crate::measurements::service::protocol::Dialogue;

pub(super) struct Connection {
    stream: TcpStream,
    dialogue: Dialogue,
    /// What is not written yet, and what is not read yet.
    outgoing: Vec<u8>,
    expected: Vec<u8>,
    /// Of each request that is not answered yet: when it was due, and the length of its answer.
    waiting: VecDeque<(Duration, usize)>,
    /// Bytes of the answer to the first of these that are read.
    read: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, dialogue: Dialogue) -> Self {
        let (outgoing, expected, waiting) = (Vec::new(), Vec::new(), VecDeque::new());
        Connection { stream, dialogue, outgoing, expected, waiting, read: 0 }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Its requests, with their answers.
    pub(super) fn dialogue(&self) -> Dialogue {
        self.dialogue.clone()
    }

    /// Writes what can be written of a request.
    pub(super) fn send(&mut self, request: &str) -> Result<()> {
        self.outgoing.extend_from_slice(request.as_bytes());
        self.write()
    }

    /// Expects an answer to a request that was due then.
    pub(super) fn expect(&mut self, answer: &str, due: Duration) {
        self.expected.extend_from_slice(answer.as_bytes());
        self.waiting.push_back((due, answer.len()));
    }

    /// Writes and reads what can be. When the requests were due that are now answered.
    pub(super) fn serve(&mut self, event: &Event, buffer: &mut [u8]) -> Result<Vec<Duration>> {
        let mut answered = Vec::new();
        if event.is_writable() {
            self.write()?;
        }
        // What broke is found out by reading.
        if event.is_readable() || event.is_error() {
            self.read(buffer, &mut answered)?;
        }
        // A read that fetches the last bytes before the end does not show the end, and no other event will.
        ensure!(!event.is_read_closed(), CLOSED);
        Ok(answered)
    }

    fn write(&mut self) -> Result<()> {
        while !self.outgoing.is_empty() {
            match self.stream.write(&self.outgoing) {
                Ok(bytes) => drop(self.outgoing.drain(..bytes)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], answered: &mut Vec<Duration>) -> Result<()> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => bail!(CLOSED),
                Ok(bytes) => {
                    self.take(&buffer[..bytes], answered)?;
                    if bytes < buffer.len() {
                        // There is no more: when there is, there is a new event.
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take(&mut self, bytes: &[u8], answered: &mut Vec<Duration>) -> Result<()> {
        let part = bytes.len().min(self.expected.len());
        ensure!(bytes[..part] == self.expected[..part], "something else came back than was to");
        ensure!(bytes.len() == part, "more came back than was sent");
        self.expected.drain(..part);
        self.read += part;
        while let Some(&(due, length)) = self.waiting.front()
            && length <= self.read
        {
            self.read -= length;
            self.waiting.pop_front();
            answered.push(due);
        }
        Ok(())
    }
}

const CLOSED: &str = "the server closed it";
