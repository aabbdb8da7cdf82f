//! Calls as they are journaled: their requests, order and outcomes.

use std::fmt;

use super::call_data::CallData;
use super::request::Request;
use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};

/// The kind of a call. Each kind has its own journal in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    Prompt,
    Tool,
    /// A kind that the user defines, stored under `journal.other`.
    Other(JsonStr),
}

impl Kind {
    pub fn from_name(name: JsonStr) -> Self {
        match name.body() {
            "prompt" => Self::Prompt,
            "tool" => Self::Tool,
            _ => Self::Other(name),
        }
    }

    /// The name as the body of a JSON string.
    pub fn name(&self) -> &str {
        match self {
            Self::Prompt => "prompt",
            Self::Tool => "tool",
            Self::Other(name) => name.body(),
        }
    }
}

/// The key of a journal row: our SHA-256, or the key that another recorder wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestHash {
    Sha256(ContentHash),
    Foreign(JsonStr),
}

impl RequestHash {
    pub fn from_json_str(text: JsonStr) -> Self {
        match text.body().parse() {
            Ok(hash) => Self::Sha256(hash),
            Err(_) => Self::Foreign(text),
        }
    }

    /// Reads the body of a JSON string, as `JSON.stringify` writes it.
    pub fn read(body: &str) -> Self {
        match body.parse() {
            Ok(hash) => Self::Sha256(hash),
            Err(_) => Self::Foreign(JsonStr::from_normalized_body(body)),
        }
    }

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

/// A JavaScript value: its JSON text, and the types that JSON lacks, by JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub text: JsonText,
    pub types: Option<JsonText>,
}

impl Value {
    pub fn plain(text: JsonText) -> Self {
        Self { text, types: None }
    }

    /// `undefined`, which JSON cannot write.
    pub fn undefined() -> Self {
        Self {
            text: JsonText::trusted("null".into()),
            types: Some(JsonText::trusted(r#"{"":"undefined"}"#.into())),
        }
    }
}

/// The state of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Started and not ended. A replay executes it.
    Pending,
    Output(Value),
    /// It ended with a value that cannot be recorded; the text names the path and the reason.
    Tombstone(JsonStr),
    Failure {
        /// An `ErrorInfo` object.
        error: JsonText,
        /// The frame ended with this failure.
        stopped: bool,
        /// The program continued after it. If `stopped` is set too, the replayed recording shows that a frame further
        /// up continued. A resumed run replays the failure even if that frame has not continued in this run.
        handled: bool,
    },
}

/// One occurrence of a request in a frame and generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub kind: Kind,
    pub hash: RequestHash,
    pub call_id: JsonStr,
    /// The callId of the call of the same generation that it was asked inside of, its outer call.
    pub within: Option<JsonStr>,
    /// Order of the start among all starts and ends of the run.
    pub start: u64,
    /// Order at which the program received the answer, if that was before the end, as with a stream.
    pub answered: Option<u64>,
    /// Order of the end; `None` while it is unknown.
    pub end: Option<u64>,
    pub outcome: Outcome,
    /// The request, if the run keeps requests.
    pub request: Option<Request>,
    pub data: CallData,
    /// Position in the recorded frame of the call that this one replays.
    pub replays: Option<usize>,
    /// Copied from the earlier recording. This run has not requested it yet.
    pub carried_over: bool,
    /// A fork removed all of it but its start.
    pub dropped: bool,
}

impl Call {
    /// A call that has started and not ended, without optional fields.
    pub fn new(kind: Kind, hash: RequestHash, call_id: JsonStr, start: u64) -> Self {
        Self {
            kind,
            hash,
            call_id,
            within: None,
            start,
            answered: None,
            end: None,
            outcome: Outcome::Pending,
            request: None,
            data: CallData::default(),
            replays: None,
            carried_over: false,
            dropped: false,
        }
    }

    /// True if it failed, and the program continued after that.
    pub fn is_handled(&self) -> bool {
        matches!(self.outcome, Outcome::Failure { handled: true, .. })
    }

    /// True if it ended with an answer that a replay can return.
    pub fn has_answer(&self) -> bool {
        matches!(self.outcome, Outcome::Output(_) | Outcome::Failure { .. })
    }

    /// The order at which the program received the answer.
    pub fn known_from(&self) -> Option<u64> {
        self.answered.or(self.end)
    }
}

/// A row without a list of calls, from an old recording or a handmade snapshot. It answers any number of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub kind: Kind,
    pub hash: RequestHash,
    pub outcome: Outcome,
}
