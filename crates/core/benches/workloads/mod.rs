//! The inputs of the benches.
#![allow(dead_code, reason = "each bench uses some of them")]

pub mod request;
pub mod trace;
