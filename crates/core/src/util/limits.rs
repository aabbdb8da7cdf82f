//! Bounds on what can be represented. Past them comes a typed error, never a stack overflow.

/// Deepest nesting of a recorded JSON value, in levels.
pub const MAX_JSON_DEPTH: usize = 1_000;

/// Deepest nesting of frames in a snapshot. A callId is a path, so its length grows with the depth.
pub const MAX_FRAME_DEPTH: usize = 1_000;

/// Highest order of a start or end that a snapshot may contain. The orders that follow it in a run are still exact
/// numbers in JavaScript.
pub const MAX_ORDER: u64 = 1 << 52;
