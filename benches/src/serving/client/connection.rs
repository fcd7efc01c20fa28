//! One of the client's connections: writes messages, and holds the server to every byte of them.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};

use mio::net::TcpStream;

use crate::failure::Failure;
use crate::serving::dialogue::Dialogue;

pub(super) struct Connection {
    stream: TcpStream,
    number: usize,
    /// Messages that are written, with the bytes of the one after.
    written: u64,
    written_bytes: usize,
    /// Messages that came back, with the bytes of the one after.
    echoed: u64,
    echoed_bytes: usize,
    /// When each message that is not back yet was to be sent.
    waiting: VecDeque<u64>,
}

impl Connection {
    pub(super) fn new(number: usize, stream: TcpStream) -> Self {
        let (written, echoed, waiting) = (0, 0, VecDeque::with_capacity(64));
        Connection { stream, number, written, written_bytes: 0, echoed, echoed_bytes: 0, waiting }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Begins a message, to be sent at `intended` nanoseconds from some start, and writes what can be written.
    pub(super) fn begin(&mut self, intended: u64, dialogue: &impl Dialogue) -> Result<(), Failure> {
        self.waiting.push_back(intended);
        self.write(dialogue)
    }

    pub(super) fn write(&mut self, dialogue: &impl Dialogue) -> Result<(), Failure> {
        while self.written < self.echoed + self.waiting.len() as u64 {
            let (message, _) = dialogue.exchange(self.number, self.written);
            match self.stream.write(&message[self.written_bytes..]) {
                Ok(bytes) => self.written_bytes += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
            if self.written_bytes == message.len() {
                self.written_bytes = 0;
                self.written += 1;
            }
        }
        Ok(())
    }

    /// Reads what has come, and appends to `echoed` when each of the messages that are back was to be sent.
    pub(super) fn read(
        &mut self,
        dialogue: &impl Dialogue,
        buffer: &mut [u8],
        echoed: &mut Vec<u64>,
    ) -> Result<(), Failure> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(self.closed()),
                Ok(bytes) => {
                    self.take(&buffer[..bytes], dialogue, echoed)?;
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

    fn take(
        &mut self,
        mut bytes: &[u8],
        dialogue: &impl Dialogue,
        echoed: &mut Vec<u64>,
    ) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let Some(&intended) = self.waiting.front() else {
                return Err(self.broken("more came back than was sent"));
            };
            let (_, answer) = dialogue.exchange(self.number, self.echoed);
            let expected = &answer[self.echoed_bytes..];
            let part = expected.len().min(bytes.len());
            if bytes[..part] != expected[..part] {
                return Err(self.broken("something else came back than was to"));
            }
            bytes = &bytes[part..];
            self.echoed_bytes += part;
            if part == expected.len() {
                self.echoed_bytes = 0;
                self.echoed += 1;
                self.waiting.pop_front();
                echoed.push(intended);
            }
        }
        Ok(())
    }

    pub(super) fn closed(&self) -> Failure {
        self.broken("the server closed it")
    }

    fn broken(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::run(format!("connection {} to a server: {reason}", self.number))
    }
}
