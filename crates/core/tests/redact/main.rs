//! Redaction of JSON text, plain text and streams.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

mod any_text;
mod found;
mod json;
mod rules;
mod streams;
mod support;
