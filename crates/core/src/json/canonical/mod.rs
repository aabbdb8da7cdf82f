//! The canonical form of RFC 8785 (JCS), written piece by piece into a sink.
//!
//! One thing goes beyond the RFC: a lone surrogate, which it leaves undefined, stays the lower-case
//! `\udXXX` escape that `JSON.stringify` writes, and sorts by its unit.

mod compact;
mod key;
mod order;
mod pieces;

use super::error::{JsonError, JsonErrorKind};
use compact::Numbers;
use order::Layout;

pub(crate) use key::{KeyOrder, order_of_keys};

/// Takes text that comes in pieces, cut at any character.
pub trait Sink {
    fn write(&mut self, text: &str);
}

impl Sink for String {
    fn write(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Writes the canonical form of any JSON text: keys in order, numbers and escapes in the form of
/// `JSON.stringify`, no white space. Nothing is written if the text is refused.
///
/// # Errors
/// Text that is not JSON, a number outside the range of a double, a key that an object has twice
/// (however it is spelt), nesting beyond what a [`super::Scanner`] reads.
pub fn write_canonical(text: &str, sink: &mut impl Sink) -> Result<(), JsonError> {
    // Most text is what `JSON.stringify` wrote: then one look at it does.
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

/// Writes the canonical form of text that `JSON.stringify` made without indentation: only the order
/// of the keys can change. Numbers and strings are checked but taken as they stand. Nothing is
/// written if the text is refused.
///
/// # Errors
/// Text that is not JSON or holds white space between tokens, a doubled key, too deep nesting.
pub fn write_canonical_trusted(text: &str, sink: &mut impl Sink) -> Result<(), JsonError> {
    write_ordered(text, KeyOrder::Utf16Unit, sink)
}

/// Writes compact text (without white space between tokens, strings as `JSON.stringify` writes them)
/// with its keys in an order. The pieces that the sink is given are cut between tokens only.
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

/// JSON text of any origin without white space between tokens and with strings as `JSON.stringify`
/// writes them; number tokens and the order of the keys stay.
///
/// # Errors
/// Text that is not JSON, too deep nesting.
pub(crate) fn compact_keeping_numbers(text: &str) -> Result<String, JsonError> {
    compact::compact(text, Numbers::AsWritten)
}

/// The canonical form of any JSON text; see [`write_canonical`].
pub fn canonicalize(text: &str) -> Result<String, JsonError> {
    let mut out = String::with_capacity(text.len());
    write_canonical(text, &mut out)?;
    Ok(out)
}

/// The elements of an array in canonical form, with the commas between them and without the brackets.
pub(crate) struct Elements<'a> {
    text: &'a str,
    layout: Layout,
}

impl<'a> Elements<'a> {
    /// Of an array that `JSON.stringify` made, from byte `from` on: 0, or the end of an element. What
    /// stands before is neither read nor written.
    ///
    /// # Errors
    /// As [`write_canonical_trusted`], or if the text is not an array.
    pub(crate) fn of_trusted(text: &'a str, from: usize) -> Result<Self, JsonError> {
        Layout::of_elements(text, from).map(|layout| Self { text, layout })
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.elements()
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) {
        self.layout.write(self.text, sink);
    }
}
