//! What the caller of a restore chooses.

use crate::json::JsonText;
use crate::snapshot::Anchor;

/// Where the text of a trace comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file of one event a line, or one JSON array: what cannot be read is passed over, with a
    /// warning.
    Lines,
    /// A list handed over in memory, an event or a JSON array of events in each line: what is no event
    /// is an error.
    Events,
}

/// Which moment of which run is restored.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The span that the moment is told by; without it, the end of the trace.
    pub span_id: Option<String>,
    /// Before the start of that span, or after its end.
    pub anchor: Anchor,
    /// The run, where the trace holds several.
    pub trace_id: Option<String>,
    /// An object with the user's own tags.
    pub metadata: Option<JsonText>,
    /// The time, in milliseconds since 1970.
    pub now_ms: f64,
}
