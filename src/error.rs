//! Converts errors of the core to JavaScript errors: a stable code, and the details as JSON in the reason. TypeScript
//! builds the error classes from both.
#![allow(
    clippy::needless_pass_by_value,
    reason = "the functions are arguments of `map_err`"
)]

use agent_rewind_core::fork::ForkError;
use agent_rewind_core::hash::RequestTailError;
use agent_rewind_core::json::{JsonError, JsonErrorKind, JsonStr, quoted};
use agent_rewind_core::redact::RuleError;
use agent_rewind_core::restore::{RestoreError, RestoreErrorKind};
use agent_rewind_core::snapshot::SnapshotError;
use agent_rewind_core::util::{Fault, Faults};
use napi::{Error, Status};

/// Stable error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    InvalidJson,
    InvalidSnapshot,
    Limit,
    Restore,
    Fork,
    Redact,
    /// An argument that napi rejects.
    Argument,
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        match self {
            Self::InvalidJson => "ERR_REWIND_INVALID_JSON",
            Self::InvalidSnapshot => "ERR_REWIND_INVALID_SNAPSHOT",
            Self::Limit => "ERR_REWIND_LIMIT",
            Self::Restore => "ERR_REWIND_RESTORE",
            Self::Fork => "ERR_REWIND_FORK",
            Self::Redact => "ERR_REWIND_REDACT",
            Self::Argument => "ERR_REWIND_ARGUMENT",
        }
    }
}

impl From<Status> for Code {
    fn from(_: Status) -> Self {
        Self::Argument
    }
}

pub type Result<T> = std::result::Result<T, Error<Code>>;

/// An error with its message and more members, each a name and JSON text.
fn error<const N: usize>(code: Code, message: &str, more: [(&str, String); N]) -> Error<Code> {
    let mut detail = format!("{{\"message\":{}", quoted(message));
    for (name, json) in more {
        detail.push_str(&format!(",\"{name}\":{json}"));
    }
    detail.push('}');
    Error::new(code, detail)
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

pub fn json_error(json: JsonError) -> Error<Code> {
    let code = if json.kind == JsonErrorKind::TooDeep {
        Code::Limit
    } else {
        Code::InvalidJson
    };
    let offset = json.offset.to_string();
    error(code, &json.to_string(), [("offset", offset)])
}

/// For an argument of the right type with an invalid value.
pub fn invalid_argument(message: &str) -> Error<Code> {
    error(Code::Argument, message, [])
}

pub fn request_error(request: RequestTailError) -> Error<Code> {
    match request {
        RequestTailError::Json(json) => json_error(json),
        other => error(Code::InvalidJson, &other.to_string(), []),
    }
}

pub fn rule_error(rule: RuleError) -> Error<Code> {
    error(Code::Redact, &rule.to_string(), [])
}

pub fn snapshot_error(snapshot: &SnapshotError) -> Error<Code> {
    let message = snapshot.to_string();
    match snapshot {
        SnapshotError::Invalid(Faults(faults)) => {
            let faults = faults.iter().map(|Fault { path, message }| {
                let (path, message) = (quoted(path), quoted(message));
                format!("{{\"path\":{path},\"message\":{message}}}")
            });
            error(Code::InvalidSnapshot, &message, [("faults", list(faults))])
        }
        // The error class names the document that is not JSON.
        SnapshotError::NotJson { path, error: json } => error(
            Code::InvalidSnapshot,
            &format!("not JSON, {json}"),
            [("path", quoted(path)), ("offset", json.offset.to_string())],
        ),
        SnapshotError::FramesTooDeep { path, .. } | SnapshotError::JsonTooDeep { path, .. } => {
            error(Code::Limit, &message, [("path", quoted(path))])
        }
    }
}

pub fn restore_error(restore: &RestoreError) -> Error<Code> {
    let message = restore.to_string();
    let (code, name, value) = match &restore.kind {
        RestoreErrorKind::StartNotFound(span_id) | RestoreErrorKind::EndNotFound(span_id) => {
            (Code::Restore, "spanId", span_id.as_str())
        }
        RestoreErrorKind::InvalidEvent(fault) => (Code::Restore, "path", fault.path.as_str()),
        RestoreErrorKind::Recorder(Faults(faults)) => {
            let path = faults.first().map_or("", |fault| &fault.path);
            (Code::Restore, "path", path)
        }
        RestoreErrorKind::FramesTooDeep { path, .. } => (Code::Limit, "path", path.as_str()),
        _ => return error(Code::Restore, &message, []),
    };
    error(code, &message, [(name, quoted(value))])
}

/// A text of this many bytes does not fit into a JavaScript string.
pub fn too_long(bytes: usize) -> Error<Code> {
    let message = format!(
        "The frames of the snapshot have {} MB of JSON text, more than a JavaScript string can hold (512 MB). \
         Write the snapshot with writeSnapshot, which needs no string",
        bytes >> 20
    );
    error(Code::Limit, &message, [])
}

/// Names cross as the texts of strings.
pub fn fork_error(fork: ForkError) -> Error<Code> {
    let literal = |name: &JsonStr| format!("\"{}\"", name.body());
    let wanted = fork.known.wanted.as_ref();
    let details = [
        ("change", fork.change.to_string()),
        ("field", quoted(fork.field)),
        ("names", list(fork.known.names.iter().map(literal))),
        ("wanted", wanted.map_or_else(|| "null".to_owned(), literal)),
        ("listed", fork.known.listed.to_string()),
    ];
    error(Code::Fork, &fork.message, details)
}
