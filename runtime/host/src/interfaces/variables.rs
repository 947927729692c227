//! Spin's variables: `fermyon:spin/variables@2.0.0` and `spin:variables/variables@3.0.0`, whose `get` is asynchronous.

use levelfield_app::VariableError;
use wasmtime::component::{Accessor, ComponentType, Lift, Linker, Lower};
use wasmtime::{Result, StoreContextMut};

use crate::engine::Wasi;
use crate::state::State;

/// The same in both versions.
#[derive(Clone, Debug, ComponentType, Lift, Lower)]
#[component(variant)]
enum Error {
    #[component(name = "invalid-name")]
    InvalidName(String),
    #[component(name = "undefined")]
    Undefined(String),
    #[component(name = "provider")]
    Provider(String),
    #[component(name = "other")]
    Other(String),
}

impl From<VariableError> for Error {
    fn from(error: VariableError) -> Self {
        let text = error.to_string();
        match error {
            VariableError::InvalidName { .. } => Error::InvalidName(text),
            VariableError::Undefined { .. } => Error::Undefined(text),
            VariableError::Provider { .. } => Error::Provider(text),
        }
    }
}

fn get(state: &State, name: &str) -> Result<String, Error> {
    state.guest.component().variable(name).map_err(Into::into)
}

pub fn link(linker: &mut Linker<State>, wasi: Wasi) -> Result<()> {
    linker.instance("fermyon:spin/variables@2.0.0")?.func_wrap(
        "get",
        |store: StoreContextMut<'_, State>, (name,): (String,)| Ok((get(store.data(), &name),)),
    )?;
    if wasi == Wasi::P2 {
        return Ok(());
    }
    linker
        .instance("spin:variables/variables@3.0.0")?
        .func_wrap_concurrent("get", |store: &Accessor<State>, (name,): (String,)| {
            Box::pin(async move { Ok((store.with(|mut access| get(access.data_mut(), &name)),)) })
        })
}
