//! `wasi:config/store`, in the drafts that components in the field import: the component's variables under another name.

use levelfield_app::VariableError;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};
use wasmtime::{Result, StoreContextMut};

use crate::state::State;

const VERSIONS: [&str; 2] = ["0.2.0-draft-2024-09-27", "0.2.0-rc.1"];

#[derive(Clone, Debug, ComponentType, Lift, Lower)]
#[component(variant)]
enum Error {
    #[component(name = "upstream")]
    Upstream(String),
    #[component(name = "io")]
    Io(String),
}

type Store<'a> = StoreContextMut<'a, State>;

/// A name that no variable has, or can have, is no error here.
fn get(state: &State, name: &str) -> Result<Option<String>, Error> {
    match state.guest.component().variable(name) {
        Ok(value) => Ok(Some(value)),
        Err(VariableError::InvalidName { .. } | VariableError::Undefined { .. }) => Ok(None),
        Err(error) => Err(Error::Upstream(error.to_string())),
    }
}

fn get_all(state: &State) -> Result<Vec<(String, String)>, Error> {
    let component = state.guest.component();
    component
        .variable_names()
        .map(|name| match component.variable(name) {
            Ok(value) => Ok((name.to_owned(), value)),
            Err(error) => Err(Error::Upstream(error.to_string())),
        })
        .collect()
}

pub fn link(linker: &mut Linker<State>) -> Result<()> {
    for version in VERSIONS {
        let mut store = linker.instance(&format!("wasi:config/store@{version}"))?;
        store.func_wrap("get", |store: Store<'_>, (name,): (String,)| {
            Ok((get(store.data(), &name),))
        })?;
        store.func_wrap("get-all", |store: Store<'_>, (): ()| {
            Ok((get_all(store.data()),))
        })?;
    }
    Ok(())
}
