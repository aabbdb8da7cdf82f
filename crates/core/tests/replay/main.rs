//! Answers from a recording, and the rules that keep a replay correct.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod agents;
mod carry_over;
mod failures;
mod inner;
mod lifetime;
mod order;
mod requests;
mod rules;
mod support;
