//! The one function of a component that the host calls.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use wasmtime::component::{
    ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, TypedFunc,
};
use wasmtime::{Result, Store, error::Context as _};

/// An exported function of one component, found in each of its instances.
pub struct Export<Parameters, Results> {
    index: ComponentExportIndex,
    checked: AtomicBool,
    types: PhantomData<fn(Parameters) -> Results>,
}

impl<Parameters, Results> Export<Parameters, Results>
where
    Parameters: ComponentNamedList + Lower,
    Results: ComponentNamedList + Lift,
{
    pub fn new(index: ComponentExportIndex) -> Self {
        Export {
            index,
            checked: AtomicBool::new(false),
            types: PhantomData,
        }
    }

    /// The function in `instance`, an instance of this export's component. Its type, which is the component's, is
    /// checked once: that costs more than to make an instance does.
    pub fn of<T: 'static>(
        &self,
        store: &mut Store<T>,
        instance: &Instance,
    ) -> Result<TypedFunc<Parameters, Results>> {
        if !self.checked.load(Ordering::Relaxed) {
            let function = instance.get_typed_func(&mut *store, self.index)?;
            self.checked.store(true, Ordering::Relaxed);
            return Ok(function);
        }
        let function = instance
            .get_func(&mut *store, self.index)
            .context("the handler is gone")?;
        Ok(unchecked(function))
    }
}

/// A function whose type was found to be right in another instance of the same component.
#[allow(unsafe_code)]
fn unchecked<Parameters, Results>(
    function: wasmtime::component::Func,
) -> TypedFunc<Parameters, Results>
where
    Parameters: ComponentNamedList + Lower,
    Results: ComponentNamedList + Lift,
{
    // SAFETY: an export index belongs to one component (another's is found by name or not at all), a function's type
    // is part of the component, and it was checked against these very parameters and results before.
    unsafe { TypedFunc::new_unchecked(function) }
}
