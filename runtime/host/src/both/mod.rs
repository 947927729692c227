//! What `wasi:http/types` of 0.2 and of 0.3 have in common, linked for either by the names it has there.

pub mod fields;
pub mod line;
