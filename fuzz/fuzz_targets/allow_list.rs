//! Any entry and any destination: nothing panics, and the line that a denial says to add permits what was denied.
//! The input's lines are an entry, a scheme, a host and a port.
#![no_main]

use levelfield_app::outbound::AllowedHosts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (entry, scheme, host, port) = (next(), next(), next(), next().parse().ok());
    let allowed = AllowedHosts::parse(&[entry]).unwrap_or_default();
    // Schemes of other characters come from no URL, and no entry can name them.
    let possible = scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
    if let Err(denied) = allowed.check(scheme, host, port)
        && possible
        && let Ok(would) = AllowedHosts::parse(&[denied.entry()])
    {
        assert!(would.check(scheme, host, port).is_ok(), "{denied}");
    }
    let _ = allowed.check_self(scheme);
});
