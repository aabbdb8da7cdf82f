//! The faults that callers can tell apart.

use std::fmt;

use thiserror::Error;

use crate::json::JsonError;

/// One fault in data from outside, with the dotted path to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub path: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

/// Lists faults on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(", ")?;
            }
            fault.fmt(formatter)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SnapshotError {
    #[error("Invalid Snapshot format: {0}")]
    Invalid(Faults),
    #[error("Invalid Snapshot format: {path}: not JSON, {error}")]
    NotJson { path: String, error: JsonError },
    #[error("{path}: frames are nested more than {limit} levels deep")]
    FramesTooDeep { path: String, limit: usize },
    #[error("{path}: JSON is nested more than {limit} levels deep")]
    JsonTooDeep { path: String, limit: usize },
}

/// Why no snapshot could be restored from a trace.
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
    #[error("the trace holds events of {} runs ({}); choose one with options.traceId", .0.len(), .0.join(", "))]
    SeveralTraces(Vec<String>),
    #[error("no event of the trace \"{wanted}\"; the list holds {}", .found.join(", "))]
    TraceNotFound { wanted: String, found: Vec<String> },
    #[error("{0}")]
    InvalidEvent(Fault),
    #[error("{path}: frames are nested more than {limit} levels deep")]
    FramesTooDeep { path: String, limit: usize },
}
