//! A real HTTP proxy for tests: it tunnels, whatever name it is asked for, to one address.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::peer::DEADLINE;
use crate::peer::bytes::{http_head, http_whole};
use crate::peer::request::{self, Recorded};
use crate::peer::stage::Stage;

/// A proxy on a loopback port; dropping it ends its tunnels and joins its threads.
#[derive(Debug)]
pub struct ProxyPeer {
    addr: SocketAddr,
    stage: Arc<Stage>,
    accepting: Option<JoinHandle<()>>,
}

/// Whom a proxy lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admits {
    /// Anybody.
    All,
    /// Who sends exactly this `proxy-authorization`; others get 407.
    With(String),
    /// Nobody: 403.
    Nobody,
}

impl ProxyPeer {
    /// Listens, and sends every tunnel to `to`, whatever host was asked for.
    pub fn start(to: SocketAddr, admits: Admits) -> io::Result<ProxyPeer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = listener.local_addr()?;
        let stage = Arc::new(Stage::new(DEADLINE));
        let accepting = thread::Builder::new().name(format!("proxy {}", addr.port())).spawn({
            let stage = Arc::clone(&stage);
            move || accept(&listener, to, &admits, &stage)
        })?;
        Ok(ProxyPeer { addr, stage, accepting: Some(accepting) })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The requests for tunnels so far, in order: the target of each is `host:port`.
    pub fn requests(&self) -> Vec<Recorded> {
        self.stage.requests()
    }
}

impl Drop for ProxyPeer {
    fn drop(&mut self) {
        self.stage.end();
        // Accepting blocks; a connection of our own wakes it to see that the stage has ended.
        let woken = TcpStream::connect_timeout(&self.addr, DEADLINE);
        let joined = self.accepting.take().map(JoinHandle::join);
        drop(woken);
        if !thread::panicking() {
            assert!(
                !matches!(joined, Some(Err(_))),
                "the proxy at {} panicked; its message is above",
                self.addr
            );
        }
    }
}

fn accept(listener: &TcpListener, to: SocketAddr, admits: &Admits, stage: &Arc<Stage>) {
    thread::scope(|threads| {
        for number in 0.. {
            let Ok((client, _)) = listener.accept() else { break };
            let client = Arc::new(client);
            if !stage.enter(number, Some(&client)) {
                break;
            }
            threads.spawn(move || {
                // A client or a server that goes away ends the tunnel; there is nothing to tell.
                let _ = serve(number, &client, to, admits, stage);
                let _ = client.shutdown(Shutdown::Both);
                stage.leave(number, None);
            });
        }
    });
}

fn serve(
    number: usize,
    client: &TcpStream,
    to: SocketAddr,
    admits: &Admits,
    stage: &Stage,
) -> io::Result<()> {
    let Ok(asked) = request::read(&mut BufReader::new(client), number) else { return Ok(()) };
    let given = asked.header("proxy-authorization").map(str::to_owned);
    stage.record(asked);
    let refusal = match admits {
        Admits::All => None,
        Admits::With(wanted) if given.as_deref() == Some(wanted) => None,
        Admits::With(_) => Some(407),
        Admits::Nobody => Some(403),
    };
    let mut out = client;
    if let Some(status) = refusal {
        return out.write_all(&http_whole(status, "text/plain", "no"));
    }
    let server = TcpStream::connect_timeout(&to, DEADLINE)?;
    out.write_all(&http_head(200, &[]))?;
    thread::scope(|threads| {
        threads.spawn(|| pump(client, &server));
        pump(&server, client);
    });
    Ok(())
}

/// Copies one direction to its end, and then ends both: half a tunnel is of use to nobody here.
fn pump(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
