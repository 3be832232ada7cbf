//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that are not the public internet.
const V4: &[([u8; 4], u8, &str)] = &[
    ([0, 0, 0, 0], 8, "an address of no network"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "an address inside a provider's network"),
    ([127, 0, 0, 0], 8, "this machine"),
    ([168, 63, 129, 16], 32, "a cloud's own service"),
    ([169, 254, 0, 0], 16, "a link-local address, where clouds keep their metadata"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "an address for protocols"),
    ([192, 0, 2, 0], 24, "an address for examples"),
    ([192, 88, 99, 0], 24, "an address for protocols"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "an address for measurements"),
    ([198, 51, 100, 0], 24, "an address for examples"),
    ([203, 0, 113, 0], 24, "an address for examples"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([240, 0, 0, 0], 4, "an address that nobody has"),
];

/// Networks of IPv6 that are not the public internet. What is outside of `2000::/3` is none in any case; these have a name.
const V6: &[([u16; 8], u8, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "an address of no network"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "an address of a local translator"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "an address for protocols"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "an address for examples"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "an address for examples"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a private address"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "a link-local address"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "a multicast address"),
];

/// What an address is, if it is not one of the public internet.
///
/// An address of IPv6 that holds one of IPv4 (mapped, NAT64, 6to4) is what the inner one is: a packet to it ends there.
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => match inner(address) {
            Some(inner) => not_public_v4(inner),
            None => not_public_v6(address),
        },
    }
}

/// The address of IPv4 that an address stands for; every other stays as it is.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Whether an address is in a network.
pub(crate) fn is_in(address: IpAddr, network: IpAddr, prefix: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let shift = 32_u32.saturating_sub(prefix.into());
            u32::from(address).checked_shr(shift) == u32::from(network).checked_shr(shift)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let shift = 128_u32.saturating_sub(prefix.into());
            u128::from(address).checked_shr(shift) == u128::from(network).checked_shr(shift)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let found = V4.iter().find(|(network, prefix, _)| {
        is_in(IpAddr::V4(address), IpAddr::V4(Ipv4Addr::from(*network)), *prefix)
    });
    found.map(|(_, _, what)| *what)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let found = V6.iter().find(|(network, prefix, _)| {
        is_in(IpAddr::V6(address), IpAddr::V6(Ipv6Addr::from(*network)), *prefix)
    });
    let is_global = address.segments()[0] >> 13 == 1;
    found.map(|(_, _, what)| *what).or((!is_global).then_some("an address outside of the public internet"))
}

/// The address of IPv4 that packets to this one are brought to.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(of(g, h)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn public_and_not() {
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ];
        for address in public {
            assert_eq!(not_public(address.parse().unwrap()), None, "{address}");
        }
        let others = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "100::1",
        ];
        for address in others {
            assert!(not_public(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    proptest! {
        /// However an address of IPv4 is wrapped, it is judged as what it is.
        #[test]
        fn wrapped_addresses_are_what_they_hold(bits in any::<u32>()) {
            let plain = Ipv4Addr::from(bits);
            let [a, b, c, d] = plain.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let judged = not_public(IpAddr::V4(plain));
            for wrapped in [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 1, 2, 3, 4, 5),
            ] {
                prop_assert_eq!(not_public(IpAddr::V6(wrapped)), judged);
            }
        }

        /// What the standard library calls local is never public for us.
        #[test]
        fn nothing_local_is_public(bits in any::<u32>(), wide in any::<u128>()) {
            let four = Ipv4Addr::from(bits);
            if four.is_private() || four.is_loopback() || four.is_link_local() || four.is_broadcast()
                || four.is_documentation() || four.is_multicast() || four.is_unspecified() {
                prop_assert!(not_public(IpAddr::V4(four)).is_some());
            }
            let six = Ipv6Addr::from(wide);
            if six.is_loopback() || six.is_multicast() || six.is_unspecified()
                || six.is_unique_local() || six.is_unicast_link_local() {
                prop_assert!(not_public(IpAddr::V6(six)).is_some());
            }
        }
    }
}
