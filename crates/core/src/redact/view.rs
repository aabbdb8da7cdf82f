//! Text with its JSON escapes decoded, and the mapping back to its original position.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use crate::json::decode_escape;

/// A text, and the origin of each of its bytes in the text to redact.
pub(super) struct View<'a> {
    pub text: Cow<'a, str>,
    map: Map,
    /// The number of times that escapes were decoded.
    pub level: u8,
}

enum Map {
    /// Every byte is shifted by this offset.
    Shift(usize),
    /// The origin of each byte and of the end.
    Table(Vec<usize>),
}

impl<'a> View<'a> {
    pub fn whole(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            map: Map::Shift(0),
            level: 0,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The origin of a byte of this text, or of its end.
    pub fn origin(&self, at: usize) -> usize {
        match &self.map {
            Map::Shift(by) => at + by,
            Map::Table(table) => table.get(at).or(table.last()).copied().unwrap_or(0),
        }
    }

    /// A part of the text with its escapes decoded. Invalid escapes stay unchanged.
    pub fn unescaped(&self, range: Range<usize>) -> View<'_> {
        let body = self.text.get(range.clone()).unwrap_or_default();
        let level = self.level.saturating_add(1);
        if memchr(b'\\', body.as_bytes()).is_none() {
            let map = match &self.map {
                Map::Shift(by) => Map::Shift(by + range.start),
                Map::Table(table) => Map::Table(
                    table
                        .get(range.start..=range.end)
                        .unwrap_or_default()
                        .to_vec(),
                ),
            };
            return View {
                text: Cow::Borrowed(body),
                map,
                level,
            };
        }
        let mut text = String::with_capacity(body.len());
        let mut table = Vec::with_capacity(body.len() + 1);
        let mut at = 0;
        while at < body.len() {
            let (decoded, length) = piece_at(&body[at..]);
            let from = range.start + at;
            if let Some(character) = decoded {
                text.push(character);
                table.resize(text.len(), self.origin(from));
            } else {
                text.push_str(&body[at..at + length]);
                table.extend((from..from + length).map(|at| self.origin(at)));
            }
            at += length;
        }
        table.push(self.origin(range.end));
        View {
            text: Cow::Owned(text),
            map: Map::Table(table),
            level,
        }
    }
}

/// The character of the escape at the start of a text and the escape's length, or the length of the text before the
/// next escape. The text must not be empty.
fn piece_at(text: &str) -> (Option<char>, usize) {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'\\') {
        return (None, memchr(b'\\', bytes).unwrap_or(bytes.len()));
    }
    match bytes.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
        Some(b'u') if is_hex(bytes.get(2..6)) => {}
        _ => return (None, 1),
    }
    let (character, length) = decode_escape(text);
    // A lone surrogate is not a character. No secret contains its replacement.
    let character = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
    (Some(character), length)
}

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// The most times that escapes are decoded: JSON text within a string of JSON text, and so on.
pub(super) const MAX_LEVELS: u8 = 6;

/// Decodes escapes repeatedly, so that a secret is the same at any nesting depth.
pub(super) fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_LEVELS {
        if memchr(b'\\', text.as_bytes()).is_none() {
            break;
        }
        let next = View::whole(&text)
            .unescaped(0..text.len())
            .text
            .into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Converts a byte offset in the body of a JSON literal to an offset in UTF-16 units of the string.
pub(super) fn utf16_offset(body: &str, byte: usize) -> usize {
    let mut units = 0;
    let mut at = 0;
    while at < byte && at < body.len() {
        let (decoded, length) = piece_at(&body[at..]);
        if let Some(character) = decoded {
            units += character.len_utf16();
        } else {
            let end = byte.min(at + length);
            units += body
                .get(at..end)
                .unwrap_or_default()
                .chars()
                .map(char::len_utf16)
                .sum::<usize>();
        }
        at += length;
    }
    units
}

#[cfg(test)]
#[path = "../../tests/unit/redact/view.rs"]
mod tests;
