//! What a store holds: the WASI context, the HTTP tables, the memory limit, and the way back to its instance.

use std::sync::Arc;

use slab::Slab;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::component::Guest;
use crate::headers::Fields;
use crate::instance::Shared;
use crate::limits::MemoryLimit;
use crate::outbound::Permission;
use crate::{p2, p3, trace};

/// The data of one instance's store.
pub struct State {
    pub wasi: WasiCtx,
    pub table: ResourceTable,
    /// Header fields of either WASI's messages.
    pub fields: Slab<Fields>,
    pub http03: p3::Tables,
    pub http02: p2::Tables,
    pub memory: MemoryLimit,
    pub shared: Arc<Shared>,
    pub outbound: Arc<Permission>,
    pub guest: Arc<Guest>,
    pub traces: trace::Tasks,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
