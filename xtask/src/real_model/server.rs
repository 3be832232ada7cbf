//! The model's server: one that runs already, or one of our own.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with this value if it was started for it.
pub(super) struct Server(Option<Child>);

/// Loading takes seconds; from a cold and busy disk it may take minutes.
const LOADING: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(500);
const ANSWER: Duration = Duration::from_secs(5);

impl Server {
    /// The server at a port; if none is there, `start` says how to start one.
    pub(super) fn at(port: u16, start: impl FnOnce() -> Result<Command, String>) -> Result<Self, String> {
        if is_ready(port) {
            return Ok(Self(None));
        }
        eprintln!("real-model: starting the server");
        let mut command = start()?;
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut server =
            Self(Some(child.map_err(|error| format!("the model's server did not start: {error}"))?));
        let began = Instant::now();
        while !is_ready(port) {
            let ended = server.0.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if let Some(status) = ended {
                return Err(format!(
                    "the model's server ended with {status}; `cargo xtask real-model serve --port {port}` shows why"
                ));
            }
            if began.elapsed() > LOADING {
                return Err("the model's server was not ready in five minutes".to_owned());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether a model is loaded there.
fn is_ready(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(b"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(1 << 20).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    ask().is_ok_and(|answer| answer.lines().next().is_some_and(|line| line.contains(" 200 ")))
}
