//! Each step of the scripted peer, seen by a client that is nothing but a socket.

mod faults;
mod http;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rail_testkit::{
    Conversation, Departure, Leaving, Peer, Step, chunk, garbage, http_head, http_whole, last_chunk,
    refused_addr, sse_head,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn peer(steps: impl IntoIterator<Item = Step>) -> Peer {
    Peer::start(vec![Conversation::new(steps)]).unwrap()
}

fn client(peer: &Peer) -> TcpStream {
    let client = TcpStream::connect(peer.addr()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_write_timeout(Some(PATIENCE)).unwrap();
    client
}

fn exactly(client: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

/// All bytes up to the end, and how it came.
fn rest(client: &mut TcpStream) -> (Vec<u8>, io::Result<()>) {
    let mut bytes = Vec::new();
    let end = client.read_to_end(&mut bytes).map(drop);
    (bytes, end)
}

fn whole(client: &mut TcpStream) -> Vec<u8> {
    let (bytes, end) = rest(client);
    end.unwrap();
    bytes
}

/// What a panic of the closure says.
fn complaint(action: impl FnOnce() + Send + 'static) -> String {
    let panic = thread::spawn(action).join().expect_err("it should panic");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

/// Drops the peer, and fails instead of hanging when that does not end.
fn drop_in_time(peer: Peer) {
    let (done, dropped) = mpsc::channel();
    let dropping = thread::spawn(move || {
        drop(peer);
        done.send(()).unwrap();
    });
    dropped.recv_timeout(PATIENCE).expect("dropping the peer should end");
    dropping.join().unwrap();
}

#[test]
fn send_then_the_end_of_the_script_closes() {
    let peer = peer([Step::Send(b"one ".to_vec()), Step::Send(b"two".to_vec())]);
    assert_eq!(whole(&mut client(&peer)), b"one two");
}

#[test]
fn close_is_a_clean_end() {
    let peer = peer([Step::Send(b"bye".to_vec()), Step::Close]);
    assert_eq!(whole(&mut client(&peer)), b"bye");
}

#[test]
fn split_bytes_arrive_in_pieces() {
    let sent = b"data: {\"x\":1}\n\n".to_vec();
    let split = Step::SendSplit { bytes: sent.clone(), sizes: vec![1, 0, 5, 2] };
    let peer = Peer::start(vec![Conversation::new([split]).repeat()]).unwrap();
    // The kernel may join pieces, but never splits so few bytes by itself: one short read is the proof.
    let split = (0..1000).any(|_| {
        let mut client = client(&peer);
        let mut got = vec![0; sent.len()];
        let first = client.read(&mut got).unwrap();
        client.read_exact(&mut got[first..]).unwrap();
        assert_eq!((&got, &*whole(&mut client)), (&sent, &b""[..]));
        first < sent.len()
    });
    assert!(split, "the bytes came in one piece a thousand times");
}

#[test]
fn sizes_beyond_the_bytes_are_harmless() {
    let peer = peer([Step::SendSplit { bytes: b"abc".to_vec(), sizes: vec![2, 9, 9] }]);
    assert_eq!(whole(&mut client(&peer)), b"abc");
}

#[test]
fn a_gate_holds_until_it_is_opened() {
    let peer = peer([
        Step::Send(b"before".to_vec()),
        Step::Reached("the gate"),
        Step::Gate("go on"),
        Step::Send(b"after".to_vec()),
    ]);
    let mut client = client(&peer);
    assert_eq!(exactly(&mut client, 6), b"before");
    peer.wait_for("the gate");
    // The script is at the gate, so there is nothing to read.
    client.set_nonblocking(true).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    client.set_nonblocking(false).unwrap();
    peer.open("go on");
    assert_eq!(whole(&mut client), b"after");
}

#[test]
fn a_gate_opened_early_does_not_hold() {
    let peer = peer([Step::Gate("go on"), Step::Send(b"x".to_vec())]);
    peer.open("go on");
    assert_eq!(whole(&mut client(&peer)), b"x");
}

#[test]
fn gates_and_marks_that_no_script_has_are_named() {
    let nothing = peer([Step::Gate("a"), Step::Reached("b")]);
    let said = complaint(move || nothing.open("b"));
    assert_eq!(said, r#"no conversation has a gate `b`; the gates are {"a"}"#);
    let nothing = peer([Step::Gate("a"), Step::Reached("b")]);
    let said = complaint(move || nothing.wait_for("a"));
    assert_eq!(said, r#"no conversation has a mark `a`; the marks are {"b"}"#);
}

#[test]
fn conversations_are_played_in_order_and_more_is_unexpected() {
    let peer = Peer::start(vec![
        Conversation::new([Step::Send(b"first".to_vec())]),
        Conversation::new([Step::Send(b"second".to_vec())]),
    ])
    .unwrap();
    assert_eq!(whole(&mut client(&peer)), b"first");
    assert_eq!(whole(&mut client(&peer)), b"second");
    assert_eq!(peer.unexpected(), [0_usize; 0]);
    assert_eq!(whole(&mut client(&peer)), b"");
    assert_eq!(peer.unexpected(), [2]);
    assert_eq!(peer.connections(), 3);
}

#[test]
fn the_last_conversation_repeats_if_marked() {
    let peer = Peer::start(vec![
        Conversation::new([Step::Send(b"first".to_vec())]),
        Conversation::new([Step::Send(b"more".to_vec())]).repeat(),
    ])
    .unwrap();
    for expected in ["first", "more", "more", "more"] {
        assert_eq!(whole(&mut client(&peer)), expected.as_bytes());
    }
    assert_eq!(peer.unexpected(), [0_usize; 0]);
}

#[test]
fn connections_are_played_side_by_side() {
    let waiting = Conversation::new([Step::Gate("go"), Step::Send(b"a".to_vec())]);
    let peer = Peer::start(vec![waiting, Conversation::new([Step::Send(b"b".to_vec())])]).unwrap();
    let mut first = client(&peer);
    assert_eq!(whole(&mut client(&peer)), b"b");
    peer.open("go");
    assert_eq!(whole(&mut first), b"a");
}

#[test]
fn scripts_that_say_more_than_they_do_are_refused() {
    fn check(script: Vec<Conversation>, expected: &str) {
        let refused = Peer::start(script).unwrap_err();
        assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::InvalidInput, expected));
    }
    let empty = || Conversation::new([]);
    check(vec![empty().repeat(), empty()], "conversation 0 repeats, so those after it would never be played");
    for end in [Step::Close, Step::Reset, Step::Stall, Step::Vanish] {
        check(
            vec![empty(), Conversation::new([end, Step::ReadRequest])],
            "conversation 1 ends with step 0, so those after it would never be played",
        );
    }
    check(
        vec![Conversation::new([Step::HalfClose, Step::ReadRequest, Step::Garbage(1, 1)])],
        "conversation 0 sends in step 2 after it closed that direction",
    );
}

#[test]
fn a_wait_says_what_was_awaited() {
    let idle = || peer([Step::Reached("start"), Step::Stall]).with_deadline(Duration::from_millis(20));
    let unmet = idle();
    let said = complaint(move || unmet.wait_for("start"));
    assert_eq!(said, "waited 20ms for a connection to reach `start`; 0 connections were accepted");
    let unmet = idle();
    let said = complaint(move || _ = unmet.client_left(3));
    assert_eq!(said, "waited 20ms for the client to leave connection 3; 0 connections were accepted");
}

#[test]
fn dropping_ends_a_connection_wherever_it_is() {
    let big = vec![0; 64 << 20];
    for steps in [
        vec![Step::Reached("here"), Step::ReadRequest],
        vec![Step::Reached("here"), Step::Gate("never")],
        vec![Step::Reached("here"), Step::Stall],
        // More than the kernel buffers, so that the write blocks.
        vec![Step::Reached("here"), Step::Send(big)],
    ] {
        let peer = peer(steps);
        let addr = peer.addr();
        let mut client = client(&peer);
        peer.wait_for("here");
        drop_in_time(peer);
        let (_, end) = rest(&mut client);
        assert!(end.is_ok() || end.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
        assert_eq!(TcpStream::connect(addr).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}

#[test]
fn dropping_an_idle_peer_ends_it() {
    drop_in_time(Peer::start(vec![]).unwrap());
    drop_in_time(peer([Step::Stall]));
}

#[test]
fn a_refused_address_refuses() {
    let addr = refused_addr().unwrap();
    assert_eq!(refused_addr().unwrap(), addr);
    for _ in 0..100 {
        assert_eq!(TcpStream::connect(addr).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
