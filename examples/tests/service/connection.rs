//! A client's connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A connection that is kept open between requests.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// The answer to a line, in a protocol of lines.
    pub(crate) fn ask_line(&mut self, line: &str) -> String {
        self.send(&format!("{line}\n"));
        self.read_line()
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.stream.read_line(&mut line).unwrap(), 0, "the connection was closed");
        line.trim_end().to_owned()
    }

    /// Status and body of the answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        self.answer()
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn answer(&mut self) -> (u16, String) {
        let (mut status, mut length) = (None, 0);
        loop {
            let line = self.read_line().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            status = status.or_else(|| line.split(' ').nth(1).map(|status| status.parse().unwrap()));
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status.unwrap(), String::from_utf8(body).unwrap())
    }

    /// Whether the service has closed it, with nothing left to read.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0))
    }
}
