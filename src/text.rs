//! Text from JavaScript. Strings cross as JSON literals, in which lone surrogates are escaped.

use std::borrow::Cow;

use agent_rewind_core::json::{JsonError, JsonErrorKind, JsonText};
use agent_rewind_core::model::Value;

use crate::error::{Result, json_error, too_long};

/// A value that TypeScript encoded.
pub fn value(text: String, types: Option<String>) -> Value {
    Value {
        text: JsonText::trusted(text),
        types: types.map(JsonText::trusted),
    }
}

/// The text in bytes, which must be UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        json_error(JsonError {
            kind: JsonErrorKind::UnexpectedCharacter,
            offset: error.valid_up_to(),
        })
    })
}

/// The longest string of V8, in UTF-16 units.
const LONGEST_STRING: usize = (1 << 29) - 24;

/// The text, if a JavaScript string can hold it.
pub fn for_javascript(text: String) -> Result<String> {
    if text.len() > LONGEST_STRING && text.encode_utf16().count() > LONGEST_STRING {
        return Err(too_long(text.len()));
    }
    Ok(text)
}

/// A copy of the text in bytes, which must be UTF-8.
#[allow(unsafe_code, reason = "the copy was validated by a faster function")]
pub fn owned_utf8(bytes: &[u8]) -> std::result::Result<String, JsonError> {
    // Another thread may share the original, so the copy is validated.
    let copy = bytes.to_vec();
    if simdutf8::basic::from_utf8(&copy).is_ok() {
        // SAFETY: it was validated.
        return Ok(unsafe { String::from_utf8_unchecked(copy) });
    }
    String::from_utf8(copy).map_err(|error| JsonError {
        kind: JsonErrorKind::NotUtf8,
        offset: error.utf8_error().valid_up_to(),
    })
}

/// The text in bytes. It is copied only if some bytes are not UTF-8; those become U+FFFD.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
