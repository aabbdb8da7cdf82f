use std::fmt;
use std::str::FromStr;

use super::writer::HashWriter;
use super::{ContentHash, ParseContentHashError};
use crate::json::{JsonError, Sink, write_canonical};

/// Before the digits, if the hash does not cover the whole input.
const INEXACT: &str = "inexact:";

/// The hash of a frame's input (its props). Displayed as 64 hex digits, after `inexact:` if it is not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InputHash {
    pub hash: ContentHash,
    /// False if the input has content that the hash does not cover, so that other inputs may have the same hash.
    pub exact: bool,
}

impl From<ContentHash> for InputHash {
    fn from(hash: ContentHash) -> Self {
        Self { hash, exact: true }
    }
}

impl fmt::Display for InputHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.exact { "" } else { INEXACT })?;
        fmt::Display::fmt(&self.hash, formatter)
    }
}

impl FromStr for InputHash {
    type Err = ParseContentHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(INEXACT);
        Ok(Self {
            hash: digits.unwrap_or(text).parse()?,
            exact: digits.is_none(),
        })
    }
}

/// The hash of a frame's input: the content hash of `{"input":…}`, with a `"types"` member if `types` is given.
///
/// # Errors
/// As [`write_canonical`].
pub fn input_hash(input: &str, types: Option<&str>) -> Result<ContentHash, JsonError> {
    let mut hasher = HashWriter::new();
    hasher.write(r#"{"input":"#);
    write_canonical(input, &mut hasher)?;
    if let Some(types) = types {
        hasher.write(r#","types":"#);
        write_canonical(types, &mut hasher)?;
    }
    hasher.write("}");
    Ok(hasher.finish())
}
