//! `wasi:http/types.fields`.

use wasmtime::component::{
    ComponentType, LinkerInstance, Lower, Resource, ResourceType, WasmList, WasmStr,
};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::{p2, p3};

use crate::headers::{Fields, FieldsError};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;
type Handle = Resource<Fields>;

impl From<FieldsError> for p2::bindings::http::types::HeaderError {
    fn from(error: FieldsError) -> Self {
        match error {
            FieldsError::Immutable => Self::Immutable,
            FieldsError::Forbidden => Self::Forbidden,
            // 0.2 has no name for a limit reached.
            FieldsError::InvalidSyntax | FieldsError::TooLarge => Self::InvalidSyntax,
        }
    }
}

impl From<FieldsError> for p3::bindings::http::types::HeaderError {
    fn from(error: FieldsError) -> Self {
        match error {
            FieldsError::Immutable => Self::Immutable,
            FieldsError::Forbidden => Self::Forbidden,
            FieldsError::InvalidSyntax => Self::InvalidSyntax,
            FieldsError::TooLarge => Self::SizeExceeded,
        }
    }
}

/// Copies one header out of the guest's memory and appends it.
fn append(
    store: &mut Store<'_>,
    fields: &mut Fields,
    name: &WasmStr,
    value: &WasmList<u8>,
) -> Result<Result<(), FieldsError>> {
    let name = name.to_str(&*store)?;
    let value = value.as_le_slice(&*store);
    Ok(fields.append(&name, value))
}

/// Links the resource, whose errors are `E` and whose list of all entries is called `entries`.
pub fn link<E>(types: &mut LinkerInstance<'_, State>, entries: &str) -> Result<()>
where
    E: From<FieldsError> + ComponentType + Lower + 'static,
{
    types.resource(
        "fields",
        ResourceType::host::<Fields>(),
        |mut store, rep| take(&mut store.data_mut().fields, &Handle::new_own(rep)).map(drop),
    )?;
    types.func_wrap("[constructor]fields", |mut store: Store<'_>, (): ()| {
        Ok((insert(&mut store.data_mut().fields, Fields::new())?,))
    })?;
    types.func_wrap(
        "[static]fields.from-list",
        |mut store: Store<'_>, (entries,): (WasmList<(WasmStr, WasmList<u8>)>,)| {
            let mut fields = Fields::new();
            for index in 0..entries.len() {
                let Some(entry) = entries.get(&mut store, index) else {
                    break;
                };
                let (name, value) = entry?;
                if let Err(error) = append(&mut store, &mut fields, &name, &value)? {
                    return Ok((Err(E::from(error)),));
                }
            }
            Ok((Ok(insert(&mut store.data_mut().fields, fields)?),))
        },
    )?;
    types.func_wrap(
        "[method]fields.get",
        |store: Store<'_>, (this, name): (Handle, WasmStr)| {
            let name = name.to_str(&store)?;
            let fields = get(&store.data().fields, &this)?;
            let values: Vec<Vec<u8>> = fields.get(&name).map(|v| v.as_bytes().into()).collect();
            Ok((values,))
        },
    )?;
    types.func_wrap(
        "[method]fields.has",
        |store: Store<'_>, (this, name): (Handle, WasmStr)| {
            let name = name.to_str(&store)?;
            let fields = get(&store.data().fields, &this)?;
            Ok((fields.map().contains_key(&*name),))
        },
    )?;
    types.func_wrap(
        "[method]fields.set",
        |mut store: Store<'_>, (this, name, values): (Handle, String, Vec<Vec<u8>>)| {
            let fields = get_mut(&mut store.data_mut().fields, &this)?;
            let result: Result<(), E> = fields.set(&name, &values).map_err(Into::into);
            Ok((result,))
        },
    )?;
    types.func_wrap(
        "[method]fields.delete",
        |mut store: Store<'_>, (this, name): (Handle, String)| {
            let fields = get_mut(&mut store.data_mut().fields, &this)?;
            let result: Result<(), E> = fields.remove(&name).map(drop).map_err(Into::into);
            Ok((result,))
        },
    )?;
    types.func_wrap(
        "[method]fields.get-and-delete",
        |mut store: Store<'_>, (this, name): (Handle, String)| {
            let fields = get_mut(&mut store.data_mut().fields, &this)?;
            let result: Result<Vec<Vec<u8>>, E> = fields
                .remove(&name)
                .map(|values| values.iter().map(|v| v.as_bytes().into()).collect())
                .map_err(Into::into);
            Ok((result,))
        },
    )?;
    types.func_wrap(
        "[method]fields.append",
        |mut store: Store<'_>, (this, name, value): (Handle, WasmStr, WasmList<u8>)| {
            // Taken out while it changes: its new bytes are borrowed from the same store.
            let key = this.rep() as usize;
            let slot = get_mut(&mut store.data_mut().fields, &this)?;
            let mut fields = std::mem::replace(slot, Fields::new());
            let result = append(&mut store, &mut fields, &name, &value);
            store.data_mut().fields[key] = fields;
            Ok((result?.map_err(E::from),))
        },
    )?;
    types.func_wrap(
        &format!("[method]fields.{entries}"),
        |store: Store<'_>, (this,): (Handle,)| {
            let fields = get(&store.data().fields, &this)?;
            let entries: Vec<(String, Vec<u8>)> = fields
                .map()
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_owned()))
                .collect();
            Ok((entries,))
        },
    )?;
    types.func_wrap(
        "[method]fields.clone",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let table = &mut store.data_mut().fields;
            let copy = get(table, &this)?.mutable_copy();
            Ok((insert(table, copy)?,))
        },
    )
}
