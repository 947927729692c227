//! What a guest can do to its host without any interface, shared by the guests of both WASI versions.

use std::hint::black_box;

/// Computes and never comes back.
pub fn compute_forever() -> ! {
    let mut number = 1u64;
    loop {
        number = black_box(number.wrapping_mul(3));
    }
}

/// Takes memory until there is none.
pub fn take_memory() -> ! {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// Calls itself until the stack is full.
pub fn fill_stack(depth: u64) -> u64 {
    if depth == u64::MAX {
        return 0;
    }
    let here = black_box([depth; 64]);
    1 + fill_stack(depth + 1) + here[3]
}
