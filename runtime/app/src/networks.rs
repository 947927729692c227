//! Networks that no component may reach, whatever its `allowed_outbound_hosts` say: asked after DNS, of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// The runtime config's `outbound_networking.block_networks`.
#[derive(Clone, Debug, Default)]
pub struct BlockedNetworks {
    networks: Vec<IpNet>,
    /// Every address that is not reachable from all of the internet.
    private: bool,
}

impl BlockedNetworks {
    /// Parses entries such as `private`, `10.0.0.0/8` or `::1`.
    pub fn parse(entries: &[String]) -> Result<Self, String> {
        let mut blocked = BlockedNetworks::default();
        for entry in entries {
            if entry == "private" {
                blocked.private = true;
                continue;
            }
            let network = entry
                .parse()
                .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
            let network = network.map_err(|_| {
                format!("`{entry}` is not a network; write `private` or one such as 10.0.0.0/8")
            })?;
            blocked.networks.push(network);
        }
        Ok(blocked)
    }

    /// Whether a connection to `address` is prohibited. An IPv4 address in IPv6 clothes is judged as what it is.
    pub fn blocks(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if let IpAddr::V6(v6) = address
            && let Some(v4) = embedded(v6)
            && self.blocks(IpAddr::V4(v4))
        {
            return true;
        }
        (self.private && !is_global(address))
            || self
                .networks
                .iter()
                .any(|network| network.contains(&address))
    }
}

/// The IPv4 address within an IPv4-compatible, 6to4 or NAT64 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    match address.segments() {
        [0x2002, ..] => Some(Ipv4Addr::new(octets[2], octets[3], octets[4], octets[5])),
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(Ipv4Addr::new(
            octets[12], octets[13], octets[14], octets[15],
        )),
        _ => address.to_ipv4(),
    }
}

/// Whether the address is globally reachable, by IANA's special-purpose address registries.
fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            !(a == 0
                || v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_documentation()
                || v4.is_multicast()
                || (a == 100 && b & 0xc0 == 64)
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && b & 0xfe == 18)
                || a >= 240)
        }
        IpAddr::V6(v6) => {
            let [a, b, ..] = v6.segments();
            // 2000::/3 is what is given out; in it, 2001::/23 and the documentation's 2001:db8::/32 are special.
            a & 0xe000 == 0x2000 && !(a == 0x2001 && (b < 0x200 || b == 0xdb8)) && a != 0x3fff
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked(entries: &[&str], address: &str) -> bool {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        BlockedNetworks::parse(&entries)
            .unwrap()
            .blocks(address.parse().unwrap())
    }

    #[test]
    fn private_blocks_what_is_not_globally_reachable() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::a00:1",
            "2001:db8::1",
        ] {
            assert!(blocked(&["private"], address), "{address}");
        }
        for address in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
        ] {
            assert!(!blocked(&["private"], address), "{address}");
        }
    }

    #[test]
    fn a_network_blocks_its_addresses_in_either_clothes() {
        assert!(blocked(&["1.2.3.0/24"], "1.2.3.4"));
        assert!(blocked(&["1.2.3.0/24"], "::ffff:1.2.3.4"));
        assert!(!blocked(&["1.2.3.0/24"], "1.2.4.4"));
        assert!(blocked(&["::1"], "::1"));
    }

    #[test]
    fn nothing_is_blocked_by_default_and_other_words_are_errors() {
        assert!(!blocked(&[], "127.0.0.1"));
        assert!(
            BlockedNetworks::parse(&["localhost".into()])
                .unwrap_err()
                .contains("localhost")
        );
    }
}
