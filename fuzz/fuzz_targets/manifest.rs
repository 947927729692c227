//! Any text as a manifest: it parses or gives an error of one line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = levelfield_app::check_manifest(text) {
        let message = error.to_string();
        assert!(!message.contains('\n'), "{message}");
    }
});
