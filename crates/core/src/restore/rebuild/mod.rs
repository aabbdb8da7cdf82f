//! Builds frames, generations and calls from sorted events.

pub(super) mod assemble;
pub(super) mod budget;
pub(super) mod builder;
pub(super) mod calls;
pub(super) mod close;
pub(super) mod draft;
mod failures;
pub(super) mod names;
pub(super) mod outcome;
pub(super) mod passes;
