//! One of the client's connections: writes requests, and compares every byte of the answers.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};

use anyhow::{Error, Result, anyhow};
use mio::net::TcpStream;

use crate::measurements::service::dialogue::Dialogue;

pub(super) struct Connection {
    stream: TcpStream,
    number: usize,
    /// Requests that are written, with the bytes of the one after.
    written: u64,
    written_bytes: usize,
    /// Requests that are answered, with the bytes of the answer after.
    answered: u64,
    answered_bytes: usize,
    /// When each request that is not answered yet was to be sent.
    waiting: VecDeque<u64>,
}

impl Connection {
    pub(super) fn new(number: usize, stream: TcpStream) -> Self {
        let (written, answered, waiting) = (0, 0, VecDeque::with_capacity(64));
        Connection { stream, number, written, written_bytes: 0, answered, answered_bytes: 0, waiting }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Begins a request, to be sent at `intended` nanoseconds from some start, and writes what can be written.
    pub(super) fn begin(&mut self, intended: u64, dialogue: &dyn Dialogue) -> Result<()> {
        self.waiting.push_back(intended);
        self.write(dialogue)
    }

    pub(super) fn write(&mut self, dialogue: &dyn Dialogue) -> Result<()> {
        while self.written < self.answered + self.waiting.len() as u64 {
            let (request, _) = dialogue.exchange(self.number, self.written);
            match self.stream.write(&request[self.written_bytes..]) {
                Ok(bytes) => self.written_bytes += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
            if self.written_bytes == request.len() {
                self.written_bytes = 0;
                self.written += 1;
            }
        }
        Ok(())
    }

    /// Reads what has come, and appends to `answered` when each of the requests that are answered was to be sent.
    pub(super) fn read(
        &mut self,
        dialogue: &dyn Dialogue,
        buffer: &mut [u8],
        answered: &mut Vec<u64>,
    ) -> Result<()> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(self.closed()),
                Ok(bytes) => {
                    self.take(&buffer[..bytes], dialogue, answered)?;
                    if bytes < buffer.len() {
                        // There is no more: when there is, there is a new event.
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn take(&mut self, mut bytes: &[u8], dialogue: &dyn Dialogue, answered: &mut Vec<u64>) -> Result<()> {
        while !bytes.is_empty() {
            let Some(&intended) = self.waiting.front() else {
                return Err(self.broken("more came back than was sent"));
            };
            let (_, answer) = dialogue.exchange(self.number, self.answered);
            let expected = &answer[self.answered_bytes..];
            let part = expected.len().min(bytes.len());
            if bytes[..part] != expected[..part] {
                return Err(self.broken("something else came back than was to"));
            }
            bytes = &bytes[part..];
            self.answered_bytes += part;
            if part == expected.len() {
                self.answered_bytes = 0;
                self.answered += 1;
                self.waiting.pop_front();
                answered.push(intended);
            }
        }
        Ok(())
    }

    pub(super) fn closed(&self) -> Error {
        self.broken("the server closed it")
    }

    fn broken(&self, reason: impl std::fmt::Display) -> Error {
        anyhow!("connection {} to a server: {reason}", self.number)
    }
}
