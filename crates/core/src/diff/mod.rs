//! Why a request missed its recording: the recorded request that comes nearest, and what differs.
//!
//! [`nearest`] chooses among recorded requests, [`diff`] lists what is not the same in two documents,
//! and [`explain`] puts that list into words.

mod align;
mod bytes;
mod date;
mod excerpt;
mod explain;
mod id;
mod json;
mod literal;
mod nature;
mod nearest;
mod path;
mod tree;
mod volatile;
mod walk;

use crate::json::{JsonError, canonicalize};

pub use explain::explain;
pub use nearest::nearest;

/// Bounds on what is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// How many differences are listed; the others are counted.
    pub max_differences: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self {
            max_differences: 20,
        }
    }
}

/// What differs between two documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// The first ones, in the order of the canonical document.
    pub differences: Vec<Difference>,
    /// How many there are beyond those listed.
    pub more: usize,
}

impl Diff {
    /// Whether the documents are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty() && self.more == 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where (RFC 6901): in the actual document; of what was removed, in the recorded one.
    pub pointer: String,
    pub change: Change,
    /// What kind of value differs.
    pub nature: Nature,
    /// In which part of a request it stands.
    pub part: Part,
    /// JSON text of at most 80 characters, `…` for what is left out; `None` if it was added.
    pub recorded: Option<String>,
    /// As `recorded`; `None` if it was removed.
    pub actual: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    Changed,
    /// Only in the actual document.
    Added,
    /// Only in the recorded document.
    Removed,
    /// The same elements of a list in another order.
    Reordered,
}

/// What kind of value differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nature {
    /// A date or time, also inside a text, also as seconds or milliseconds since 1970.
    Date,
    Uuid,
    /// A token of no meaning, such as `call_8fKq2ZrT`, also inside a text.
    RandomId,
    /// Text that is equal but for its white space.
    Whitespace,
    /// Text that is equal but for upper and lower case.
    Case,
    /// A list with the same elements in another order.
    Order,
    Number,
    Text,
    Boolean,
    /// One of the two is `null`.
    Null,
    /// Values of two JSON types.
    Type,
    /// A whole object or list that one of the two lacks.
    Structure,
    /// Something else in the tools.
    ToolSchema,
    /// Something else in the schema of the output.
    Schema,
    /// Something else in the options.
    ModelOption,
    /// Anything in the model: its name may hold a date, and that is no moment.
    Model,
    /// A whole message that one of the two lacks.
    Message,
}

/// The member of a request document that something stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Messages,
    Tools,
    Schema,
    Options,
    Model,
    /// Of a tool's call.
    Input,
    Other,
}

/// Lists what differs between two JSON texts. Lists nothing exactly if their canonical forms are equal:
/// the order of keys, white space, spellings of numbers and escapes do not count.
///
/// Objects are compared by key. Lists are aligned first, so that one element more is one difference.
/// Takes time in proportion to the texts, and never recurses.
///
/// # Errors
/// As [`crate::json::write_canonical`]; the recorded text is read first.
pub fn diff(recorded: &str, actual: &str, limits: DiffLimits) -> Result<Diff, JsonError> {
    let (recorded, actual) = (canonicalize(recorded)?, canonicalize(actual)?);
    if recorded == actual {
        return Ok(Diff::default());
    }
    let (recorded, actual) = (tree::Tree::read(&recorded)?, tree::Tree::read(&actual)?);
    Ok(walk::compare(&recorded, &actual, limits))
}

impl Change {
    /// A stable name, as it crosses borders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Reordered => "reordered",
        }
    }
}

impl Nature {
    /// A stable name, as it crosses borders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::RandomId => "random-id",
            Self::Whitespace => "whitespace",
            Self::Case => "case",
            Self::Order => "order",
            Self::Number => "number",
            Self::Text => "text",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Type => "type",
            Self::Structure => "structure",
            Self::ToolSchema => "tool-schema",
            Self::Schema => "schema",
            Self::ModelOption => "model-option",
            Self::Model => "model",
            Self::Message => "message",
        }
    }

    /// Whether such values are made anew in each run.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        matches!(self, Self::Date | Self::Uuid | Self::RandomId)
    }
}

impl Part {
    /// A stable name, as it crosses borders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Tools => "tools",
            Self::Schema => "schema",
            Self::Options => "options",
            Self::Model => "model",
            Self::Input => "input",
            Self::Other => "other",
        }
    }
}
