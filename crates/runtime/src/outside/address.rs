//! Which addresses a workflow may reach. A page or a workflow from elsewhere must not look around in the network of
//! the machine it happens to run on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    #[default]
    Any,
    /// Neither this machine nor its network.
    PublicOnly,
}

/// The address lies where workflows may not reach.
#[derive(Debug, thiserror::Error)]
#[error("{host} is at {address}, which is not a public address")]
pub struct Forbidden {
    pub host: String,
    pub address: IpAddr,
}

impl AddressPolicy {
    /// Checks a URL that names an address instead of a host; names are checked when they are looked up.
    pub fn check(self, url: &Url) -> Result<(), Forbidden> {
        let host = url.host_str().unwrap_or_default();
        match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => self.allow(host, address),
            Err(_) => Ok(()),
        }
    }

    fn allow(self, host: &str, address: IpAddr) -> Result<(), Forbidden> {
        match self {
            Self::PublicOnly if !is_public(address) => Err(Forbidden { host: host.to_owned(), address }),
            Self::PublicOnly | Self::Any => Ok(()),
        }
    }
}

/// Looks names up and connects to what it has checked, so that a name cannot change its answer in between.
pub struct CheckedNames(pub AddressPolicy);

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            for address in &found {
                policy.allow(&host, address.ip())?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// True for an address of the open internet, also when it is written inside another one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match inner_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a, b, c) == (192, 0, 0)
        // Shared by providers, and for measurements between networks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19));
    !special
}

/// Only one eighth of all addresses was ever given to the open internet; documentation and Teredo lie inside it.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let special = [(0x2001, 0x0db8), (0x2001, 0)].contains(&(segments[0], segments[1]));
    segments[0] & 0xe000 == 0x2000 && !special
}

/// Addresses that carry an IPv4 address and lead there: mapped, NAT64 and 6to4.
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(joined(high, low)),
        [0x0064, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_look_outside_but_are_not() {
        for hidden in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "203.0.113.5",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:169.254.169.254",
            "::ffff:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "::ffff:0.0.0.0",
            "fec0::1",
            "64:ff9b:1::7f00:1",
            "::ffff:0:127.0.0.1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(hidden.parse().unwrap()), "{hidden}");
        }
        for open in ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "100.128.0.1"]
        {
            assert!(is_public(open.parse().unwrap()), "{open}");
        }
    }

    #[test]
    fn urls_that_write_an_address_in_strange_ways() {
        for url in [
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://0177.0.0.1/",
        ] {
            let url = Url::parse(url).unwrap();
            assert!(AddressPolicy::PublicOnly.check(&url).is_err(), "{url}");
            assert!(AddressPolicy::Any.check(&url).is_ok(), "{url}");
        }
        assert!(AddressPolicy::PublicOnly.check(&Url::parse("https://example.org/").unwrap()).is_ok());
    }
}
