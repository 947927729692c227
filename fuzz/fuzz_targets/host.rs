//! Any request target and Host headers: what comes out is one plain authority. The first line of the input is the
//! target, each other a Host header.
#![no_main]

use http::header::{HOST, HeaderMap, HeaderValue};
use levelfield_app::authority::of_request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let target = lines.next().unwrap_or_default();
    let Ok(target) = http::Uri::try_from(target) else { return };
    let mut headers = HeaderMap::new();
    for value in lines.take(4).filter_map(|line| HeaderValue::from_bytes(line).ok()) {
        headers.append(HOST, value);
    }
    if let Ok(authority) = of_request(&target, &headers)
        && target.authority().is_none()
    {
        assert!(!authority.host().is_empty());
        assert!(!authority.as_str().contains(['@', '/', '?', '#', ' ']), "{authority}");
    }
});
