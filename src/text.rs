//! Text from JavaScript. Strings cross as JSON literals, whose lone surrogates are escapes.

use std::borrow::Cow;
use std::thread;

use agent_rewind_core::journal::Value;
use agent_rewind_core::json::{JsonError, JsonErrorKind, JsonStr, JsonText};

use crate::error::{Result, json_error};

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

/// The text in bytes that must be UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        json_error(&JsonError {
            kind: JsonErrorKind::UnexpectedCharacter,
            offset: error.valid_up_to(),
        })
    })
}

/// The text of a file. Bytes that are not UTF-8 become U+FFFD.
pub fn from_bytes(bytes: &[u8]) -> String {
    // The usual case has a check of its own, several times as fast.
    match String::from_utf8(copied(bytes)) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The text in bytes, which is copied only where some are not UTF-8: they become U+FFFD.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    // The usual case has a check of its own, several times as fast.
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A copy, of much by two threads: it is the memory that is touched for the first time which costs.
fn copied(bytes: &[u8]) -> Vec<u8> {
    const MUCH: usize = 1 << 22;
    if bytes.len() < MUCH {
        return bytes.to_vec();
    }
    let mut copy = vec![0; bytes.len()];
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let (to_first, to_second) = copy.split_at_mut(first.len());
    let has_help = thread::scope(|scope| {
        let other =
            thread::Builder::new().spawn_scoped(scope, || to_second.copy_from_slice(second));
        to_first.copy_from_slice(first);
        other.is_ok()
    });
    if !has_help {
        copy[first.len()..].copy_from_slice(second);
    }
    copy
}
