//! A gateway that runs beside the test.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::thread::{self, JoinHandle};

use crate::home::Home;

/// A gateway that runs; it is ended with the test.
pub(super) struct Gateway {
    child: Child,
    log: Option<JoinHandle<String>>,
    addr: String,
}

impl Gateway {
    pub(super) fn start(home: &Home) -> Self {
        let mut child = home.start(&["serve"]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut err = child.stderr.take().unwrap();
        // A log that nobody reads would stop whoever writes it.
        let log = thread::spawn(move || {
            let mut log = String::new();
            err.read_to_string(&mut log).unwrap();
            log
        });
        let mut greeting = String::new();
        out.read_line(&mut greeting).unwrap();
        let addr = greeting.split_once("http://").map(|(_, rest)| rest.split(": ").next().unwrap());
        let addr = addr.unwrap_or_default().to_owned();
        let mut gateway = Self { child, log: Some(log), addr };
        if gateway.addr.is_empty() {
            panic!("the gateway does not listen: {greeting}{}", gateway.end());
        }
        gateway
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Ends it, and gives its log.
    fn end(&mut self) -> String {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.log.take().and_then(|log| log.join().ok()).unwrap_or_default()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
    }
}
