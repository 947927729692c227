//! From a component's code to something that can be instantiated: what it exports and imports, linking.

use std::net::SocketAddr;
use std::sync::Arc;

use levelfield_app::App;
use slab::Slab;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::sockets::SocketAddrUse;
use wasmtime_wasi::{FsPerms, WasiCtx};

use crate::code::Code;
use crate::engine::Wasi;
use crate::error::Error;
use crate::instance::{EventLoop, Shared};
use crate::limits::{Limits, MemoryLimit};
use crate::outbound::Permission;
use crate::state::State;
use crate::stdio::Sink;
use crate::{interfaces, p2, p3, trace};

/// A component of the app as its instances know it.
pub struct Guest {
    pub app: Arc<App>,
    pub index: usize,
    pub id: Arc<str>,
    pub stdout: Sink,
    pub stderr: Sink,
}

impl Guest {
    pub fn component(&self) -> &levelfield_app::Component {
        &self.app.components[self.index]
    }
}

/// A component, compiled and linked.
pub struct Loaded {
    pub guest: Arc<Guest>,
    pre: InstancePre<State>,
    handler: Handler,
    permission: Arc<Permission>,
    instance_memory: usize,
}

enum Handler {
    P2(p2::Handler),
    P3(p3::Handler),
}

/// The host functions for one engine.
pub fn linker(engine: &Engine, wasi: Wasi) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    p2::add_to_linker(&mut linker)?;
    interfaces::add_to_linker(&mut linker, wasi)?;
    if wasi == Wasi::P3 {
        wasmtime_wasi::p3::add_to_linker(&mut linker)?;
        p3::add_to_linker(&mut linker)?;
    }
    Ok(linker)
}

impl Loaded {
    /// Compiles, unless that was done before, and links, or says what is wrong with the component.
    pub fn new(
        engine: &Engine,
        linker: &Linker<State>,
        guest: Guest,
        code: &Code,
        permission: Arc<Permission>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let id = guest.id.to_string();
        let component = code.component(engine)?;
        // Imports first: who cannot be run at all need not be told how to export.
        check_imports(engine, &component, &id)?;
        let handler = handler(engine, &component, &id)?;
        let pre = linker
            .instantiate_pre(&component)
            .map_err(|error| Error::Link {
                component: id,
                reason: first_line(&error),
            })?;
        Ok(Loaded {
            guest: Arc::new(guest),
            pre,
            handler,
            permission,
            instance_memory: limits.instance_memory,
        })
    }

    pub fn engine(&self) -> &Engine {
        self.pre.engine()
    }

    pub fn wasi(&self) -> Wasi {
        match self.handler {
            Handler::P2(_) => Wasi::P2,
            Handler::P3(_) => Wasi::P3,
        }
    }

    /// The event loop of a new instance; the instance is created when the loop is polled first.
    pub fn start(self: &Arc<Self>, shared: Arc<Shared>) -> EventLoop {
        let loaded = self.clone();
        Box::pin(async move {
            let mut store = Store::new(loaded.pre.engine(), loaded.state(shared.clone())?);
            store.limiter(|state| &mut state.memory);
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(|store| {
                Ok(if store.data().shared.should_yield() {
                    UpdateDeadline::Yield(1)
                } else {
                    UpdateDeadline::Continue(1)
                })
            });
            let result = loaded.serve(&mut store, &shared).await;
            if result.is_err() {
                // Before the store goes: bodies that are cut by this must know.
                shared.set_dying();
            }
            drop(store);
            result
        })
    }

    async fn serve(&self, store: &mut Store<State>, shared: &Arc<Shared>) -> wasmtime::Result<()> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        match &self.handler {
            Handler::P2(handler) => p2::serve(store, instance, handler, shared.clone()).await,
            Handler::P3(handler) => p3::serve(store, instance, handler, shared.clone()).await,
        }
    }

    fn state(&self, shared: Arc<Shared>) -> wasmtime::Result<State> {
        let component = self.guest.component();
        let sockets = self.permission.clone();
        let mut wasi = WasiCtx::builder();
        wasi.envs(&component.environment)
            .stdout(self.guest.stdout.clone())
            .stderr(self.guest.stderr.clone())
            // What each socket may do is asked below. Names are not resolved, as under Spin.
            .allow_tcp(true)
            .allow_udp(true)
            .socket_addr_check(move |address, usage| {
                let permitted = permits(&sockets, address, usage);
                Box::pin(async move { permitted })
            });
        for mount in &component.mounts {
            let permissions = if mount.writable {
                FsPerms::ReadWrite
            } else {
                FsPerms::ReadOnly
            };
            wasi.preopened_dir(&mount.host, &mount.guest, permissions)?;
        }
        Ok(State {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            fields: Slab::new(),
            http03: p3::Tables::default(),
            http02: p2::Tables::default(),
            memory: MemoryLimit::new(self.instance_memory, self.guest.id.clone(), shared.clone()),
            shared,
            outbound: self.permission.clone(),
            guest: self.guest.clone(),
            traces: trace::Tasks::default(),
        })
    }
}

/// A parser's message has a picture of the place below it, which is too much for one line.
fn first_line(error: &wasmtime::Error) -> String {
    let text = error.root_cause().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Sockets are for reaching others; nothing may listen but the host itself.
fn permits(permission: &Permission, address: SocketAddr, usage: SocketAddrUse) -> bool {
    match usage {
        // What connecting without an explicit bind asks for.
        SocketAddrUse::TcpBind | SocketAddrUse::UdpBind => {
            address.ip().is_unspecified() && address.port() == 0
        }
        SocketAddrUse::TcpConnect => permission.permits_socket("tcp", address),
        SocketAddrUse::UdpSend | SocketAddrUse::UdpReceive => {
            permission.permits_socket("udp", address)
        }
        SocketAddrUse::TcpListen | SocketAddrUse::TcpAccept => false,
    }
}

/// The one HTTP handler that the component exports.
fn handler(engine: &Engine, component: &Component, id: &str) -> Result<Handler, Error> {
    let ty = component.component_type();
    let handlers: Vec<String> = ty
        .exports(engine)
        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentInstance(_)))
        .map(|(name, _)| name.to_owned())
        .filter(|name| {
            name.starts_with(&format!("{}@0.3.", p3::HANDLER))
                || name.starts_with(&format!("{}@0.2.", p2::HANDLER))
        })
        .collect();
    let wrong = |found: &str| Error::Handler {
        component: id.to_owned(),
        found: found.to_owned(),
    };
    let name = match handlers.as_slice() {
        [name] => name,
        [] => return Err(wrong("no HTTP handler")),
        several => return Err(wrong(&several.join(" and "))),
    };
    let handle = component
        .get_export_index(None, name)
        .and_then(|instance| component.get_export_index(Some(&instance), "handle"))
        .ok_or_else(|| wrong(&format!("{name} without `handle`")))?;
    Ok(if name.starts_with(p2::HANDLER) {
        Handler::P2(p2::Handler::new(handle))
    } else {
        Handler::P3(p3::Handler::new(handle))
    })
}

/// Packages that the host provides; what else a component imports is refused by name.
const PROVIDED: [&str; 7] = [
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:http",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];

fn check_imports(engine: &Engine, component: &Component, id: &str) -> Result<(), Error> {
    for (name, item) in component.component_type().imports(engine) {
        // Types and the like come with the interfaces that use them.
        if !matches!(
            item.ty,
            ComponentItem::ComponentInstance(_) | ComponentItem::ComponentFunc(_)
        ) {
            continue;
        }
        let interface = name.split('@').next().unwrap_or(name);
        let package = interface.split('/').next().unwrap_or(interface);
        if !PROVIDED.contains(&package) && !interfaces::PROVIDED.contains(&interface) {
            let hint = match package {
                "fermyon:spin" | "spin:key-value" | "spin:sqlite" | "wasi:keyvalue" => {
                    "; run the app under `spin up`"
                }
                _ => "",
            };
            return Err(Error::Import {
                component: id.to_owned(),
                import: name.to_owned(),
                hint: hint.to_owned(),
            });
        }
    }
    Ok(())
}
