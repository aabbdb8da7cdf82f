//! Calls as they are journaled: their requests, order and outcomes.

use std::fmt;

use super::call_data::CallData;
use super::request::Request;
use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};

/// What is called. Each kind has a journal of its own in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    Prompt,
    Tool,
    /// A kind of the user's own, kept under `journal.other`.
    Other(JsonStr),
}

impl Kind {
    #[must_use]
    pub fn from_name(name: JsonStr) -> Self {
        match name.body() {
            "prompt" => Self::Prompt,
            "tool" => Self::Tool,
            _ => Self::Other(name),
        }
    }

    /// The name as the body of a JSON string.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Prompt => "prompt",
            Self::Tool => "tool",
            Self::Other(name) => name.body(),
        }
    }
}

/// The key of a journal row: a SHA-256 of ours, or whatever another recorder wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestHash {
    Sha256(ContentHash),
    Foreign(JsonStr),
}

impl RequestHash {
    #[must_use]
    pub fn from_json_str(text: JsonStr) -> Self {
        match text.body().parse() {
            Ok(hash) => Self::Sha256(hash),
            Err(_) => Self::Foreign(text),
        }
    }

    /// From the body of a JSON string, as `JSON.stringify` writes it.
    #[must_use]
    pub fn read(body: &str) -> Self {
        match body.parse() {
            Ok(hash) => Self::Sha256(hash),
            Err(_) => Self::Foreign(JsonStr::from_normalized_body(body)),
        }
    }
}

impl RequestHash {
    /// Writes the hash as the body of a JSON string.
    pub fn push_to(&self, out: &mut String) {
        match self {
            Self::Sha256(hash) => hash.push_hex(out),
            Self::Foreign(text) => out.push_str(text.body()),
        }
    }
}

impl fmt::Display for RequestHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(hash) => hash.fmt(formatter),
            Self::Foreign(text) => formatter.write_str(text.body()),
        }
    }
}

/// A JavaScript value: its JSON text, and by pointer the types that JSON lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub text: JsonText,
    pub types: Option<JsonText>,
}

impl Value {
    #[must_use]
    pub fn plain(text: JsonText) -> Self {
        Self { text, types: None }
    }

    /// `undefined`, which JSON cannot write.
    #[must_use]
    pub fn undefined() -> Self {
        Self {
            text: JsonText::trusted("null".into()),
            types: Some(JsonText::trusted(r#"{"":"undefined"}"#.into())),
        }
    }
}

/// How a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Started, not ended: it has to be made again.
    Pending,
    Output(Value),
    /// It ended with a value that cannot be recorded; the text names the path and the reason.
    Tombstone(JsonStr),
    Failure {
        /// An `ErrorInfo` object.
        error: JsonText,
        /// The frame ended with this failure: resuming makes the call again.
        stopped: bool,
        /// The program went on after it. With `stopped` too, that is known from the recording that it was replayed
        /// from: a frame further up went on, and if it has not come to that again, resuming still replays it.
        handled: bool,
    },
}

/// One occurrence of a request in a frame and generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub kind: Kind,
    pub hash: RequestHash,
    pub call_id: JsonStr,
    /// Order of the start among all starts and ends of the run.
    pub start: u64,
    /// Order at which the program received the answer, if that was before the end, as with a stream.
    pub answered: Option<u64>,
    /// Order of the end; `None` while it is unknown.
    pub end: Option<u64>,
    pub outcome: Outcome,
    /// What was asked, where requests are kept.
    pub request: Option<Request>,
    pub data: CallData,
    /// Position of the call of the recorded frame that this one replays.
    pub replays: Option<usize>,
    /// Recorded by an earlier run. The run that replays it has not asked for it yet.
    pub carried_over: bool,
}

impl Call {
    /// True if it failed, and the program continued after that.
    #[must_use]
    pub fn is_handled(&self) -> bool {
        matches!(self.outcome, Outcome::Failure { handled: true, .. })
    }

    /// The order from which on the program had the answer.
    #[must_use]
    pub fn known_from(&self) -> Option<u64> {
        self.answered.or(self.end)
    }
}

/// A row without a list of calls (an old recording, a snapshot made by hand): it answers any
/// number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub kind: Kind,
    pub hash: RequestHash,
    pub outcome: Outcome,
}
