//! One of the client's connections: writes messages, and holds the server to every byte of them.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};

use mio::net::TcpStream;

use super::dialogue::Dialogue;
use crate::failure::Failure;

/// A connection, and what is under way on it.
#[derive(Debug)]
pub struct Connection<S = TcpStream> {
    stream: S,
    number: usize,
    /// Messages begun, and those of them that are written, with the bytes of the one after.
    begun: u64,
    written: u64,
    written_bytes: usize,
    /// Messages that came back, with the bytes of the one after.
    echoed: u64,
    echoed_bytes: usize,
    /// When each message that is not back yet was to be sent.
    waiting: VecDeque<u64>,
}

impl<S: Read + Write> Connection<S> {
    /// The connection with that number.
    pub fn new(number: usize, stream: S) -> Self {
        let waiting = VecDeque::with_capacity(64);
        let (begun, written, echoed) = (0, 0, 0);
        Connection { stream, number, begun, written, written_bytes: 0, echoed, echoed_bytes: 0, waiting }
    }

    /// Messages that are not back yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Begins a message, to be sent at `intended` nanoseconds from some start, and writes what can be written.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub fn begin(&mut self, intended: u64, dialogue: &impl Dialogue) -> Result<(), Failure> {
        self.waiting.push_back(intended);
        self.begun += 1;
        self.write(dialogue)
    }

    /// Writes what can be written.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub fn write(&mut self, dialogue: &impl Dialogue) -> Result<(), Failure> {
        while self.written < self.begun {
            let message = dialogue.request(self.number, self.written);
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
    ///
    /// # Errors
    ///
    /// If the connection is broken, or says anything else than the answers.
    pub fn read(
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
            let expected = &dialogue.answer(self.number, self.echoed)[self.echoed_bytes..];
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

    /// What it means that the server closed it.
    pub fn closed(&self) -> Failure {
        self.broken("the server closed it")
    }

    fn broken(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::run(format!("connection {} to a server: {reason}", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::pattern::Pattern;
    use std::io;

    const SIZE: usize = 10;
    const NONE: [u64; 0] = [];

    /// Takes and gives as many bytes at a time as it is told to; a zero is a `WouldBlock`.
    #[derive(Default)]
    struct Wire {
        takes: VecDeque<usize>,
        gives: VecDeque<usize>,
        bytes: VecDeque<u8>,
    }

    fn next(sizes: &mut VecDeque<usize>) -> io::Result<usize> {
        match sizes.pop_front() {
            Some(0) | None => Err(ErrorKind::WouldBlock.into()),
            Some(size) => Ok(size),
        }
    }

    impl Write for Wire {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let size = next(&mut self.takes)?.min(bytes.len());
            self.bytes.extend(&bytes[..size]);
            Ok(size)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Wire {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = next(&mut self.gives)?.min(buffer.len());
            self.bytes.read(&mut buffer[..size])
        }
    }

    fn connection(takes: &[usize], gives: &[usize]) -> (Connection<Wire>, Pattern) {
        let sizes = |sizes: &[usize]| sizes.iter().copied().collect();
        let wire = Wire { takes: sizes(takes), gives: sizes(gives), bytes: VecDeque::new() };
        (Connection::new(3, wire), Pattern::new(1, SIZE))
    }

    fn read(connection: &mut Connection<Wire>, pattern: &Pattern) -> Result<Vec<u64>, Failure> {
        let mut echoed = Vec::new();
        connection.read(pattern, &mut [0; 16], &mut echoed).map(|()| echoed)
    }

    #[test]
    fn messages_come_back_in_any_pieces() {
        let (mut connection, pattern) = connection(&[4, 0, 6, 10], &[3, 0, 9, 8]);
        connection.begin(7, &pattern).unwrap();
        connection.begin(8, &pattern).unwrap();
        connection.write(&pattern).unwrap();
        assert_eq!(connection.waiting(), 2);
        assert_eq!(read(&mut connection, &pattern).unwrap(), NONE);
        assert_eq!(read(&mut connection, &pattern).unwrap(), NONE);
        assert_eq!(read(&mut connection, &pattern).unwrap(), [7]);
        assert_eq!(read(&mut connection, &pattern).unwrap(), [8]);
        assert_eq!(connection.waiting(), 0);
    }

    #[test]
    fn a_wrong_byte_is_an_error() {
        let (mut connection, pattern) = connection(&[10], &[10]);
        connection.begin(0, &pattern).unwrap();
        connection.stream.bytes[9] ^= 1;
        let error = read(&mut connection, &pattern).unwrap_err().to_string();
        assert_eq!(error, "connection 3 to a server: something else came back than was to");
    }

    #[test]
    fn a_byte_too_many_is_an_error() {
        let (mut connection, pattern) = connection(&[10], &[11]);
        connection.begin(0, &pattern).unwrap();
        connection.stream.bytes.push_back(0);
        let error = read(&mut connection, &pattern).unwrap_err().to_string();
        assert!(error.ends_with("more came back than was sent"), "{error}");
    }

    #[test]
    fn a_connection_that_is_closed_is_an_error() {
        let (mut connection, pattern) = connection(&[10], &[9, 1]);
        connection.begin(0, &pattern).unwrap();
        connection.stream.bytes.truncate(9);
        assert_eq!(read(&mut connection, &pattern).unwrap(), NONE);
        let error = read(&mut connection, &pattern).unwrap_err().to_string();
        assert!(error.ends_with("the server closed it"), "{error}");
    }
}
