//! `levelfield-host compile`: writes each component's artifact, from which `up` starts without compiling.

use std::io::Write;
use std::path::{Path, PathBuf};

use levelfield_app::LoadOptions;
use wasmtime::Engine;

use crate::cli::Compile;
use crate::code::Code;
use crate::download::Download;
use crate::engine;
use crate::error::Error;

/// Compiles the app's components, or the chosen ones, and says on stdout which files it wrote.
pub fn compile(flags: &Compile) -> Result<(), Error> {
    let download = Download;
    let files = levelfield_app::wasm_files(&LoadOptions {
        from: flags.from.clone(),
        profile: flags.profile.clone(),
        components: flags.component_id.clone(),
        cache_dir: flags.cache_dir.clone(),
        fetch: Some(&download),
        ..LoadOptions::default()
    })?;
    if files.is_empty() {
        eprintln!("nothing to compile: the app has no component");
    }
    let several = files.len() > 1;
    for (id, wasm) in files {
        let code = Code::read(&id, &wasm)?;
        let engine = Engine::new(&engine::config(code.wasi, None))
            .map_err(|error| Error::Engine(format!("{error:#}")))?;
        let artifact = code.compile(&engine)?;
        let out = target(flags.out.as_deref(), &id, &wasm, several)?;
        write(&out, &artifact)?;
        println!("{}", out.display());
    }
    Ok(())
}

/// Where the artifact of a component goes: beside its wasm unless `out` names a file or directory.
fn target(out: Option<&Path>, id: &str, wasm: &Path, several: bool) -> Result<PathBuf, Error> {
    let Some(out) = out else {
        return Ok(wasm.with_extension("cwasm"));
    };
    if out.is_dir() {
        return Ok(out.join(format!("{id}.cwasm")));
    }
    if several {
        return Err(Error::OutNotADirectory {
            path: out.to_owned(),
        });
    }
    Ok(out.to_owned())
}

/// Writes the whole file or none: a host may be starting from the old one.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(directory)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path)
        .map_err(|error| failed(error.error))
        .map(drop)
}
