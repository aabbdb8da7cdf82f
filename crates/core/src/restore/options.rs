//! The options of a restore.

use crate::json::JsonText;
use crate::snapshot::Anchor;

/// The origin of the text of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file with one event per line, or one JSON array. Entries that cannot be read are skipped with a
    /// warning.
    Lines,
    /// A list from memory, with one event per line. An entry that is not an event is an error.
    Events,
}

/// Selects the run and the moment to restore.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The span that marks the moment. Without it, the moment is the end of the trace.
    pub span_id: Option<String>,
    /// The side of that span: before its start, or after its end.
    pub anchor: Anchor,
    /// The run to restore if the trace contains several.
    pub trace_id: Option<String>,
    /// An object with the user's own tags.
    pub metadata: Option<JsonText>,
    /// The time, in milliseconds since 1970.
    pub now_ms: f64,
}
