use std::cmp::Ordering;
use std::ops::Range;

use crate::json::string::decode_escape;

const WORD: usize = 8;

/// The order of keys. The two variants differ only between characters beyond U+FFFF and U+E000 to U+FFFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    /// By UTF-16 code unit, as in JavaScript and RFC 8785.
    Utf16Unit,
    /// By code point, as in Python. A lone surrogate counts as a code point.
    CodePoint,
}

/// A key in the form of `JSON.stringify`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// For a key in plain ASCII: its first eight bytes in big-endian order, padded with zeros. 0 for all other keys.
    /// Plain keys contain no zero bytes, so this orders like the bytes themselves.
    prefix: u64,
    start: usize,
    end: usize,
}

impl Key {
    /// The key whose body spans `body` in `text`.
    #[inline]
    pub(super) fn new(text: &[u8], body: Range<usize>) -> Self {
        Self {
            prefix: plain_prefix(text, &body).unwrap_or(0),
            start: body.start,
            end: body.end,
        }
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    #[inline]
    pub(super) fn order(&self, other: &Self, text: &str, by: KeyOrder) -> Ordering {
        match self.prefix.cmp(&other.prefix) {
            unequal @ (Ordering::Less | Ordering::Greater)
                if self.prefix != 0 && other.prefix != 0 =>
            {
                unequal
            }
            _ => self.order_in_full(other, text, by),
        }
    }

    fn order_in_full(&self, other: &Self, text: &str, by: KeyOrder) -> Ordering {
        let [own, others] = [self, other].map(|key| &text[key.start..key.end]);
        if self.prefix != 0 && other.prefix != 0 {
            own.cmp(others)
        } else {
            match by {
                KeyOrder::Utf16Unit => order_of_keys(own, others),
                KeyOrder::CodePoint => code_points(own).cmp(code_points(others)),
            }
        }
    }
}

/// Compares two keys, given as the bodies of their literals, by UTF-16 code unit.
pub(crate) fn order_of_keys(a: &str, b: &str) -> Ordering {
    units(a).cmp(units(b))
}

/// `None` if the body is empty, contains an escape, or is not ASCII.
#[inline]
fn plain_prefix(text: &[u8], body: &Range<usize>) -> Option<u64> {
    let Some(word) = word_at(text, body.start) else {
        return plain_prefix_at_end(text.get(body.clone())?);
    };
    let prefix = word.swap_bytes();
    match body.end - body.start {
        0 => None,
        length @ 1..WORD => {
            // Shift out the bytes that follow the key.
            let unused = 8 * (WORD - length);
            let kept = prefix >> unused << unused;
            is_plain(kept).then_some(kept)
        }
        WORD => is_plain(word).then_some(prefix),
        _ => {
            let rest = text.get(body.start + WORD..body.end)?;
            let last = word_at(text, body.end - WORD)?;
            (is_plain(word) && is_all_plain(rest, last)).then_some(prefix)
        }
    }
}

/// Reads eight bytes in little-endian order.
#[inline]
fn word_at(text: &[u8], pos: usize) -> Option<u64> {
    text.get(pos..)?
        .first_chunk()
        .map(|word| u64::from_le_bytes(*word))
}

/// True if all bytes are plain. `last` is the last eight bytes of the text up to their end.
fn is_all_plain(bytes: &[u8], last: u64) -> bool {
    is_plain(last)
        && bytes
            .as_chunks()
            .0
            .iter()
            .all(|word| is_plain(u64::from_le_bytes(*word)))
}

/// True if all eight bytes are ASCII and not a backslash.
#[inline]
fn is_plain(word: u64) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; WORD]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; WORD]);
    const HIGH_BITS: u64 = ONES << 7;
    // Among ASCII bytes, only a byte that became zero gets its high bit set.
    let backslash = (word ^ BACKSLASHES).wrapping_sub(ONES);
    (word | backslash) & HIGH_BITS == 0
}

/// The prefix of a key within the last eight bytes of a text.
#[cold]
fn plain_prefix_at_end(body: &[u8]) -> Option<u64> {
    let mut padded = [0; WORD];
    let kept = body.len().min(WORD);
    padded[..kept].copy_from_slice(&body[..kept]);
    let plain = !body.is_empty() && body.iter().all(|byte| byte.is_ascii() && *byte != b'\\');
    plain.then_some(u64::from_be_bytes(padded))
}

/// The code points of a string literal's body in the form of `JSON.stringify`.
fn code_points(body: &str) -> impl Iterator<Item = u32> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let character = rest.chars().next()?;
        if character == '\\' {
            // In this form, only lone surrogates are escaped beyond ASCII.
            let (character, length) = decode_escape(rest);
            rest = rest.get(length..).unwrap_or_default();
            return Some(character);
        }
        rest = &rest[character.len_utf8()..];
        Some(u32::from(character))
    })
}

/// The UTF-16 code units of a string literal's body.
fn units(body: &str) -> impl Iterator<Item = u16> {
    code_points(body).flat_map(|code| match char::from_u32(code) {
        Some(character) => {
            let mut pair = [0; 2];
            let length = character.encode_utf16(&mut pair).len();
            pair.into_iter().take(length)
        }
        // A lone surrogate.
        None => [u16::try_from(code).unwrap_or_default(), 0]
            .into_iter()
            .take(1),
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/json/canonical/key.rs"]
mod tests;
