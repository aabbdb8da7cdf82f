//! Answers from a recording, by the rules that keep a replay from being wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod agents;
mod carry_over;
mod failures;
mod lifetime;
mod order;
mod requests;
mod rules;
mod support;
