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
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
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
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_escapes() {
        let found: Vec<&str> = characters(r"a\\n\né\ud83d中").collect();
        assert_eq!(found, ["a", r"\\", "n", r"\n", "é", r"\ud83d", "中"]);
    }

    #[test]
    fn floors_to_the_start_of_a_character() {
        for body in [
            r"a\\n\né\ud83d中\\\\\\\n😀",
            r"\\\\",
            r"\u001f\u001f",
            "",
            "plain",
        ] {
            let mut starts: Vec<usize> = characters(body)
                .scan(0, |end, character| {
                    *end += character.len();
                    Some(*end)
                })
                .collect();
            starts.insert(0, 0);
            for at in 0..=body.len() {
                let wanted = starts.iter().rfind(|start| **start <= at).unwrap();
                assert_eq!(floor(body, at), *wanted, "{body} at {at}");
            }
        }
    }

    #[test]
    fn windows_begin_and_end_with_whole_characters() {
        for (recorded, actual, wanted) in [
            ("abcd", "abXcd", (2, 2, 3)),
            ("aaa", "aa", (2, 3, 2)),
            (r"x\u0001y", r"x\u0011y", (1, 7, 7)),
            (r"x\n", r"x\\n", (1, 3, 4)),
            (r"\\n", r"\n", (0, 3, 2)),
            ("xéy", "xèy", (1, 3, 3)),
            ("é", "ũ", (0, 2, 2)),
            ("", "a", (0, 0, 1)),
        ] {
            let window = Window::of(recorded, actual);
            let found = (window.start, window.recorded_end, window.actual_end);
            assert_eq!(found, wanted, "{recorded} {actual}");
        }
    }
}
