//! Which events of which run are restored, and in which order they came.

pub(super) mod cut;
pub(super) mod missing;
pub(super) mod select;
pub(super) mod sort;
pub(super) mod topology;
