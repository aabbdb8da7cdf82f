//! Answers from a recording, by the rules that keep a replay from being wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod agents;
mod failures;
mod lifetime;
mod places;
mod requests;
mod rules;
mod support;
mod unreached;
