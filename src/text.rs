//! Text from JavaScript. Strings cross as JSON literals, in which lone surrogates are escaped.

use std::borrow::Cow;

use agent_rewind_core::json::{JsonError, JsonErrorKind, JsonStr, JsonText};
use agent_rewind_core::model::Value;

use crate::error::{Result, json_error, too_long};
use crate::utf8;

/// A string that TypeScript passed through `JSON.stringify`.
pub fn json_str(literal: &str) -> JsonStr {
    let body = literal
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match body {
        Some(body) => JsonStr::from_normalized_body(body),
        None => JsonStr::from_plain(literal),
    }
}

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
        json_error(&JsonError {
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
pub fn owned_utf8(bytes: &[u8]) -> std::result::Result<String, JsonError> {
    match utf8::copy(bytes) {
        Some(text) => Ok(text),
        None => str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|error| JsonError {
                kind: JsonErrorKind::NotUtf8,
                offset: error.valid_up_to(),
            }),
    }
}

/// The text in bytes. It is copied only if some bytes are not UTF-8; those become U+FFFD.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match utf8::view(bytes) {
        Some(text) => Cow::Borrowed(text),
        None => String::from_utf8_lossy(bytes),
    }
}
