//! Flags of `spin up` for what this host has not: known, so that each is refused by its name with a reason and a way out
//! rather than as a misspelling.

use clap::Args;

use crate::error::Error;

#[derive(Debug, Args)]
pub struct RefusedFlags {
    #[arg(long, hide = true, num_args = 0..=1)]
    from_registry: Option<Option<String>>,

    #[arg(short = 'k', long, hide = true)]
    insecure: bool,

    #[arg(long, hide = true, num_args = 0..=1)]
    key_value: Vec<String>,

    #[arg(long, hide = true, num_args = 0..=1)]
    sqlite: Vec<String>,

    #[arg(long, hide = true, num_args = 0..=1)]
    cache: Option<Option<String>>,

    #[arg(long, hide = true)]
    debug_info: bool,

    #[arg(long, hide = true, num_args = 0..=1)]
    experimental_wasm_feature: Vec<String>,

    #[arg(long, hide = true)]
    experimental_wasi_otel: bool,
}

impl RefusedFlags {
    /// An error for the first that was given.
    pub fn check(&self) -> Result<(), Error> {
        let refused = [
            (
                self.from_registry.is_some(),
                "--from-registry",
                "apps are not pulled from registries; name the app's spin.toml, whose components may be given by url and digest",
            ),
            (
                self.insecure,
                "--insecure",
                "it is about registries, and none is asked; leave it out",
            ),
            (
                !self.key_value.is_empty(),
                "--key-value",
                "there is no key-value store here; run the app under `spin up`",
            ),
            (
                !self.sqlite.is_empty(),
                "--sqlite",
                "there is no SQLite database here; run the app under `spin up`",
            ),
            (
                self.cache.is_some(),
                "--cache",
                "compiled code is not cached; write an artifact with `levelfield-host compile` and start from that",
            ),
            (
                self.debug_info,
                "--debug-info",
                "guests cannot be debugged here; run the app under `spin up`",
            ),
            (
                !self.experimental_wasm_feature.is_empty(),
                "--experimental-wasm-feature",
                "experiments are not offered here; run the app under `spin up`",
            ),
            (
                self.experimental_wasi_otel,
                "--experimental-wasi-otel",
                "components have no wasi:otel here; run the app under `spin up`",
            ),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, flag, reason)) => Err(Error::Refused { flag, reason }),
            None => Ok(()),
        }
    }
}
