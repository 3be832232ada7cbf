//! A client that is nothing but a socket and a strict reading of HTTP/1.1.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rail_wire::{HttpCall, HttpReply};

/// An answer, and whether its body came to its end.
pub(crate) struct Got {
    pub(crate) reply: HttpReply,
    pub(crate) whole: bool,
}

/// A connection that stays open from one call to the next.
pub(crate) struct Client {
    pub(crate) input: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn to(addr: SocketAddr) -> Client {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Client { input: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, call: &HttpCall) {
        let HttpCall { method, path, query, headers, body } = call;
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let mut head = format!("{method} {path}{query} HTTP/1.1\r\nhost: test\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let stream = self.input.get_mut();
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    }

    pub(crate) fn call(&mut self, call: &HttpCall) -> Got {
        self.send(call);
        let (status, headers) = self.head();
        let mut reply = HttpReply { status, headers, body: Vec::new() };
        let length = reply.header("content-length").map(|length| length.parse::<u64>().unwrap());
        let mut whole = true;
        match length {
            Some(_) if call.method == "HEAD" => {}
            Some(length) => {
                self.input.by_ref().take(length).read_to_end(&mut reply.body).unwrap();
                whole = reply.body.len() as u64 == length;
            }
            None => whole = self.chunks(&mut reply.body),
        }
        Got { reply, whole }
    }

    /// Reads a status line and headers.
    pub(crate) fn head(&mut self) -> (u16, Vec<(String, String)>) {
        let status = self.line().split(' ').nth(1).expect("a status line").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                return (status, headers);
            }
            let (name, value) = line.split_once(": ").unwrap();
            headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Reads chunks until the last one; false when the connection ended before.
    fn chunks(&mut self, body: &mut Vec<u8>) -> bool {
        loop {
            let line = self.line();
            if line.is_empty() {
                return false;
            }
            let length = u64::from_str_radix(&line, 16).unwrap();
            self.input.by_ref().take(length).read_to_end(body).unwrap();
            assert_eq!(self.line(), "");
            if length == 0 {
                return true;
            }
        }
    }

    /// A line without its end; empty at the end of the connection too.
    fn line(&mut self) -> String {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(_) => line.trim_end_matches("\r\n").to_owned(),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("{error}"),
        }
    }
}
