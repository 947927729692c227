//! What a guest's failure was: for the metrics' labels, and why its instance is counted as ended.

use wasmtime::Trap;
use wasmtime::component::ResourceTableError;

use crate::metrics::{Retirement, TrapKind};

/// The kind of `error`; `memory_denied` says that the guest had been refused memory, of which most languages make a trap.
pub fn kind(error: &wasmtime::Error, memory_denied: bool) -> TrapKind {
    if hit_handle_limit(error) {
        return TrapKind::HandleLimit;
    }
    let Some(trap) = error.downcast_ref::<Trap>() else {
        return TrapKind::Other;
    };
    match trap {
        Trap::UnreachableCodeReached if memory_denied => TrapKind::Memory,
        Trap::AllocationTooLarge => TrapKind::Memory,
        Trap::UnreachableCodeReached => TrapKind::Unreachable,
        Trap::StackOverflow => TrapKind::StackOverflow,
        Trap::MemoryOutOfBounds | Trap::TableOutOfBounds | Trap::ArrayOutOfBounds => {
            TrapKind::OutOfBounds
        }
        Trap::IntegerOverflow | Trap::IntegerDivisionByZero | Trap::BadConversionToInteger => {
            TrapKind::Arithmetic
        }
        Trap::IndirectCallToNull | Trap::BadSignature | Trap::NullReference => {
            TrapKind::IndirectCall
        }
        _ => TrapKind::Other,
    }
}

/// A guest that holds too many handles: wasmtime has no type for it, but the text, which a test holds it to.
fn hit_handle_limit(error: &wasmtime::Error) -> bool {
    matches!(
        error.downcast_ref::<ResourceTableError>(),
        Some(ResourceTableError::Full)
    ) || error
        .root_cause()
        .to_string()
        .contains("store handle limit exceeded")
}

/// Why an instance whose guest failed so is counted as ended.
pub fn retirement(kind: TrapKind) -> Retirement {
    match kind {
        TrapKind::Memory => Retirement::Memory,
        TrapKind::HandleLimit => Retirement::HandleLimit,
        _ => Retirement::Trap,
    }
}
