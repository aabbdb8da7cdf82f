//! Content hashes, incremental hashes of conversations, and the hash of old recordings.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "../generator/mod.rs"]
mod generator;

mod content;
mod conversation;
mod legacy;
