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
    pub fn normalized(&self) -> Cow<'a, str> {
        normalize_body(self.body)
    }

    /// True if the string equals `plain`, which must not contain a character that needs an escape.
    pub fn is(&self, plain: &str) -> bool {
        self.body == plain || (self.body.len() > plain.len() && self.normalized() == plain)
    }

    pub fn to_json_str(&self) -> JsonStr {
        JsonStr::from_normalized_body(&self.normalized())
    }

    /// The body exactly as written, with its escapes.
    pub fn body(&self) -> &'a str {
        self.body
    }

    pub fn has_escapes(&self) -> bool {
        memchr(b'\\', self.body.as_bytes()).is_some()
    }
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            pos: 0,
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

    pub fn position(&self) -> usize {
        self.pos
    }

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

    /// Reads an object: calls `read` with each key, which must read the value.
    #[inline]
    pub fn each_member<E: From<JsonError>>(
        &mut self,
        mut read: impl FnMut(&mut Self, RawStr<'a>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.enter_object()?;
        let mut first = true;
        while let Some(key) = self.next_member(&mut first)? {
            read(self, key)?;
        }
        Ok(())
    }

    /// Reads an array: calls `read` for each element, which it must read.
    #[inline]
    pub fn each_element<E: From<JsonError>>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.enter_array()?;
        let mut first = true;
        while self.next_element(&mut first)? {
            read(self)?;
        }
        Ok(())
    }

    /// Reads an object. Returns the texts of the values of these members, of a duplicate key the last one. All are `None`
    /// for a value that is not an object.
    pub(crate) fn members<const N: usize>(
        &mut self,
        names: [&str; N],
    ) -> Result<[Option<&'a str>; N]> {
        let mut values = [None; N];
        if self.peek() != Some(b'{') {
            return self.skip_value().map(|_| values);
        }
        self.each_member(|scanner, key| {
            let text = scanner.value()?;
            for (name, value) in names.iter().zip(&mut values) {
                if key.is(name) {
                    *value = Some(text);
                }
            }
            Ok(())
        })
        .map(|()| values)
    }

    /// Reads an array. Returns the texts of its elements, none for a value that is not an array.
    pub(crate) fn elements(&mut self) -> Result<Vec<&'a str>> {
        let mut elements = Vec::new();
        if self.peek() != Some(b'[') {
            return self.skip_value().map(|_| elements);
        }
        self.each_element(|scanner| {
            elements.push(scanner.value()?);
            Ok(())
        })
        .map(|()| elements)
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

    /// Reads a value: a string, or `None` for any other.
    pub fn string_or_skip(&mut self) -> Result<Option<RawStr<'a>>> {
        if self.peek() == Some(b'"') {
            return self.string().map(Some);
        }
        self.skip().map(|()| None)
    }

    /// Reads a value: a number within the range of a double, or `None` for any other.
    pub fn number_or_skip(&mut self) -> Result<Option<f64>> {
        if let Some(b'-' | b'0'..=b'9') = self.peek() {
            let number = self.number()?.parse().ok();
            return Ok(number.filter(|number: &f64| number.is_finite()));
        }
        self.skip().map(|()| None)
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

    /// Skips one value of any type.
    pub fn skip(&mut self) -> Result<()> {
        self.skip_value().map(|_| ())
    }

    /// Reads one value of any type. Returns its text.
    pub fn value(&mut self) -> Result<&'a str> {
        self.skip_value().map(|span| &self.text[span])
    }

    fn skip_container(&mut self) -> Result<()> {
        let mut open = OpenContainers::default();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.pos += 1;
                    let is_object = bracket == b'{';
                    if !open.push(is_object) {
                        return self.error(JsonErrorKind::TooDeep);
                    }
                    // The closing bracket comes two characters after the opening one in ASCII.
                    if self.peek() != Some(bracket + 2) {
                        if is_object {
                            self.member_key()?;
                        }
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
                let Some(is_object) = open.top_is_object() else {
                    return Ok(());
                };
                let byte = self.peek();
                match byte {
                    Some(b',') => {}
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    _ => return self.unexpected(),
                }
                self.pos += 1;
                if byte == Some(b',') {
                    if is_object {
                        self.member_key()?;
                    }
                    break;
                }
                open.depth -= 1;
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

/// The open containers, one bit each: 1 for an object.
#[derive(Default)]
struct OpenContainers {
    bits: [u64; MAX_OPEN / 64],
    depth: usize,
}

impl OpenContainers {
    /// False if too many are open.
    fn push(&mut self, is_object: bool) -> bool {
        let Some(word) = self.bits.get_mut(self.depth / 64) else {
            return false;
        };
        let bit = self.depth % 64;
        *word = *word & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
        true
    }

    fn top_is_object(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        Some(self.bits[last / 64] >> (last % 64) & 1 == 1)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/json/scan.rs"]
mod tests;
