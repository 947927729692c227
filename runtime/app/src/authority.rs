//! Which host a request names: from its target, its Host header, or both when they agree.

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// Why a request names no usable host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHost {
    Absent,
    Ambiguous,
    Malformed,
    Contradicted,
}

impl NoHost {
    /// The reason for the client.
    pub fn reason(self) -> &'static str {
        match self {
            NoHost::Absent => "the request has no Host header\n",
            NoHost::Ambiguous => "the Host header is repeated with different values\n",
            NoHost::Malformed => "the Host header is malformed\n",
            NoHost::Contradicted => "the Host header and the request target name different hosts\n",
        }
    }
}

/// The one authority of a request.
pub fn of_request(target: &Uri, headers: &HeaderMap) -> Result<Authority, NoHost> {
    let mut hosts = headers.get_all(HOST).iter();
    let first = hosts.next();
    if hosts.any(|other| Some(other) != first) {
        return Err(NoHost::Ambiguous);
    }
    let host = match first {
        Some(host) => Some(
            host.to_str()
                .ok()
                .and_then(parse)
                .ok_or(NoHost::Malformed)?,
        ),
        None => None,
    };
    match (target.authority(), host) {
        (Some(target), Some(host)) if *target != host => Err(NoHost::Contradicted),
        (Some(target), _) => Ok(target.clone()),
        (None, Some(host)) => Ok(host),
        (None, None) => Err(NoHost::Absent),
    }
}

/// An authority as a Host header or a guest may write it: a host, and a port that is a number if there is one; no
/// user information.
pub fn parse(text: &str) -> Option<Authority> {
    let parsed: Authority = text.parse().ok()?;
    let after_host = text.rsplit_once(']').map_or(text, |(_, rest)| rest);
    let has_port = after_host.contains(':');
    if text.contains('@') || (has_port && parsed.port_u16().is_none()) || parsed.host().is_empty() {
        return None;
    }
    Some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(target: &str, hosts: &[&str]) -> Result<String, NoHost> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        of_request(&target.parse().unwrap(), &headers).map(|authority| authority.to_string())
    }

    #[test]
    fn a_request_names_one_host() {
        assert_eq!(host("/", &["a:80"]), Ok("a:80".into()));
        assert_eq!(host("/", &["a", "a"]), Ok("a".into()));
        assert_eq!(host("http://a/", &[]), Ok("a".into()));
        assert_eq!(host("http://a/", &["A"]), Ok("a".into()));
        assert_eq!(host("/", &[]), Err(NoHost::Absent));
        assert_eq!(host("/", &["a", "b"]), Err(NoHost::Ambiguous));
        assert_eq!(host("http://a/", &["b"]), Err(NoHost::Contradicted));
        assert_eq!(host("http://a/", &["a b"]), Err(NoHost::Malformed));
    }

    #[test]
    fn an_authority_is_a_host_and_perhaps_a_port() {
        for bad in [
            "", "a:", "a:b", "u@a", "a:99999", "a/b", "[::1", ":80", "a b",
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
        for good in ["a", "a:80", "[::1]", "[::1]:80", "127.0.0.1:1"] {
            assert!(parse(good).is_some(), "{good}");
        }
    }
}
