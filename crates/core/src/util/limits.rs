//! Limits on recorded data. Data beyond them is reported as a typed error and never overflows the stack.

/// Deepest nesting of a recorded JSON value, in levels.
pub const MAX_JSON_DEPTH: usize = 1_000;

/// Deepest nesting of frames in a snapshot. A callId is a path, so its length grows with the depth.
pub const MAX_FRAME_DEPTH: usize = 1_000;

/// Highest order of a start or end that a snapshot may contain. It leaves room for all later orders of the run below
/// 2^53, where JavaScript numbers are exact.
pub const MAX_ORDER: u64 = 1 << 52;
