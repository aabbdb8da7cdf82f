//! The canonical form of RFC 8785 (JCS), written piece by piece into a sink.
//!
//! One extension: RFC 8785 leaves lone surrogates undefined. Here they stay the lower-case `\udXXX` escapes that
//! `JSON.stringify` writes, and sort by code unit.

mod compact;
mod key;
mod order;
mod pieces;

use std::borrow::Cow;

use super::error::{JsonError, JsonErrorKind};
use super::scan::Scanner;
use crate::util::limits::MAX_JSON_DEPTH;
use compact::Numbers;
use order::Layout;

pub(crate) use key::{KeyOrder, order_of_keys};

/// Receives text in pieces, cut at any character.
pub trait Sink {
    fn write(&mut self, text: &str);
}

impl Sink for String {
    fn write(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Writes the canonical form of any JSON text: keys in order, numbers and escapes as `JSON.stringify` writes them, no
/// white space. Writes nothing if the text is rejected.
///
/// # Errors
/// Text that is not JSON, a number outside the range of a double, a duplicate key (after decoding escapes), or
/// nesting deeper than a [`super::Scanner`] reads.
pub fn write_canonical(text: &str, sink: &mut impl Sink) -> Result<(), JsonError> {
    // Most text was written by `JSON.stringify`. One pass is enough for it.
    if let Some(layout) = Layout::of_normal_value(text, KeyOrder::Utf16Unit) {
        layout.write(text, sink);
        return Ok(());
    }
    let compact = compact::compact(text, Numbers::Ecma)?;
    write_canonical_trusted(&compact, sink).map_err(|error| match error.kind {
        JsonErrorKind::DuplicateKey => JsonError {
            offset: compact::source_offset(text, error.offset),
            ..error
        },
        _ => error,
    })
}

/// Writes the canonical form of text that `JSON.stringify` wrote without indentation. Only the order of keys can
/// change: numbers and strings are validated but copied unchanged. Writes nothing if the text is rejected.
///
/// # Errors
/// Text that is not JSON or contains white space between tokens, a duplicate key, or too deep nesting.
pub fn write_canonical_trusted(text: &str, sink: &mut impl Sink) -> Result<(), JsonError> {
    write_ordered(text, KeyOrder::Utf16Unit, sink)
}

/// Writes compact text (no white space between tokens, strings as `JSON.stringify` writes them) with its keys in the
/// given order. The pieces passed to the sink are cut only between tokens.
///
/// # Errors
/// As [`write_canonical_trusted`].
pub(crate) fn write_ordered(
    text: &str,
    by: KeyOrder,
    sink: &mut impl Sink,
) -> Result<(), JsonError> {
    Layout::of_value(text, by)?.write(text, sink);
    Ok(())
}

/// Removes white space between tokens from any JSON text and writes its strings as `JSON.stringify` does. Number
/// tokens and the order of keys stay unchanged.
///
/// # Errors
/// Text that is not JSON, or too deep nesting.
pub(crate) fn compact_keeping_numbers(text: &str) -> Result<String, JsonError> {
    compact::compact(text, Numbers::AsWritten)
}

/// JSON text in the form of `JSON.stringify`, if that form has everything that the text says. `None` if the text is not
/// JSON, has a duplicate key or a number that a double does not hold, or is nested too deep for a part of a document.
pub fn lossless(text: &str) -> Option<Cow<'_, str>> {
    if nests_deeper(text, MAX_PART_DEPTH) {
        return None;
    }
    if Layout::of_normal_value(text, KeyOrder::Utf16Unit).is_some() {
        return Some(Cow::Borrowed(text));
    }
    let compact = compact::compact(text, Numbers::Lossless).ok()?;
    Layout::of_value(&compact, KeyOrder::Utf16Unit).ok()?;
    Some(Cow::Owned(compact))
}

/// A document, and the file that contains it, add levels of their own.
const MAX_PART_DEPTH: usize = MAX_JSON_DEPTH - 100;

fn nests_deeper(text: &str, limit: usize) -> bool {
    let opens = |byte: u8| matches!(byte, b'[' | b'{');
    if text.bytes().filter(|byte| opens(*byte)).count() <= limit {
        return false;
    }
    let mut scanner = Scanner::new(text);
    let mut depth = 0_usize;
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' if scanner.string().is_err() => return false,
            b'"' => continue,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return true;
        }
        scanner.advance();
    }
    false
}

/// The canonical form of any JSON text; see [`write_canonical`].
pub fn canonicalize(text: &str) -> Result<String, JsonError> {
    let mut out = String::with_capacity(text.len());
    write_canonical(text, &mut out)?;
    Ok(out)
}

/// The elements of an array in canonical form, separated by commas, without the brackets.
pub(crate) struct Elements<'a> {
    text: &'a str,
    layout: Layout,
}

impl<'a> Elements<'a> {
    /// Elements of an array that `JSON.stringify` wrote.
    ///
    /// # Errors
    /// As [`write_canonical_trusted`], or if the text is not an array.
    pub(crate) fn of_trusted(text: &'a str) -> Result<Self, JsonError> {
        Layout::of_elements(text).map(|layout| Self { text, layout })
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.elements()
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) {
        self.layout.write(self.text, sink);
    }
}
