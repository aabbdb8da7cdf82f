//! The core of agent-rewind, free of Node: canonical JSON and content hashes, journals and the
//! frame tree of a run, immutable snapshots, replay from them, and their restore from traces.
//!
//! Each folder is a room. `scripts/check-rooms.mjs` lists which room may use which other rooms.

pub mod boundary;
pub mod diff;
pub mod fork;
pub mod hash;
pub mod json;
pub mod model;
pub mod provider;
pub mod record;
pub mod redact;
pub mod replay;
pub mod restore;
mod retry_rule;
pub mod snapshot;
pub mod util;
pub mod view;
