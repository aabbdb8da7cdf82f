//! Restore: recorded traces with known snapshots, and hand-written traces for each rule.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers are the tests' own"
)]

mod damage;
mod errors;
mod fixtures;
mod old_traces;
mod order;
mod own_traces;
mod property;
mod shapes;
mod support;
mod tree;
