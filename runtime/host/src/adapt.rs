//! A core module with WASI's first interface, "preview 1", becomes a component: its own exports and imports as it says
//! them in its component-type section, and preview 1 through wasmtime's adapter.

use wasi_preview1_component_adapter_provider as preview1;
use wit_component::ComponentEncoder;

/// How every core module begins.
pub fn is_core_module(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm\x01\0\0\0")
}

/// The module as a component, or why it cannot be one.
pub fn to_component(module: &[u8]) -> Result<Vec<u8>, String> {
    // The reactor adapter also for a module with `_start`: what is served is its handler, which `_start` is not part of.
    let encode = || {
        ComponentEncoder::default()
            .validate(true)
            .module(module)?
            .adapter(
                preview1::WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
                preview1::WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
            )?
            .encode()
    };
    encode().map_err(|error: anyhow::Error| {
        // The causes say more than the step that failed; a parser's picture of the place is left out.
        let causes: Vec<String> = error
            .chain()
            .map(|cause| {
                cause
                    .to_string()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        causes.join(": ")
    })
}
