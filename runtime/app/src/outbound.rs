//! Outbound permissions: `allowed_outbound_hosts` entries, and what they let through.

use std::fmt;

/// A component's permissions, resolved and ready to be asked.
#[derive(Debug, Default, Clone)]
pub struct AllowedHosts {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    scheme: String,
    host: String,
    port: u16,
}

/// An outbound call that no entry permits. Its text says which line to add to the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    url: String,
}

impl Denied {
    /// `scheme://host[:port]`, as the entry to add would be.
    pub fn entry(&self) -> &str {
        &self.url
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the component may not reach {url}; to permit it, add to its manifest: allowed_outbound_hosts = [\"{url}\"]",
            url = self.url
        )
    }
}

impl AllowedHosts {
    pub(crate) fn parse(entries: &[String]) -> Result<Self, (String, String)> {
        let entries = entries
            .iter()
            .map(|entry| Entry::parse(entry).map_err(|message| (entry.clone(), message)))
            .collect::<Result<_, _>>()?;
        Ok(AllowedHosts { entries })
    }

    /// Whether `scheme://host:port` may be reached. `port` is the scheme's default when `None`; an IPv6 `host` comes
    /// without its brackets.
    pub fn check(&self, scheme: &str, host: &str, port: Option<u16>) -> Result<(), Denied> {
        let effective = port.or_else(|| default_port(scheme));
        let allowed = self.entries.iter().any(|entry| {
            entry.scheme.eq_ignore_ascii_case(scheme)
                && entry.host.eq_ignore_ascii_case(host)
                && Some(entry.port) == effective
        });
        if allowed {
            return Ok(());
        }
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        let url = match port {
            Some(port) if Some(port) != default_port(scheme) => format!("{scheme}://{host}:{port}"),
            _ => format!("{scheme}://{host}"),
        };
        Err(Denied { url })
    }
}

impl Entry {
    fn parse(entry: &str) -> Result<Self, String> {
        let (scheme, rest) = entry
            .split_once("://")
            .ok_or("no scheme; write `<scheme>://<host>[:<port>]`")?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) => (
                host,
                port.parse()
                    .map_err(|_| format!("`{port}` is not a port"))?,
            ),
            None => (
                rest,
                default_port(scheme).ok_or_else(|| format!("scheme `{scheme}` needs a port"))?,
            ),
        };
        if host.is_empty() || host.contains(['*', '/', '{', '[']) || scheme == "*" || host == "self"
        {
            return Err("this form is not supported yet".into());
        }
        Ok(Entry {
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_ascii_lowercase(),
            port,
        })
    }
}

pub(crate) fn default_port(scheme: &str) -> Option<u16> {
    Some(match scheme {
        "http" => 80,
        "https" => 443,
        "postgres" => 5432,
        "mysql" => 3306,
        "redis" => 6379,
        "mqtt" => 1883,
        _ => return None,
    })
}
