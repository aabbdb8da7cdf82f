use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::error::{JsonError, JsonErrorKind};
use super::find::StringEnds;
use super::string::{JsonStr, normalize_body};
use crate::util::limits::MAX_JSON_DEPTH;

/// Leaves room for the containers around a value of maximum depth (an event, a list in it).
pub(super) const MAX_OPEN: usize = 1_024;
const _: () = assert!(MAX_OPEN >= MAX_JSON_DEPTH + 16);

type Result<T> = std::result::Result<T, JsonError>;

/// A pull reader over JSON text. It validates everything it reads, allocates nothing and never recurses.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    pos: usize,
    string_ends: StringEnds,
}

/// The body of a string literal, exactly as written between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawStr<'a> {
    body: &'a str,
}

impl<'a> RawStr<'a> {
    /// The body as `JSON.stringify` would write it. Equal strings have equal normalized bodies.
    #[must_use]
    pub fn normalized(&self) -> Cow<'a, str> {
        normalize_body(self.body)
    }

    /// True if the string equals `plain`, which must not contain a character that needs an escape.
    #[must_use]
    pub fn is(&self, plain: &str) -> bool {
        self.body == plain || (self.body.len() > plain.len() && self.normalized() == plain)
    }

    #[must_use]
    pub fn to_json_str(&self) -> JsonStr {
        JsonStr::from_normalized_body(&self.normalized())
    }

    /// The body exactly as written, with its escapes.
    #[must_use]
    pub fn body(&self) -> &'a str {
        self.body
    }

    #[must_use]
    pub fn has_escapes(&self) -> bool {
        memchr(b'\\', self.body.as_bytes()).is_some()
    }
}

impl<'a> Scanner<'a> {
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::starting_at(text, 0)
    }

    /// Starts in the middle of a text, at a character boundary.
    pub(super) fn starting_at(text: &'a str, pos: usize) -> Self {
        Self {
            text,
            pos,
            string_ends: StringEnds::new(),
        }
    }

    /// True if no string read so far is known to differ from the form of `JSON.stringify`.
    pub(super) fn has_normal_strings(&self) -> bool {
        !self.string_ends.has_foreign_escape()
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    #[inline]
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Moves past the byte that [`Scanner::byte`] returned, which must be ASCII.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.pos += 1;
    }

    #[must_use]
    pub fn position(&self) -> usize {
        self.pos
    }

    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    #[cold]
    pub(super) fn error<T>(&self, kind: JsonErrorKind) -> Result<T> {
        Err(JsonError {
            kind,
            offset: self.pos,
        })
    }

    #[cold]
    pub(super) fn unexpected<T>(&self) -> Result<T> {
        if self.pos >= self.text.len() {
            self.error(JsonErrorKind::UnexpectedEnd)
        } else {
            self.error(JsonErrorKind::UnexpectedCharacter)
        }
    }

    /// The next byte, including white space.
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    #[inline]
    fn whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.pos += 1;
        }
    }

    /// The first byte of the next value: `{ [ " t f n -` or a digit. Skips white space only.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.whitespace();
        self.byte()
    }

    /// Checks that only white space is left.
    pub fn finish(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.error(JsonErrorKind::TrailingText),
        }
    }

    /// Enters an object. Then call [`Scanner::next_member`] until it returns `None`.
    pub fn enter_object(&mut self) -> Result<()> {
        self.expect(b'{')
    }

    /// Enters an array. Then call [`Scanner::next_element`] until it returns `false`.
    pub fn enter_array(&mut self) -> Result<()> {
        self.expect(b'[')
    }

    pub(super) fn expect(&mut self, wanted: u8) -> Result<()> {
        if self.peek() == Some(wanted) {
            self.pos += 1;
            Ok(())
        } else {
            self.unexpected()
        }
    }

    /// Returns the next key of the open object and moves to its value. `None` at the end of the object. Set `first`
    /// to `true` before the first call for each object; this function updates it.
    pub fn next_member(&mut self, first: &mut bool) -> Result<Option<RawStr<'a>>> {
        if !self.next_item(first, b'}')? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return self.unexpected();
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Moves to the next element of the open array. Returns `false` at the end of the array. Set `first` to `true`
    /// before the first call for each array; this function updates it.
    pub fn next_element(&mut self, first: &mut bool) -> Result<bool> {
        self.next_item(first, b']')
    }

    fn next_item(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        match self.peek() {
            Some(byte) if byte == close => {
                self.pos += 1;
                Ok(false)
            }
            Some(b',') if !*first => {
                self.pos += 1;
                // Another item must follow a comma.
                if self.peek() == Some(close) {
                    self.unexpected()
                } else {
                    Ok(true)
                }
            }
            Some(_) if *first => {
                *first = false;
                Ok(true)
            }
            _ => self.unexpected(),
        }
    }

    /// Reads a string literal.
    pub fn string(&mut self) -> Result<RawStr<'a>> {
        self.whitespace();
        let range = self.string_here()?;
        Ok(RawStr {
            body: &self.text[range],
        })
    }

    /// Reads a string literal that begins at the current byte. Returns the span of its body.
    #[inline]
    pub(super) fn string_here(&mut self) -> Result<Range<usize>> {
        if self.byte() != Some(b'"') {
            return self.unexpected();
        }
        let start = self.pos + 1;
        self.pos = self.string_ends.next(self.text.as_bytes(), start);
        if self.byte() != Some(b'"') {
            return Err(self.string_error());
        }
        let end = self.pos;
        self.pos += 1;
        Ok(start..end)
    }

    /// The error for a string body that was read up to here but does not end here.
    #[cold]
    fn string_error(&self) -> JsonError {
        let (kind, offset) = match self.byte() {
            None => (JsonErrorKind::UnexpectedEnd, self.pos),
            Some(..b' ') => (JsonErrorKind::ControlCharacter, self.pos),
            // The search stops at the second byte of the escape.
            Some(_) => (JsonErrorKind::BadEscape, self.pos - 1),
        };
        JsonError { kind, offset }
    }

    /// Reads a number token.
    pub fn number(&mut self) -> Result<&'a str> {
        self.whitespace();
        let start = self.pos;
        if self.byte() == Some(b'-') {
            self.pos += 1;
        }
        match self.byte() {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.error(JsonErrorKind::BadNumber),
        }
        if self.byte() == Some(b'.') {
            self.pos += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.pos += 1;
            }
            self.some_digits()?;
        }
        Ok(&self.text[start..self.pos])
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.byte() {
            self.pos += 1;
        }
    }

    fn some_digits(&mut self) -> Result<()> {
        let before = self.pos;
        self.digits();
        if self.pos == before {
            self.error(JsonErrorKind::BadNumber)
        } else {
            Ok(())
        }
    }

    pub(super) fn number_or_literal(&mut self) -> Result<()> {
        match self.byte() {
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.unexpected(),
        }
    }

    fn literal(&mut self, word: &str) -> Result<()> {
        if self.text[self.pos..].starts_with(word) {
            self.pos += word.len();
            Ok(())
        } else {
            self.unexpected()
        }
    }

    /// Skips one value of any type. Returns its span.
    #[inline]
    pub fn skip_value(&mut self) -> Result<Range<usize>> {
        self.whitespace();
        let start = self.pos;
        match self.byte() {
            Some(b'"') => {
                self.string_here()?;
            }
            Some(b'{' | b'[') => self.skip_container()?,
            _ => self.number_or_literal()?,
        }
        Ok(start..self.pos)
    }

    fn skip_container(&mut self) -> Result<()> {
        let mut open = OpenContainers::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.pos += 1;
                    open.push(Container::Object).map_err(|kind| JsonError {
                        kind,
                        offset: self.pos,
                    })?;
                    if self.peek() != Some(b'}') {
                        self.member_key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.pos += 1;
                    open.push(Container::Array).map_err(|kind| JsonError {
                        kind,
                        offset: self.pos,
                    })?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                _ => self.number_or_literal()?,
            }
            // Close the containers that end after this value.
            loop {
                let Some(container) = open.top() else {
                    return Ok(());
                };
                match (self.peek(), container) {
                    (Some(b','), Container::Object) => {
                        self.pos += 1;
                        self.member_key()?;
                        break;
                    }
                    (Some(b','), Container::Array) => {
                        self.pos += 1;
                        break;
                    }
                    (Some(b'}'), Container::Object) | (Some(b']'), Container::Array) => {
                        self.pos += 1;
                        open.pop();
                    }
                    _ => return self.unexpected(),
                }
            }
        }
    }

    fn member_key(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return self.unexpected();
        }
        self.string()?;
        self.expect(b':')
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Array,
    Object,
}

/// The open containers, one bit each.
struct OpenContainers {
    bits: [u64; MAX_OPEN / 64],
    depth: usize,
}

impl Default for OpenContainers {
    fn default() -> Self {
        Self {
            bits: [0; MAX_OPEN / 64],
            depth: 0,
        }
    }
}

impl OpenContainers {
    fn push(&mut self, container: Container) -> std::result::Result<(), JsonErrorKind> {
        if self.depth == MAX_OPEN {
            return Err(JsonErrorKind::TooDeep);
        }
        let bit = 1 << (self.depth % 64);
        let word = &mut self.bits[self.depth / 64];
        match container {
            Container::Object => *word |= bit,
            Container::Array => *word &= !bit,
        }
        self.depth += 1;
        Ok(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn top(&self) -> Option<Container> {
        let last = self.depth.checked_sub(1)?;
        let object = self.bits[last / 64] >> (last % 64) & 1 == 1;
        Some(if object {
            Container::Object
        } else {
            Container::Array
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/json/scan.rs"]
mod tests;
