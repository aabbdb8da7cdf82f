//! Explains why no recorded request matched: finds the nearest recorded request and its differences.
//!
//! [`nearest`] selects a recorded request, [`diff`] lists the differences between two documents, and [`explain`]
//! describes that list in words.

mod align;
mod bytes;
mod date;
mod excerpt;
mod explain;
mod id;
mod lines;
mod literal;
mod nature;
mod nearest;
mod path;
mod summary;
mod tree;
mod volatile;
mod walk;

use serde::Serialize;

use crate::json::{JsonError, canonicalize};

pub use explain::explain;
pub use lines::lines;
pub use nearest::nearest;
pub use summary::{Summary, summarize};

/// The differences that a diff lists for people. Further ones are only counted.
pub const MAX_DIFFERENCES: usize = 20;

/// The differences between two documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The first differences, in the order of the canonical document.
    pub differences: Vec<Difference>,
    /// The number of differences that are not listed.
    pub more: usize,
}

impl Diff {
    /// True if the documents are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty() && self.more == 0
    }

    /// JSON text of the object `{"differences":[…],"more":n}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// RFC 6901 pointer into the actual document. For a removed value, into the recorded document.
    pub pointer: String,
    pub change: Change,
    /// The part of the request that contains it.
    pub part: Part,
    /// The kind of the differing value.
    pub nature: Nature,
    /// JSON text of at most 80 characters, with `…` where it is cut. `None` if the value was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// As `recorded`. `None` if the value was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Changed,
    /// Only in the actual document.
    Added,
    /// Only in the recorded document.
    Removed,
    /// The same elements in another order.
    Reordered,
}

/// The kind of a differing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// A date or time, also within a text, also as seconds or milliseconds since 1970.
    Date,
    Uuid,
    /// A meaningless token, such as `call_8fKq2ZrT`, also within a text.
    RandomId,
    /// Texts that are equal except for white space.
    Whitespace,
    /// Texts that are equal except for upper and lower case.
    Case,
    /// The same elements of a list in another order.
    Order,
    Number,
    Text,
    Boolean,
    /// One of the two values is `null`.
    Null,
    /// Values of different JSON types.
    Type,
    /// A whole object or list that only one document contains.
    Structure,
    /// Any other difference in the tools.
    ToolSchema,
    /// Any other difference in the output schema.
    Schema,
    /// Any other difference in the options.
    ModelOption,
    /// Any difference in the model. A date in its name is a version, not a point in time.
    Model,
    /// A whole message that only one document contains.
    Message,
}

/// The member of a request document that contains a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Messages,
    Tools,
    Schema,
    Options,
    Model,
    /// The input of a tool call.
    Input,
    Other,
}

/// Lists at most `max_differences` differences between two JSON texts. The list is empty if and only if their canonical
/// forms are equal: the order of keys, white space and the spelling of numbers and escapes do not count.
///
/// Objects are compared by key. Lists are aligned first, so one additional element is one difference. Runs in linear
/// time and never recurses.
///
/// # Errors
/// As [`crate::json::write_canonical`]. The recorded text is read first.
pub fn diff(recorded: &str, actual: &str, max_differences: usize) -> Result<Diff, JsonError> {
    let (recorded, actual) = (canonicalize(recorded)?, canonicalize(actual)?);
    if recorded == actual {
        return Ok(Diff::default());
    }
    let (recorded, actual) = (tree::Tree::read(&recorded)?, tree::Tree::read(&actual)?);
    Ok(walk::compare(&recorded, &actual, max_differences))
}

impl Nature {
    /// True for values that are different in every run.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        matches!(self, Self::Date | Self::Uuid | Self::RandomId)
    }
}
