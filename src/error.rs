//! Converts errors of the core to JavaScript errors: a stable code, and the details as JSON in the reason. TypeScript
//! builds the error classes from both.

use agent_rewind_core::fork::ForkError;
use agent_rewind_core::hash::RequestTailError;
use agent_rewind_core::json::{JsonError, JsonErrorKind, JsonStr};
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

/// The details as the text of a JSON object, without its closing brace.
struct Detail(String);

impl Detail {
    fn new(message: &str) -> Self {
        Self("{".to_owned()).text("message", message)
    }

    fn key(mut self, name: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        JsonStr::from_plain(name).write_quoted(&mut self.0);
        self.0.push(':');
        self
    }

    fn text(self, name: &str, value: &str) -> Self {
        let mut detail = self.key(name);
        JsonStr::from_plain(value).write_quoted(&mut detail.0);
        detail
    }

    fn raw(self, name: &str, json: &str) -> Self {
        let mut detail = self.key(name);
        detail.0.push_str(json);
        detail
    }

    fn faults(self, faults: &[Fault]) -> Self {
        let list: Vec<String> = faults
            .iter()
            .map(|fault| {
                Detail("{".to_owned())
                    .text("path", &fault.path)
                    .text("message", &fault.message)
                    .close()
            })
            .collect();
        self.raw("faults", &format!("[{}]", list.join(",")))
    }

    fn close(self) -> String {
        self.0 + "}"
    }

    fn into_error(self, code: Code) -> Error<Code> {
        Error::new(code, self.close())
    }
}

pub fn json_error(error: &JsonError) -> Error<Code> {
    let code = if error.kind == JsonErrorKind::TooDeep {
        Code::Limit
    } else {
        Code::InvalidJson
    };
    Detail::new(&error.to_string())
        .raw("offset", &error.offset.to_string())
        .into_error(code)
}

/// For an argument of the right type with an invalid value.
pub fn invalid_argument(message: &str) -> Error<Code> {
    Detail::new(message).into_error(Code::Argument)
}

pub fn request_error(error: &RequestTailError) -> Error<Code> {
    match error {
        RequestTailError::Json(error) => json_error(error),
        other => Detail::new(&other.to_string()).into_error(Code::InvalidJson),
    }
}

pub fn rule_error(error: &RuleError) -> Error<Code> {
    Detail::new(&error.to_string()).into_error(Code::Redact)
}

pub fn snapshot_error(error: &SnapshotError) -> Error<Code> {
    let detail = Detail::new(&error.to_string());
    match error {
        SnapshotError::Invalid(faults) => {
            detail.faults(&faults.0).into_error(Code::InvalidSnapshot)
        }
        // The error class names the document that is not JSON.
        SnapshotError::NotJson { path, error } => Detail::new(&format!("not JSON, {error}"))
            .text("path", path)
            .raw("offset", &error.offset.to_string())
            .into_error(Code::InvalidSnapshot),
        SnapshotError::FramesTooDeep { path, .. } | SnapshotError::JsonTooDeep { path, .. } => {
            detail.text("path", path).into_error(Code::Limit)
        }
    }
}

pub fn restore_error(error: &RestoreError) -> Error<Code> {
    let detail = Detail::new(&error.to_string());
    match &error.kind {
        RestoreErrorKind::StartNotFound(span_id) | RestoreErrorKind::EndNotFound(span_id) => {
            detail.text("spanId", span_id).into_error(Code::Restore)
        }
        RestoreErrorKind::InvalidEvent(fault) => {
            detail.text("path", &fault.path).into_error(Code::Restore)
        }
        RestoreErrorKind::Recorder(Faults(faults)) => {
            let path = faults.first().map_or("", |fault| &fault.path);
            detail.text("path", path).into_error(Code::Restore)
        }
        RestoreErrorKind::FramesTooDeep { path, .. } => {
            detail.text("path", path).into_error(Code::Limit)
        }
        _ => detail.into_error(Code::Restore),
    }
}

/// A text of this many bytes does not fit into a JavaScript string.
pub fn too_long(bytes: usize) -> Error<Code> {
    let message = format!(
        "The frames of the snapshot have {} MB of JSON text, more than a JavaScript string can hold (512 MB). \
         Write the snapshot with writeSnapshot, which needs no string",
        bytes >> 20
    );
    Detail::new(&message).into_error(Code::Limit)
}

/// Names cross as the texts of strings.
pub fn fork_error(error: &ForkError) -> Error<Code> {
    let quoted = |name: &JsonStr| format!("\"{}\"", name.body());
    let names: Vec<String> = error.known.names.iter().map(quoted).collect();
    let wanted = error.known.wanted.as_ref();
    Detail::new(&error.message)
        .raw("change", &error.change.to_string())
        .text("field", error.field)
        .raw("names", &format!("[{}]", names.join(",")))
        .raw("wanted", &wanted.map_or_else(|| "null".to_owned(), quoted))
        .raw("listed", if error.known.listed { "true" } else { "false" })
        .into_error(Code::Fork)
}
