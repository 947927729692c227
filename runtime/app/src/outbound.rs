//! Outbound permissions: a component's `allowed_outbound_hosts`, and what they let through. What no entry names is
//! denied. Entries never decide on a name's addresses: that is [`crate::networks`], after DNS.

use std::fmt;
use std::ops::Range;

use ipnet::IpNet;
use url::Host;

use crate::template::Template;

/// The domain under which components of one app call each other, in process.
pub const CHAINING_DOMAIN: &str = ".spin.internal";

/// A component's list as written, its templates parsed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowList {
    entries: Vec<Declared>,
}

#[derive(Clone, Debug)]
enum Declared {
    Fixed(Entry),
    Templated(Template),
}

impl AllowList {
    /// Parses the list; an error comes with its entry.
    pub fn parse(entries: &[String]) -> Result<Self, (String, String)> {
        let parse = |text: &String| {
            let template = Template::parse(text)?;
            Ok(if template.is_literal() {
                Declared::Fixed(Entry::parse(text)?)
            } else {
                Declared::Templated(template)
            })
        };
        let entries = entries
            .iter()
            .map(|text| parse(text).map_err(|message| (text.clone(), message)));
        Ok(AllowList {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// The variables that the list's templates name.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .flat_map(|declared| match declared {
                Declared::Fixed(_) => None,
                Declared::Templated(template) => Some(template.variables()),
            })
            .flatten()
    }

    /// Fills in the templates and gives `*.spin.internal` its meaning, the app's own `components`. An error comes
    /// with its entry.
    pub fn resolve<E: fmt::Display>(
        &self,
        components: &[String],
        mut value: impl FnMut(&str) -> Result<String, E>,
    ) -> Result<AllowedHosts, (String, String)> {
        let mut resolved = Vec::new();
        for declared in &self.entries {
            let entry = match declared {
                Declared::Fixed(entry) => entry.clone(),
                Declared::Templated(template) => {
                    let failed = |message: String| (template.to_string(), message);
                    let text = template
                        .render(&mut value)
                        .map_err(|error| failed(error.to_string()))?;
                    // What an optional endpoint looks like when it is not set.
                    if ["", "http://", "https://"].contains(&text.as_str()) {
                        continue;
                    }
                    Entry::parse(&text)
                        .map_err(|message| failed(format!("it says `{text}` now: {message}")))?
                }
            };
            match &entry.host {
                HostPattern::Subdomains(suffix) if suffix == CHAINING_DOMAIN => {
                    let one =
                        |id| HostPattern::Exact(Host::Domain(format!("{id}{CHAINING_DOMAIN}")));
                    resolved.extend(components.iter().map(|id| Entry {
                        host: one(id),
                        ..entry.clone()
                    }));
                }
                _ => resolved.push(entry),
            }
        }
        Ok(AllowedHosts { entries: resolved })
    }
}

/// A component's permissions, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    entries: Vec<Entry>,
}

impl AllowedHosts {
    /// Parses a list without templates, for an app of no components.
    pub fn parse(entries: &[&str]) -> Result<Self, String> {
        let entries = entries.iter().map(|text| Entry::parse(text));
        Ok(AllowedHosts {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Whether `scheme://host:port` may be reached. `port` is the scheme's default when `None`; an IPv6 `host` may
    /// come with or without its brackets.
    pub fn check(&self, scheme: &str, host: &str, port: Option<u16>) -> Result<(), Denied> {
        let scheme = scheme.to_ascii_lowercase();
        let number = port.or_else(|| default_port(&scheme));
        let parsed = parse_host(host);
        if let Ok(host) = &parsed
            && self
                .entries
                .iter()
                .any(|entry| entry.allows(&scheme, host, number))
        {
            return Ok(());
        }
        let host = parsed.map_or("<not a valid host>".into(), |host| host.to_string());
        let port = port
            .filter(|&port| Some(port) != default_port(&scheme))
            .map(|port| format!(":{port}"));
        Err(Denied {
            entry: format!("{scheme}://{host}{}", port.unwrap_or_default()),
        })
    }

    /// Whether requests to the app itself (no authority, or the host `self.alt`) are permitted.
    pub fn check_self(&self, scheme: &str) -> Result<(), Denied> {
        let own = |entry: &Entry| matches!(entry.host, HostPattern::Own | HostPattern::Any);
        if self
            .entries
            .iter()
            .any(|entry| entry.allows_scheme(scheme) && own(entry))
        {
            return Ok(());
        }
        Err(Denied {
            entry: format!("{scheme}://self"),
        })
    }
}

/// The host that a request names, an IPv6 address with its brackets or without.
fn parse_host(text: &str) -> Result<Host<String>, url::ParseError> {
    // What `Host::parse` would find out too, by way of a domain.
    if let Ok(address) = text.parse() {
        return Ok(Host::Ipv4(address));
    }
    if let Ok(address) = text.parse() {
        return Ok(Host::Ipv6(address));
    }
    Host::parse(text)
}

/// An outbound call that no entry permits. Its text says which line to add to the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    entry: String,
}

impl Denied {
    /// The entry that would permit the call: `scheme://host[:port]`.
    pub fn entry(&self) -> &str {
        &self.entry
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "outbound call to {entry} denied; to permit it, add this to the component's manifest: allowed_outbound_hosts = [\"{entry}\"]",
            entry = self.entry
        )
    }
}

/// One entry: `<scheme>://<host>[:<port>][/]`.
#[derive(Clone, Debug)]
struct Entry {
    /// `None` for `*`.
    scheme: Option<String>,
    host: HostPattern,
    port: PortPattern,
}

#[derive(Clone, Debug, PartialEq)]
enum HostPattern {
    /// `*`
    Any,
    /// `*.suffix`, kept as `.suffix`.
    Subdomains(String),
    /// `self`
    Own,
    Exact(Host<String>),
    Network(IpNet),
}

#[derive(Clone, Debug)]
enum PortPattern {
    Any,
    /// The end is exclusive.
    Range(Range<u32>),
}

impl Entry {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "insecure:allow-all" {
            return Err("no longer a form; `*://*:*` allows everything".into());
        }
        let (scheme, rest) = text
            .split_once("://")
            .ok_or("no scheme; write `<scheme>://<host>[:<port>]`")?;
        if scheme != "*"
            && (scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphabetic()))
        {
            return Err(format!(
                "the scheme `{scheme}` must be letters, or `*` for any"
            ));
        }
        let scheme = scheme.to_ascii_lowercase();

        // A host that is complete with its colons is an IPv6 address or network, not a host and a port.
        let (host, port) = match HostPattern::parse(rest) {
            Ok(host) => (host, ""),
            Err(whole) => match rest.rsplit_once(':') {
                Some((host, port)) => (
                    HostPattern::parse(host)?,
                    port.strip_suffix('/').unwrap_or(port),
                ),
                None => return Err(whole),
            },
        };
        let port = match port {
            // Calls within the app go through no socket, so that a port means nothing to them.
            "" if host.is_chained() => PortPattern::Any,
            "" => {
                let port = default_port(&scheme).ok_or_else(|| {
                    format!("the scheme `{scheme}` has no default port; add `:<port>` or `:*`")
                })?;
                PortPattern::Range(u32::from(port)..u32::from(port) + 1)
            }
            "*" => PortPattern::Any,
            range => PortPattern::Range(port_range(range)?),
        };
        Ok(Entry {
            scheme: (scheme != "*").then_some(scheme),
            host,
            port,
        })
    }

    fn allows(&self, scheme: &str, host: &Host<String>, port: Option<u16>) -> bool {
        self.allows_scheme(scheme) && self.host.allows(host) && self.port.allows(port)
    }

    fn allows_scheme(&self, scheme: &str) -> bool {
        self.scheme.as_ref().is_none_or(|allowed| allowed == scheme)
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_suffix('/').unwrap_or(text) {
            "*" => return Ok(HostPattern::Any),
            "self" | "self.alt" => return Ok(HostPattern::Own),
            _ => {}
        }
        if text.starts_with('{') {
            return Err(format!(
                "`{text}`: lists are not a form; write one entry for each"
            ));
        }
        if text.contains('/')
            && let Ok(network) = text.parse::<IpNet>()
        {
            return Ok(HostPattern::Network(network));
        }
        let text = text.strip_suffix('/').unwrap_or(text);
        if text.contains('/') {
            return Err(format!("`{text}`: a path is not allowed here"));
        }
        let (wildcard, name) = match text.strip_prefix("*.") {
            Some(suffix) => (true, suffix),
            None => (false, text),
        };
        if name.contains('*') {
            return Err(format!(
                "`{text}`: `*` stands for a whole host or, as in `*.example.com`, for any subdomain"
            ));
        }
        let host = Host::parse(name).map_err(|error| format!("`{text}` is not a host: {error}"))?;
        match (wildcard, host) {
            (false, host) => Ok(HostPattern::Exact(host)),
            (true, Host::Domain(domain)) => Ok(HostPattern::Subdomains(format!(".{domain}"))),
            (true, _) => Err(format!(
                "`{text}`: an address has no subdomains; write a network such as 10.0.0.0/8"
            )),
        }
    }

    fn allows(&self, host: &Host<String>) -> bool {
        match (self, host) {
            (HostPattern::Any, _) => true,
            (HostPattern::Subdomains(suffix), Host::Domain(domain)) => domain.ends_with(suffix),
            (HostPattern::Exact(allowed), host) => allowed == host,
            (HostPattern::Network(network), Host::Ipv4(ip)) => {
                network.contains(&std::net::IpAddr::V4(*ip))
            }
            (HostPattern::Network(network), Host::Ipv6(ip)) => {
                network.contains(&std::net::IpAddr::V6(*ip))
            }
            (HostPattern::Subdomains(_) | HostPattern::Own | HostPattern::Network(_), _) => false,
        }
    }
}

impl HostPattern {
    fn is_chained(&self) -> bool {
        match self {
            HostPattern::Exact(Host::Domain(domain)) => domain.ends_with(CHAINING_DOMAIN),
            HostPattern::Subdomains(suffix) => suffix == CHAINING_DOMAIN,
            _ => false,
        }
    }
}

impl PortPattern {
    fn allows(&self, port: Option<u16>) -> bool {
        match self {
            PortPattern::Any => true,
            PortPattern::Range(range) => port.is_some_and(|port| range.contains(&u32::from(port))),
        }
    }
}

fn port_range(text: &str) -> Result<Range<u32>, String> {
    let number = |text: &str| {
        text.parse::<u16>()
            .map(u32::from)
            .map_err(|_| format!("`{text}` is not a port"))
    };
    match text.split_once("..") {
        None => number(text).map(|port| port..port + 1),
        Some((start, end)) => {
            let range = number(start)?..number(end)?;
            if range.is_empty() {
                return Err(format!(
                    "the port range `{text}` is empty; its end is not part of it"
                ));
            }
            Ok(range)
        }
    }
}

fn default_port(scheme: &str) -> Option<u16> {
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

/// The entries that a deprecated `allowed_http_hosts` stands for.
pub(crate) fn from_http_hosts(hosts: &[String]) -> Vec<String> {
    if hosts.iter().any(|host| host == "insecure:allow-all") {
        return ["http://*:*", "https://*:*", "http://self", "https://self"]
            .map(String::from)
            .to_vec();
    }
    let bare = |host: &String| {
        host.split_once("//")
            .map_or(host.clone(), |(_, rest)| rest.to_owned())
    };
    hosts
        .iter()
        .map(bare)
        .flat_map(|host| [format!("http://{host}"), format!("https://{host}")])
        .collect()
}
