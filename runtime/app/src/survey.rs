//! What can be asked of an app without loading it: how it is built, what to watch, which wasm files it has, whether its
//! manifest is well-formed.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::building::Recipe;
use crate::load::{LoadOptions, Loader, check_chosen};
use crate::locate::{self, Origin};
use crate::manifest::{self, Manifest};
use crate::shapes::StringOr;
use crate::source;
use crate::watching::Watched;

/// How the app's components, or the chosen ones, are built; it needs no wasm file to be there.
pub fn recipes(options: &LoadOptions<'_>) -> Result<Vec<Recipe>, Error> {
    let path = match locate::origin(options.from.as_deref())? {
        Origin::Wasm(_) => return Ok(Vec::new()),
        Origin::Manifest(path) => path,
    };
    let loader = Loader::new(&path, options)?;
    let mut recipes = Vec::new();
    for (id, written) in &chosen(&loader, &path)?.component {
        recipes.extend(loader.recipe(id.as_str(), written)?);
    }
    Ok(recipes)
}

/// The wasm files of the app's components, or of the chosen ones, by the components' ids; it needs no variable to have
/// a value.
pub fn wasm_files(options: &LoadOptions<'_>) -> Result<Vec<(String, PathBuf)>, Error> {
    let path = match locate::origin(options.from.as_deref())? {
        Origin::Wasm(path) => {
            let id = locate::bare_id(&path);
            let wasm = source::existing(path.clone(), &path, &id)?;
            return Ok(vec![(id, wasm)]);
        }
        Origin::Manifest(path) => path,
    };
    let loader = Loader::new(&path, options)?;
    let files = chosen(&loader, &path)?;
    let files = files.component.iter().map(|(id, written)| {
        let wasm = loader.wasm(id.as_str(), &written.source)?;
        Ok((id.to_string(), wasm))
    });
    files.collect()
}

/// The manifest with the chosen components alone.
fn chosen(loader: &Loader<'_>, path: &Path) -> Result<Manifest, Error> {
    let mut manifest = manifest::read(path)?;
    loader.normalize(&mut manifest)?;
    let ids: Vec<&str> = manifest.component.keys().map(|id| id.as_str()).collect();
    let wanted = &loader.options.components;
    check_chosen(wanted, &ids)?;
    if !wanted.is_empty() {
        manifest
            .component
            .retain(|id, _| wanted.iter().any(|wanted| wanted == id.as_str()));
    }
    Ok(manifest)
}

/// What to look at to see that the app has changed. It works where loading would not: of a broken manifest only the
/// manifest itself is watched.
pub fn watched(options: &LoadOptions<'_>) -> Result<Watched, Error> {
    let path = match locate::origin(options.from.as_deref())? {
        Origin::Wasm(path) => {
            return Ok(Watched {
                wasm: vec![path],
                ..Watched::default()
            });
        }
        Origin::Manifest(path) => path,
    };
    let loader = Loader::new(&path, options)?;
    let mut watched = Watched {
        manifest: Some(loader.base.join(path.file_name().unwrap_or_default())),
        ..Watched::default()
    };
    let Ok(mut manifest) = manifest::read(&path) else {
        return Ok(watched);
    };
    if loader.normalize(&mut manifest).is_err() {
        return Ok(watched);
    }
    for (id, written) in &manifest.component {
        if let StringOr::String(source) = &written.source {
            watched.wasm.push(loader.base.join(source));
        }
        watched
            .files
            .extend(written.files.iter().map(|entry| match entry {
                StringOr::String(text) => text.clone(),
                StringOr::Table(placement) => placement.source.clone(),
            }));
        watched
            .recipes
            .extend(loader.recipe(id.as_str(), written).ok().flatten());
    }
    Ok(watched)
}

/// Checks a manifest's text as far as no file is needed: its shape, names and routes. For fuzzing.
pub fn check_manifest(text: &str) -> Result<(), Error> {
    let (path, options) = (Path::new("spin.toml"), LoadOptions::default());
    let loader = Loader::new(path, &options)?;
    let mut manifest = manifest::parse(text, path)?;
    loader.normalize(&mut manifest)?;
    loader.refuse(&manifest)?;
    let ids: Vec<String> = manifest.component.keys().map(ToString::to_string).collect();
    loader.triggers(&manifest, &ids).map(drop)
}
