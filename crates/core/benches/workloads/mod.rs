//! What the benches work on.
#![allow(dead_code, reason = "each bench uses some of them")]

pub mod request;
pub mod trace;
