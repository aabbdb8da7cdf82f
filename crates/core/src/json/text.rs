use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::error::JsonError;
use super::scan::Scanner;

/// The text of one JSON value: a span of a larger text that many values share.
#[derive(Clone)]
pub struct JsonText {
    source: Arc<String>,
    range: Range<usize>,
}

impl JsonText {
    /// `range` must be a span that [`Scanner::skip_value`] returned for this source, or another span of exactly one
    /// value.
    pub fn from_span(source: &Arc<String>, range: Range<usize>) -> Self {
        Self {
            source: Arc::clone(source),
            range,
        }
    }

    /// From text that `JSON.stringify` wrote. It is not validated.
    pub fn trusted(text: String) -> Self {
        let range = 0..text.len();
        Self {
            source: Arc::new(text),
            range,
        }
    }

    /// Validates text of any origin.
    pub fn parse(text: String) -> Result<Self, JsonError> {
        let mut scanner = Scanner::new(&text);
        let range = scanner.skip_value()?;
        scanner.finish()?;
        Ok(Self {
            source: Arc::new(text),
            range,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.source[self.range.clone()]
    }

    pub fn len(&self) -> usize {
        self.range.len()
    }

    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// Writes items with commas between them.
pub fn write_joined<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Compares the text: `1` and `1.0` differ.
impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonText {}

impl Hash for JsonText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Borrow<str> for JsonText {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}
