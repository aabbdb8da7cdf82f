//! Selects the events to restore from and sorts them.

pub(super) mod cut;
pub(super) mod missing;
pub(super) mod select;
pub(super) mod sort;
pub(super) mod topology;
