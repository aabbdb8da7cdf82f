//! The errors of restoring a trace.

use thiserror::Error;

use crate::util::{Fault, Faults};

/// A trace could not be restored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Restore failed: {kind}")]
pub struct RestoreError {
    pub kind: RestoreErrorKind,
}

impl From<RestoreErrorKind> for RestoreError {
    fn from(kind: RestoreErrorKind) -> Self {
        Self { kind }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RestoreErrorKind {
    #[error("Trace is empty.")]
    EmptyTrace,
    #[error("Target span \"{0}\" START event not found in trace.")]
    StartNotFound(String),
    #[error("Target span \"{0}\" END event not found in trace.")]
    EndNotFound(String),
    #[error("START event is at the beginning of trace, cannot restore before it.")]
    NothingBefore,
    #[error("Root agent frame not created.")]
    NoRootFrame,
    #[error("the trace contains events of {} runs ({}); choose one with options.traceId", .0.len(), .0.join(", "))]
    SeveralTraces(Vec<String>),
    #[error("the list contains no event of the trace \"{wanted}\", only of {}", .found.join(", "))]
    TraceNotFound { wanted: String, found: Vec<String> },
    #[error("{0}")]
    InvalidEvent(Fault),
    /// The trace names replay flags that this version does not know.
    #[error("{0}")]
    Recorder(Faults),
    #[error("{path}: frames are nested more than {limit} levels deep")]
    FramesTooDeep { path: String, limit: usize },
}
