//! The ids of spans.

use std::borrow::Cow;

use crate::json::JsonStr;

/// The body of an id's JSON string. Nearly all ids have up to 16 bytes, which are stored inline. They are
/// compared without reading the text, which has long left the processor's caches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SpanId<'t> {
    /// Padded with zeros, which no body contains.
    Short([u8; SHORT]),
    Long(Cow<'t, str>),
}

const SHORT: usize = 16;

impl<'t> SpanId<'t> {
    #[inline]
    pub(crate) fn new(body: Cow<'t, str>) -> Self {
        let bytes = body.as_bytes();
        if let Ok(short) = bytes.try_into() {
            return Self::Short(short);
        }
        if bytes.len() > SHORT {
            return Self::Long(body);
        }
        let mut padded = [0; SHORT];
        padded[..bytes.len()].copy_from_slice(bytes);
        Self::Short(padded)
    }

    pub(crate) fn display(&self) -> String {
        match self {
            Self::Short(padded) => {
                let length = padded.iter().position(|byte| *byte == 0).unwrap_or(SHORT);
                display(&String::from_utf8_lossy(&padded[..length]))
            }
            Self::Long(body) => display(body),
        }
    }
}

/// The text of a JSON string, from its body.
pub(crate) fn display(body: &str) -> String {
    if body.contains('\\') {
        JsonStr::from_normalized_body(body)
            .to_display()
            .into_owned()
    } else {
        body.to_owned()
    }
}
