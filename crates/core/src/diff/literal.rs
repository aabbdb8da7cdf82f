//! The body of a string literal in canonical form, read without decoding. A "character" is a literal character or a
//! whole escape.

use memchr::memrchr;

use super::bytes::{common_prefix, common_suffix};

/// The length of the longest escape, `\u001f`.
const LONGEST_ESCAPE: usize = 6;

/// The differing range of two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: usize,
    pub(super) recorded_end: usize,
    pub(super) actual_end: usize,
}

impl Window {
    /// For two different bodies. The window starts at the first differing character. The text after it is equal in
    /// both.
    pub(super) fn of(recorded: &str, actual: &str) -> Self {
        let prefix = common_prefix(recorded.as_bytes(), actual.as_bytes());
        // The bytes before are equal, so this is a boundary in both.
        let start = floor(recorded, prefix);
        let rests = [recorded, actual].map(|body| &body.as_bytes()[start..]);
        let longest = common_suffix(rests[0], rests[1]);
        // A common suffix may begin inside a character. Give up on long runs of backslashes.
        let suffix = (longest.saturating_sub(LONGEST_ESCAPE)..=longest)
            .rev()
            .find(|suffix| {
                [recorded, actual]
                    .iter()
                    .all(|body| floor(body, body.len() - suffix) == body.len() - suffix)
            })
            .unwrap_or(0);
        Self {
            start,
            recorded_end: recorded.len() - suffix,
            actual_end: actual.len() - suffix,
        }
    }
}

/// The characters of JSON text or of the body of a string literal.
pub(super) fn characters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let next = first_character(rest)?;
        rest = &rest[next.len()..];
        Some(next)
    })
}

pub(super) fn first_character(text: &str) -> Option<&str> {
    let length = match text.chars().next()? {
        '\\' => escape_length(text.as_bytes().get(1)),
        plain => plain.len_utf8(),
    };
    text.get(..length).or(Some(text))
}

/// The start of the character that contains the byte at `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let bytes = text.as_bytes();
    let from = (at + 1).saturating_sub(LONGEST_ESCAPE);
    let Some(back) = memrchr(b'\\', &bytes[from..at]) else {
        return at;
    };
    let last = from + back;
    let run = bytes[..=last]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\');
    let begins_escape = run.count() % 2 == 1;
    if begins_escape && last + escape_length(bytes.get(last + 1)) > at {
        last
    } else {
        at
    }
}

fn escape_length(second: Option<&u8>) -> usize {
    if second == Some(&b'u') {
        LONGEST_ESCAPE
    } else {
        2
    }
}

/// True for white space in JavaScript's `\s`, and for the zero-width space.
pub(super) fn is_white_space(character: &str) -> bool {
    match character {
        r"\n" | r"\r" | r"\t" | r"\f" | r"\u000b" | "\u{feff}" | "\u{200b}" => true,
        _ => character.chars().all(char::is_whitespace),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/diff/literal.rs"]
mod tests;
