use super::*;

#[test]
fn a_reset_is_a_reset() {
    let peer = peer([Step::Send(b"some".to_vec()), Step::Gate("read"), Step::Reset]);
    let mut client = client(&peer);
    assert_eq!(exactly(&mut client, 4), b"some");
    peer.open("read");
    let (more, end) = rest(&mut client);
    assert_eq!((&*more, end.unwrap_err().kind()), (&b""[..], ErrorKind::ConnectionReset));
}

#[test]
fn a_half_close_ends_one_direction_only() {
    let peer = peer([Step::Send(b"all".to_vec()), Step::HalfClose, Step::ReadRequest, Step::Reached("read")]);
    let mut client = client(&peer);
    assert_eq!(whole(&mut client), b"all");
    client.write_all(b"GET /late HTTP/1.1\r\n\r\n").unwrap();
    peer.wait_for("read");
    assert_eq!(peer.requests()[0].target, "/late");
}

#[test]
fn garbage_is_the_same_each_time() {
    let peer = peer([Step::Garbage(1000, 7)]);
    let got = whole(&mut client(&peer));
    assert_eq!(got, garbage(1000, 7));
    assert_eq!(got[..10], garbage(10, 7));
    assert_ne!(got, garbage(1000, 8));
    // Pinned, for a seed that is written into a test must mean the same bytes tomorrow.
    assert_eq!(garbage(8, 0), 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
}

#[test]
fn a_stall_holds_until_the_client_leaves() {
    let peer = peer([Step::ReadRequest, Step::Reached("stalled"), Step::Stall]);
    let mut client = client(&peer);
    client.write_all(b"GET / HTTP/1.1\r\n\r\nmore").unwrap();
    peer.wait_for("stalled");
    client.set_nonblocking(true).unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(client);
    assert_eq!(peer.client_left(0), Departure { step: 2, how: Leaving::Closed });
}

#[test]
fn leaving_with_unread_bytes_is_a_reset() {
    let peer = peer([Step::Send(b"unread".to_vec()), Step::Reached("sent"), Step::Stall]);
    let client = client(&peer);
    peer.wait_for("sent");
    // Once one byte can be peeked at, the bytes are with the client, and not under way.
    assert_eq!(client.peek(&mut [0; 1]).unwrap(), 1);
    drop(client);
    assert_eq!(peer.client_left(0), Departure { step: 2, how: Leaving::Reset });
}

#[test]
fn leaving_amid_a_request_is_seen() {
    let peer = peer([Step::ReadRequest]);
    let mut client = client(&peer);
    client.write_all(b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nhalf").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(peer.client_left(0), Departure { step: 0, how: Leaving::Closed });
    assert_eq!(peer.requests(), []);
}

#[test]
fn leaving_amid_a_send_is_seen() {
    let peer = peer([Step::Send(vec![0; 64 << 20])]);
    let mut client = client(&peer);
    exactly(&mut client, 1);
    drop(client);
    assert_eq!(peer.client_left(0), Departure { step: 0, how: Leaving::Reset });
}

#[test]
fn only_the_awaited_connection_counts() {
    let peer = Peer::start(vec![Conversation::new([Step::Stall]).repeat()]).unwrap();
    let (first, second) = (client(&peer), client(&peer));
    drop(second);
    peer.client_left(1);
    drop(first);
    peer.client_left(0);
}

#[test]
fn a_leaving_that_cannot_be_seen_is_told_at_once() {
    let over = peer([]);
    whole(&mut client(&over));
    let said = complaint(move || _ = over.client_left(0));
    assert_eq!(
        said,
        "the client was never seen to leave connection 0: its script came to an end first; let it end with a stall"
    );
    let unexpected = Peer::start(vec![]).unwrap();
    whole(&mut client(&unexpected));
    let said = complaint(move || _ = unexpected.client_left(0));
    assert_eq!(
        said,
        "the client was never seen to leave connection 0: the script has no conversation for it"
    );
}

#[test]
fn waits_of_the_script_have_a_deadline_too() {
    fn check(step: Step, expected: &str) {
        let peer = Peer::start(vec![Conversation::new([
            Step::Send(b"x".to_vec()),
            step,
            Step::Reached("never"),
            Step::Gate("shut"),
        ])]);
        let peer = peer.unwrap().with_deadline(Duration::from_millis(20));
        let mut held = client(&peer);
        exactly(&mut held, 1);
        // The connection keeps its deadline; the fault is what ends this wait, long before its own.
        let peer = peer.with_deadline(PATIENCE);
        let said = complaint(move || peer.wait_for("never"));
        assert_eq!(
            said,
            format!("cannot wait for a connection to reach `never`: connection 0, step 1: {expected}")
        );
        drop(held);
    }
    check(Step::ReadRequest, "waited 20ms for more of a request");
    check(Step::Gate("shut"), "waited 20ms for the test to open the gate `shut`");
    check(Step::Send(vec![0; 64 << 20]), "waited 20ms for the client to take what is sent");
}
