//! Bounds on what can be represented. Past them comes a typed error, never a stack overflow.

/// Deepest nesting of a recorded JSON value, in levels.
pub const MAX_JSON_DEPTH: usize = 1_000;

/// Deepest nesting of frames in a snapshot. A callId is a path, so its length grows with the depth.
pub const MAX_FRAME_DEPTH: usize = 1_000;

/// Highest place in the order of a run's starts and ends that a snapshot may give: all that comes after it in
/// a run is still a number that JavaScript can tell from the next one.
pub const MAX_PLACE: u64 = 1 << 52;
