//! Reads the text of a trace, or a table of events, into events, spans and payloads.

pub(super) mod event;
pub(super) mod fields;
pub(super) mod head;
pub(super) mod lines;
pub(super) mod members;
pub(super) mod payload;
pub(super) mod span_id;
pub(super) mod spans;
pub(super) mod table;
pub(super) mod text;
pub(super) mod trace;
pub(super) mod usage_sum;
pub(super) mod warnings;
