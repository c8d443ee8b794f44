//! Which addresses are on the public network. Everything else is inside: this machine, its networks,
//! and what answers there with secrets to whoever asks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a cloud's hosts are asked for their secrets, at an address that looks public.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Whether an address is on the public network.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let inside = match address.octets() {
        // this network, private, loopback, multicast and everything above it
        [0 | 10 | 127 | 224.., ..] => true,
        // shared by carriers
        [100, 64..=127, ..] => true,
        // link-local, where most metadata services are
        [169, 254, ..] => true,
        // private
        [172, 16..=31, ..] | [192, 168, ..] => true,
        // assigned to protocols, documentation, relays from IPv6, benchmarks
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => true,
        [198, 51, 100, _] | [203, 0, 113, _] => true,
        _ => address == WIRE_SERVER,
    };
    !inside
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // IPv4 as a translating network shows it
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        // assigned to protocols (Teredo among them), documentation, 6to4
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // of all the rest only this eighth is given out to the public
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    fn check(addresses: &[&str], public: bool) {
        for text in addresses {
            assert_eq!(is_public(text.parse().unwrap()), public, "{text}");
        }
    }

    #[test]
    fn what_is_inside_is_not_public() {
        check(&["0.0.0.0", "0.1.2.3", "10.0.0.1", "127.0.0.1", "127.255.255.254"], false);
        check(&["100.64.0.1", "100.100.100.200", "100.127.255.255"], false);
        check(&["169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1"], false);
        check(&["192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9"], false);
        check(&["224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"], false);
        check(&["::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fec0::1"], false);
        check(&["fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2001::1"], false);
        check(&["2002:7f00:1::", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "3fff::1", "5f00::1"], false);
    }

    #[test]
    fn the_neighbours_of_what_is_inside_are_public() {
        check(&["1.0.0.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1"], true);
        check(&["126.0.0.1", "128.0.0.1", "169.253.0.1", "172.15.0.1", "172.32.0.1"], true);
        check(&["192.0.1.1", "192.167.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255"], true);
        check(&["2001:200::1", "2606:2800::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"], true);
    }
}
