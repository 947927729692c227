//! The wasmtime engines: one for components that run tasks concurrently (WASI 0.3), one without that machinery for
//! WASI 0.2, both with pooled instances where the machine allows it, and the clock that interrupts guests.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, ModuleVersionStrategy,
    PoolingAllocationConfig, Result,
};

use crate::artifact;
use crate::limits::Limits;

/// A guest that runs this long without a pause lets others of its core run.
const TICK: Duration = Duration::from_millis(5);

static TICKS: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Instant> = OnceLock::new();

/// The time since the first engine was made, in ticks: what the engines' clocks all write, and cheap to read.
pub fn ticks() -> u64 {
    TICKS.load(Ordering::Relaxed)
}

/// The time since a tick, roughly.
pub fn since_tick(tick: u64) -> Duration {
    let ticks = ticks().saturating_sub(tick);
    TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX))
}

/// Which of the two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wasi {
    P2,
    P3,
}

/// An engine with its clock, and with a pool where there are limits for one.
pub fn engine(wasi: Wasi, pool: Option<&Limits>) -> Result<Engine> {
    let engine = match Engine::new(&config(wasi, pool)) {
        Ok(engine) => engine,
        Err(error) => {
            // A small address space (ulimit -v, some containers) has no room for the pool.
            tracing::warn!(%error, "instances are not pooled and will start more slowly");
            Engine::new(&config(wasi, None))?
        }
    };
    let weak = engine.weak();
    let start = *START.get_or_init(Instant::now);
    std::thread::Builder::new()
        .name("epoch".into())
        .spawn(move || {
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                let now = start.elapsed().as_nanos() / TICK.as_nanos();
                TICKS.fetch_max(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
                std::thread::sleep(TICK);
            }
        })?;
    Ok(engine)
}

/// The settings that compiled code depends on, and the pool for `limits`.
pub fn config(wasi: Wasi, pool: Option<&Limits>) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    // A version is at most 255 bytes, the only thing that can be wrong with one.
    let _ = config.module_version(ModuleVersionStrategy::Custom(artifact::version(wasi)));
    match wasi {
        Wasi::P3 => {
            config.wasm_component_model_async(true);
        }
        Wasi::P2 => {
            config.wasm_component_model_async(false);
            config.concurrency_support(false);
        }
    }
    if let Some(limits) = pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling(wasi, limits)));
    }
    config
}

fn pooling(wasi: Wasi, limits: &Limits) -> PoolingAllocationConfig {
    let instances = u32::try_from(limits.instances).unwrap_or(u32::MAX).max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances);
    // A component brings adapters and shims beside its own module; most have one memory.
    pool.total_core_instances(instances.saturating_mul(8));
    pool.total_memories(instances.saturating_mul(2));
    pool.total_tables(instances.saturating_mul(8));
    // Each is a system call at start. A 0.2 instance runs one call at a time; a 0.3 instance keeps a stack of its own, and
    // each of its calls that waits in the middle of the guest keeps another.
    pool.total_stacks(match wasi {
        Wasi::P2 => instances,
        Wasi::P3 => {
            instances.saturating_add(u32::try_from(limits.concurrent_requests).unwrap_or(u32::MAX))
        }
    });
    pool.max_memory_size(limits.instance_memory.clamp(64 * 1024, 1 << 32));
    pool.table_elements(100_000);
    // Keeping pages resident pays only where the kernel can tell which ones were written.
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes);
        pool.linear_memory_keep_resident(512 * 1024);
        pool.table_keep_resident(64 * 1024);
        pool.async_stack_keep_resident(64 * 1024);
    }
    pool
}
