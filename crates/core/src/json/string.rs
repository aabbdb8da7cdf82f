use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use memchr::{memchr, memchr2};

/// A JavaScript string, stored as the body of its JSON literal in the form of `JSON.stringify`. Lone surrogates stay
/// `\udXXX` escapes because a Rust `String` cannot contain them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsonStr(Arc<str>);

impl JsonStr {
    pub fn from_normalized_body(body: &str) -> Self {
        Self(Arc::from(body))
    }

    /// From a literal in the form of `JSON.stringify`. Any other text stands for itself.
    pub fn from_literal(text: &str) -> Self {
        let rest = text.strip_prefix('"');
        match rest.and_then(|rest| rest.strip_suffix('"')) {
            Some(body) => Self::from_normalized_body(body),
            None => Self::from_plain(text),
        }
    }

    /// From decoded text.
    pub fn from_plain(text: &str) -> Self {
        let literal = quoted(text);
        Self(Arc::from(&literal[1..literal.len() - 1]))
    }

    /// The text between the quotes.
    pub fn body(&self) -> &str {
        &self.0
    }

    /// Appends the literal with its quotes.
    pub fn write_quoted(&self, out: &mut String) {
        out.push('"');
        out.push_str(&self.0);
        out.push('"');
    }

    /// The text for messages. Escapes of lone surrogates and control characters stay visible.
    pub fn to_display(&self) -> Cow<'_, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(&self.0);
        }
        match serde_json::from_str::<String>(&format!("\"{}\"", self.0)) {
            Ok(text) => Cow::Owned(text),
            Err(_) => Cow::Borrowed(&self.0),
        }
    }
}

impl fmt::Display for JsonStr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_display())
    }
}

/// The literal of a text, with its quotes.
pub fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        push_escaped(&mut literal, character);
    }
    literal.push('"');
    literal
}

/// Brings the body of a valid string literal into the form of `JSON.stringify`.
pub(super) fn normalize_body(body: &str) -> Cow<'_, str> {
    let Some(first) = first_to_normalize(body) else {
        return Cow::Borrowed(body);
    };
    let mut out = String::with_capacity(body.len());
    out.push_str(&body[..first]);
    let mut rest = &body[first..];
    while let Some(escape) = rest.find('\\') {
        out.push_str(&rest[..escape]);
        rest = &rest[escape..];
        let (character, length) = decode_escape(rest);
        rest = &rest[length..];
        match char::from_u32(character) {
            Some(character) => push_escaped(&mut out, character),
            None => push_unit(&mut out, character),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The offset of the first escape that may not be in the form of `JSON.stringify`. Most texts have none.
fn first_to_normalize(body: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let escape = from + memchr(b'\\', body.as_bytes().get(from..)?)?;
        match body.as_bytes().get(escape + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => from = escape + 2,
            _ => return Some(escape),
        }
    }
}

/// The position of the quote that closes the string whose body starts at `pos`.
pub(crate) fn string_end(bytes: &[u8], mut pos: usize) -> Option<usize> {
    loop {
        pos += memchr2(b'"', b'\\', bytes.get(pos..)?)?;
        if bytes[pos] == b'"' {
            return Some(pos);
        }
        pos += 2;
    }
}

/// The code point of the valid escape at the start of `text`, and the escape's length in bytes. Two escapes that form a
/// surrogate pair count as one.
pub(crate) fn decode_escape(text: &str) -> (u32, usize) {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match text.as_bytes().get(1) {
        Some(b'b') => (0x08, 2),
        Some(b'f') => (0x0C, 2),
        Some(b'n') => (0x0A, 2),
        Some(b'r') => (0x0D, 2),
        Some(b't') => (0x09, 2),
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12)
            }
            (unit, _) => (unit.unwrap_or(0), 6.min(text.len())),
        },
        Some(other) => (u32::from(*other), 2),
        None => (u32::from(b'\\'), 1),
    }
}

fn push_escaped(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{C}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        control if control < ' ' => push_unit(out, u32::from(control)),
        plain => out.push(plain),
    }
}

fn push_unit(out: &mut String, unit: u32) {
    use fmt::Write;
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

#[cfg(test)]
#[path = "../../tests/unit/json/string.rs"]
mod tests;
