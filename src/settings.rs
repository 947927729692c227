//! The settings, from the WASI environment, so that one file serves under every host.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use contract::{
    SIDECAR_TOKEN_VARIABLE, SIDECAR_URL_DEFAULT, SIDECAR_URL_VARIABLE, SidecarUrl, YEAR_VARIABLE,
};

/// Where the sidecar is and what it wants to see.
pub struct Sidecar {
    pub url: SidecarUrl,
    /// The value of the `authorization` header.
    pub authorization: Option<String>,
}

/// The sidecar's settings, read once an instance: a host sets the environment when it makes one.
pub fn sidecar() -> Result<&'static Sidecar, &'static str> {
    static SIDECAR: OnceLock<Result<Sidecar, String>> = OnceLock::new();
    SIDECAR
        .get_or_init(|| {
            let url = variable(SIDECAR_URL_VARIABLE);
            Ok(Sidecar {
                url: SidecarUrl::parse(url.as_deref().unwrap_or(SIDECAR_URL_DEFAULT))
                    .map_err(|invalid| invalid.to_string())?,
                authorization: variable(SIDECAR_TOKEN_VARIABLE)
                    .map(|token| format!("Bearer {token}")),
            })
        })
        .as_ref()
        .map_err(String::as_str)
}

/// The year that the pages show. One that is no year is reported and the clock's taken instead.
pub fn year() -> u16 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since_epoch.map_or(0, |elapsed| elapsed.as_secs());
    let set = variable(YEAR_VARIABLE);
    contract::year(set.as_deref(), seconds).unwrap_or_else(|invalid| {
        eprintln!("{invalid}");
        // Without a variable there is nothing to be invalid.
        contract::year(None, seconds).unwrap_or_default()
    })
}

/// An empty variable counts as unset, as a manifest's `"{{ … }}"` may leave it.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
