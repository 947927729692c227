//! Precompiled artifacts: what `compile` writes and `up` starts from without compiling.
//!
//! An artifact is native code in wasmtime's ELF format. Its version names this program, wasmtime and the WASI version,
//! because 0.2 and 0.3 have engines of their own and the artifact must go to the right one. Wasmtime checks what else
//! matters: target, processor features, engine settings. None of that makes an artifact of unknown origin safe to run.

use object::elf::FileHeader64;
use object::endian::Endianness;
use object::read::elf::ElfFile;
use object::{Object, ObjectSection};
use wasmtime::component::Component;
use wasmtime::{Engine, ModuleVersionStrategy, Precompiled};

use crate::engine::Wasi;

/// The section where wasmtime keeps a format byte, the version's length in a byte, and the version.
const SECTION: &str = ".wasmtime.engine";

/// The version that an artifact must have to be used by this program's engine for `wasi`.
pub fn version(wasi: Wasi) -> String {
    let wasi = match wasi {
        Wasi::P2 => "0.2",
        Wasi::P3 => "0.3",
    };
    format!("{}, WASI {wasi}", program())
}

fn program() -> String {
    format!(
        "levelfield-host {} with wasmtime {}",
        env!("CARGO_PKG_VERSION"),
        ModuleVersionStrategy::WasmtimeVersion.as_str()
    )
}

/// Whether the bytes are a compiled component, by whatever version.
pub fn is_artifact(bytes: &[u8]) -> bool {
    Engine::detect_precompiled(bytes) == Some(Precompiled::Component)
}

/// The WASI version that an artifact of this program was compiled for, or why it is none of this program's.
pub fn wasi_of(artifact: &[u8]) -> Result<Wasi, String> {
    let found = recorded_version(artifact).unwrap_or_default();
    [Wasi::P2, Wasi::P3]
        .into_iter()
        .find(|wasi| version(*wasi) == found)
        .ok_or_else(|| {
            // Wasmtime's own tools record nothing but its number.
            let by = match found.parse::<u32>() {
                Ok(number) => format!("wasmtime {number} itself"),
                Err(_) if found.is_empty() => "an unknown program".into(),
                Err(_) => found.escape_debug().to_string(),
            };
            format!("it was compiled by {by}, this is {}", program())
        })
}

fn recorded_version(artifact: &[u8]) -> Option<String> {
    let elf = ElfFile::<FileHeader64<Endianness>>::parse(artifact).ok()?;
    let section = elf.section_by_name(SECTION)?;
    let (_format, rest) = section.data().ok()?.split_first()?;
    let (length, rest) = rest.split_first()?;
    let version = rest.get(..usize::from(*length))?;
    String::from_utf8(version.to_vec()).ok()
}

/// Loads an artifact, or says in what it does not fit this machine or this engine.
#[allow(unsafe_code)]
pub fn load(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: an artifact is native code, and whoever names one to the host is told by the help and the docs to trust it
    // as they trust the host itself. Damage that is no malice is caught before: `wasi_of` has checked who wrote it, and
    // wasmtime checks version, target and settings. The bytes are copied, so that the file may change afterwards.
    unsafe { Component::deserialize(engine, artifact) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::config;

    fn compiled(wasi: Wasi) -> Vec<u8> {
        let engine = Engine::new(&config(wasi, None)).unwrap();
        engine.precompile_component(b"(component)").unwrap()
    }

    #[test]
    fn an_artifact_goes_to_the_engine_that_it_was_compiled_for() {
        for wasi in [Wasi::P2, Wasi::P3] {
            let artifact = compiled(wasi);
            assert!(is_artifact(&artifact));
            assert_eq!(wasi_of(&artifact), Ok(wasi));
            let engine = Engine::new(&config(wasi, None)).unwrap();
            assert!(load(&engine, &artifact).is_ok());
        }
    }

    #[test]
    fn an_artifact_of_another_version_is_named() {
        let mut config = config(Wasi::P3, None);
        let other = ModuleVersionStrategy::Custom("levelfield-host 0.0.1".into());
        config.module_version(other).unwrap();
        let engine = Engine::new(&config).unwrap();
        let artifact = engine.precompile_component(b"(component)").unwrap();
        let reason = wasi_of(&artifact).unwrap_err();
        assert!(
            reason.starts_with("it was compiled by levelfield-host 0.0.1, this is levelfield-host"),
            "{reason}"
        );
    }

    #[test]
    fn an_artifact_of_wasmtimes_own_tools_is_named() {
        let engine = Engine::default();
        let artifact = engine.precompile_component(b"(component)").unwrap();
        let reason = wasi_of(&artifact).unwrap_err();
        assert!(reason.contains("by wasmtime 48 itself"), "{reason}");
    }

    #[test]
    fn other_settings_are_not_taken_for_ours() {
        let mut config = config(Wasi::P3, None);
        config.epoch_interruption(false);
        let engine = Engine::new(&config).unwrap();
        let artifact = engine.precompile_component(b"(component)").unwrap();
        assert_eq!(wasi_of(&artifact), Ok(Wasi::P3), "the version is ours");
        let engine = Engine::new(&crate::engine::config(Wasi::P3, None)).unwrap();
        let reason = load(&engine, &artifact)
            .unwrap_err()
            .root_cause()
            .to_string();
        assert!(reason.contains("epoch interruption"), "{reason}");
    }

    #[test]
    fn damage_does_not_make_it_anothers_code() {
        let artifact = compiled(Wasi::P3);
        assert!(!is_artifact(b"\0asm\x0d\0\x01\0"));
        assert!(!is_artifact(&artifact[..100]));
        assert!(wasi_of(&artifact[..artifact.len() / 2]).is_err());
    }
}
