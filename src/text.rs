//! Text from JavaScript. Strings cross as JSON literals, whose lone surrogates are escapes.

use agent_rewind_core::journal::Value;
use agent_rewind_core::json::{JsonStr, JsonText};

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
