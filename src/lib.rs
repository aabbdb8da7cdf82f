//! The binding of agent-rewind-core for Node.js. It contains only conversions.
//!
//! Values cross as JSON text. Every export catches panics, because a panic that reaches Node aborts the process.

#![deny(clippy::all)]
// An async export runs on another thread even if it awaits nothing.
#![allow(clippy::unused_async)]

mod boundary;
mod budget;
mod error;
mod file;
mod fork;
mod frame;
mod hash;
mod js_text;
mod meter;
#[cfg(feature = "panics")]
#[path = "../proof/panics/exports.rs"]
mod panics;
mod read_model;
mod redact;
mod snapshot;
mod text;
mod text_sink;
mod view;

use std::panic;

#[napi_derive::module_init]
fn install_panic_hook() {
    // The default hook prints as if the user's program had crashed.
    panic::set_hook(Box::new(|info| {
        eprintln!("agent-rewind: internal error, please report it: {info}");
    }));
}
