use rail_sandbox::Network;

use super::Free::{AsRoot, Perhaps, Succeeds, Tested};
use super::Stopped::Always;
use super::{Attack, withstand};
use crate::scene::Scene;

#[test]
fn nobody_is_spoken_with() {
    withstand(Scene::with_peer, &[Network::Off], ATTACKS);
}

const ATTACKS: &[Attack] = &[
    ("TCP", Always, Succeeds, "hello(socket.AF_INET, ('127.0.0.1', int(E['TCP'])))"),
    ("TCP to any own address", Always, Succeeds, "hello(socket.AF_INET, ('0.0.0.0', int(E['TCP'])))"),
    ("TCP by IPv6", Always, Perhaps, "hello(socket.AF_INET6, ('::1', int(E['TCP6'])))"),
    ("TCP by IPv6, to IPv4", Always, Perhaps, "hello(socket.AF_INET6, ('::ffff:127.0.0.1', int(E['TCP'])))"),
    (
        "TCP, with the first bytes",
        Always,
        Tested,
        "s = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', int(E['TCP']))); need(s.recv(5) == b'hello')",
    ),
    (
        "UDP",
        Always,
        Succeeds,
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)
s.connect(('127.0.0.1', int(E['UDP']))); s.send(b'hi'); need(s.recv(2) == b'hi')",
    ),
    (
        "a way out",
        Always,
        Perhaps,
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 53)); s.send(b'a question')",
    ),
    ("ICMP", Always, AsRoot, "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"),
    ("bare frames", Always, AsRoot, "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)"),
    (
        "the kernel's events",
        Always,
        Succeeds,
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15).bind((0, 1))",
    ),
    ("the host of this machine", Always, Perhaps, "socket.socket(40, socket.SOCK_STREAM)"),
    ("the kernel's ciphers", Always, Perhaps, "socket.socket(38, socket.SOCK_SEQPACKET)"),
    ("a named socket", Always, Succeeds, "hello(socket.AF_UNIX, OUT + '/stream')"),
    ("a socket without a file", Always, Succeeds, "hello(socket.AF_UNIX, '\\0' + E['ABSTRACT'])"),
    (
        "a letter",
        Always,
        Succeeds,
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', OUT + '/letters')",
    ),
    (
        "a letter from a pair",
        Always,
        Succeeds,
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendmsg([b'x'], [], 0, OUT + '/letters')",
    ),
    (
        "a letter from a raw pair",
        Always,
        Succeeds,
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendmsg([b'x'], [], 0, OUT + '/letters')",
    ),
];
