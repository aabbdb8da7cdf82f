//! The errors of reading a snapshot.

use thiserror::Error;

use crate::json::JsonError;
use crate::util::Faults;

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
