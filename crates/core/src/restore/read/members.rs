//! Reads the members of one object of a trace.

use std::borrow::Cow;
use std::ops::Range;

use super::fields::TraceText;
use crate::json::{JsonError, JsonErrorKind, RawStr, Scanner, string_end};

/// A reader of an object's members. A value that is nested too deep is skipped, so that the other members
/// can still be read.
#[derive(Debug)]
pub(crate) struct Members<'t> {
    /// The text of the trace up to the end of the object.
    text: &'t str,
    /// The position in it where the scanner's text begins.
    base: usize,
    scanner: Scanner<'t>,
    first: bool,
}

impl<'t> Members<'t> {
    pub(crate) fn enter(source: TraceText<'t>, range: Range<usize>) -> Result<Self, JsonError> {
        let text = &source.text()[..range.end];
        let mut scanner = Scanner::new(&text[range.start..]);
        scanner.enter_object()?;
        Ok(Self {
            text,
            base: range.start,
            scanner,
            first: true,
        })
    }

    /// Continues in an object after a member. `range` starts at the end of that member.
    pub(crate) fn after_member(source: TraceText<'t>, range: Range<usize>) -> Self {
        let text = &source.text()[..range.end];
        let scanner = Scanner::new(&text[range.start..]);
        Self {
            text,
            base: range.start,
            scanner,
            first: false,
        }
    }

    /// Reads the members of the current value. Skips a value that is not an object and returns its type.
    pub(crate) fn enter_value(
        &mut self,
        mut read: impl FnMut(&mut Self, RawStr<'t>) -> Result<(), JsonError>,
    ) -> Result<Result<(), &'static str>, JsonError> {
        let first = self.scanner.peek();
        if first != Some(b'{') {
            self.value()?;
            return Ok(Err(type_name(first)));
        }
        self.scanner.enter_object()?;
        let outer = std::mem::replace(&mut self.first, true);
        while let Some(key) = self.next()? {
            read(self, key)?;
        }
        self.first = outer;
        Ok(Ok(()))
    }

    /// The next key; `None` after the last member.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<RawStr<'t>>, JsonError> {
        self.scanner.next_member(&mut self.first)
    }

    /// Skips the current value and returns its range in the text of the trace: an empty range if the value
    /// is nested too deep.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Range<usize>, JsonError> {
        self.scanner.peek();
        let start = self.base + self.scanner.position();
        match self.scanner.skip_value() {
            Ok(range) => Ok(start..self.base + range.end),
            Err(error) if error.kind == JsonErrorKind::TooDeep => {
                self.continue_at(container_end(self.text.as_bytes(), start).ok_or(error)?);
                Ok(start..start)
            }
            Err(error) => Err(error),
        }
    }

    /// Skips the current value. `known` is the range of an earlier value that this one may repeat or, for a
    /// list, begin with: equal text is not scanned again. Sets `known` to the new value.
    #[inline]
    pub(crate) fn pass_repeated(&mut self, known: &mut Range<usize>) -> Result<(), JsonError> {
        let first = self.scanner.peek();
        if let Some(b'{' | b'[') = first {
            let start = self.base + self.scanner.position();
            if let Some(end) = self.repeats(start, known) {
                self.continue_at(end);
                *known = start..end;
                return Ok(());
            }
            if let Some(end) = self.begins_with(start, known) {
                self.continue_at(end);
                // A comma or the end of the list follows.
                let mut first_element = false;
                while self.scanner.next_element(&mut first_element)? {
                    self.value()?;
                }
                *known = start..self.base + self.scanner.position();
                return Ok(());
            }
        }
        let range = self.value()?;
        if range.len() >= WORTH_KNOWING {
            *known = range;
        }
        Ok(())
    }

    /// The end of the value at `start` if it is equal to the known one. The known value ends with a closing
    /// bracket, so the following text need not be checked.
    fn repeats(&self, start: usize, known: &Range<usize>) -> Option<usize> {
        let end = start + known.len();
        let is_same = !known.is_empty()
            && self.text.as_bytes().get(start..end) == self.text.as_bytes().get(known.clone());
        is_same.then_some(end)
    }

    /// The end of the known list's elements if the list at `start` begins with them.
    fn begins_with(&self, start: usize, known: &Range<usize>) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let elements = bytes.get(known.clone())?.strip_suffix(b"]")?;
        let end = start + elements.len();
        let is_continued = bytes.get(start..end)? == elements && bytes.get(end) == Some(&b',');
        // A comma directly after `[` would be invalid.
        (is_continued && elements.len() > 1).then_some(end)
    }

    fn continue_at(&mut self, position: usize) {
        self.base = position;
        self.scanner = Scanner::new(&self.text[position..]);
    }

    /// Reads the current value: the body of a string in the form that `JSON.stringify` writes, or the type of
    /// another value.
    pub(crate) fn string(&mut self) -> Result<Result<Cow<'t, str>, &'static str>, JsonError> {
        let first = self.scanner.peek();
        if first == Some(b'"') {
            return Ok(Ok(self.scanner.string()?.normalized()));
        }
        self.value()?;
        Ok(Err(type_name(first)))
    }

    /// Reads the current value: a number, or NaN for any other value.
    pub(crate) fn number(&mut self) -> Result<f64, JsonError> {
        if let Some(b'-' | b'0'..=b'9') = self.scanner.peek() {
            return Ok(self.scanner.number()?.parse().unwrap_or(f64::NAN));
        }
        self.value()?;
        Ok(f64::NAN)
    }

    /// Checks that nothing follows the object.
    pub(crate) fn finish(&mut self) -> Result<(), JsonError> {
        self.scanner.finish()
    }
}

/// Shorter values are not remembered.
const WORTH_KNOWING: usize = 32;

/// The type of the JSON value that starts with this byte.
pub(crate) fn type_name(first: Option<u8>) -> &'static str {
    match first {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "number",
        Some(_) => "text that is not JSON",
        None => "nothing",
    }
}

/// The position after the bracket that closes the container at `pos`; `None` if it is not closed. Does not
/// validate the content.
pub(crate) fn container_end(bytes: &[u8], mut pos: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(pos)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(pos + 1);
                }
            }
            b'"' => pos = string_end(bytes, pos + 1)?,
            _ => {}
        }
        pos += 1;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/members.rs"]
mod tests;
