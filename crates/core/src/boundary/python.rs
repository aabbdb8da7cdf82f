//! JSON text in the form of Python's `json.dumps`: pure ASCII, `", "` and `": "` between items.

use std::ops::Range;

use super::number::{Numbers, write_python_number};
use crate::json::Sink;

/// Output is flushed at this size. Longer runs of plain text are passed through without a copy.
const FLUSH_AT: usize = 8 * 1024;
const LONG_RUN: usize = 256;

/// Receives compact JSON text in pieces that are cut between tokens, with strings as `JSON.stringify` writes them.
/// Passes the bytes that Python would write to `out`. [`PythonWriter::finish`] flushes the rest.
pub(super) struct PythonWriter<F: FnMut(&[u8])> {
    out: F,
    buffer: Vec<u8>,
    numbers: Numbers,
    /// Spaces per level, if the output has line breaks.
    indent: Option<usize>,
    depth: usize,
}

impl<F: FnMut(&[u8])> PythonWriter<F> {
    pub(super) fn new(numbers: Numbers, out: F) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(FLUSH_AT + LONG_RUN),
            numbers,
            indent: None,
            depth: 0,
        }
    }

    /// As `json.dumps(…, indent=spaces)`. The whole text must be written in one piece.
    pub(super) fn indented(numbers: Numbers, spaces: usize, out: F) -> Self {
        Self {
            indent: Some(spaces),
            ..Self::new(numbers, out)
        }
    }

    pub(super) fn finish(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        (self.out)(&self.buffer);
        self.buffer.clear();
    }

    fn push(&mut self, bytes: &[u8]) {
        if bytes.len() >= LONG_RUN {
            self.flush();
            (self.out)(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
            self.flush_if_full();
        }
    }

    fn flush_if_full(&mut self) {
        if self.buffer.len() >= FLUSH_AT {
            self.flush();
        }
    }

    /// Writes the body of a string from `from` on and its closing quote. Returns the end.
    fn string(&mut self, text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        self.buffer.push(b'"');
        let (mut run, mut at) = (from, from);
        loop {
            at = plain_run(bytes, at);
            match bytes.get(at) {
                // Python writes the same escapes as `JSON.stringify`, so they are part of the run.
                Some(b'\\') => at = (at + 2).min(bytes.len()),
                Some(b'"') | None => {
                    self.push(&bytes[run..at]);
                    self.buffer.push(b'"');
                    return at + 1;
                }
                Some(_) => {
                    self.push(&bytes[run..at]);
                    at = self.escapes(text, at);
                    run = at;
                }
            }
        }
    }

    /// Writes a run of characters that are not printable ASCII. Returns the end.
    fn escapes(&mut self, text: &str, from: usize) -> usize {
        let mut at = from;
        while let Some((character, length)) = character_at(text, at) {
            at += length;
            if let Ok(unit) = u16::try_from(character) {
                self.buffer.extend_from_slice(&escape(unit));
            } else if let Some(character) = char::from_u32(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    self.buffer.extend_from_slice(&escape(*unit));
                }
            }
            self.flush_if_full();
        }
        at
    }

    fn open(&mut self, bracket: u8, is_empty: bool) {
        self.buffer.push(bracket);
        self.depth += 1;
        if !is_empty {
            self.line_break();
        }
    }

    fn close(&mut self, bracket: u8, is_empty: bool) {
        self.depth = self.depth.saturating_sub(1);
        if !is_empty {
            self.line_break();
        }
        self.buffer.push(bracket);
    }

    fn line_break(&mut self) {
        if let Some(spaces) = self.indent {
            self.buffer.push(b'\n');
            self.buffer
                .resize(self.buffer.len() + spaces * self.depth, b' ');
        }
    }
}

impl<F: FnMut(&[u8])> Sink for PythonWriter<F> {
    fn write(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = self.string(text, at + 1);
                    continue;
                }
                b',' if self.indent.is_some() => {
                    self.buffer.push(b',');
                    self.line_break();
                }
                b',' => self.buffer.extend_from_slice(b", "),
                b':' => self.buffer.extend_from_slice(b": "),
                b'{' | b'[' => self.open(byte, matches!(bytes.get(at + 1), Some(b'}' | b']'))),
                b'}' | b']' => {
                    let is_empty = at > 0 && matches!(bytes.get(at - 1), Some(b'{' | b'['));
                    self.close(byte, is_empty);
                }
                b'-' | b'0'..=b'9' => {
                    let token = number_token(bytes, at);
                    at = token.end;
                    write_python_number(&text[token], self.numbers, &mut self.buffer);
                    continue;
                }
                letter => self.buffer.push(letter),
            }
            at += 1;
            self.flush_if_full();
        }
    }
}

/// The code point at a character boundary and its length in bytes. `None` for printable ASCII and at the end.
#[inline]
fn character_at(text: &str, at: usize) -> Option<(u32, usize)> {
    // Fast path: most escaped characters are three bytes long.
    if let Some(&[first @ 0xE0..0xF0, second, third]) = text.as_bytes().get(at..at + 3) {
        let [first, second, third] = [first & 0x0F, second & 0x3F, third & 0x3F].map(u32::from);
        return Some((first << 12 | second << 6 | third, 3));
    }
    match text.get(at..)?.chars().next()? {
        ' '..='~' => None,
        character => Some((u32::from(character), character.len_utf8())),
    }
}

#[inline]
fn escape(unit: u16) -> [u8; 6] {
    let [high, low] = unit.to_be_bytes();
    let [[a, b], [c, d]] = [HEX[usize::from(high)], HEX[usize::from(low)]];
    [b'\\', b'u', a, b, c, d]
}

fn number_token(bytes: &[u8], from: usize) -> Range<usize> {
    let length = bytes.get(from..).map_or(0, |rest| {
        rest.iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count()
    });
    from..from + length
}

/// The end of the run of printable ASCII without quotes and backslashes.
#[inline]
fn plain_run(bytes: &[u8], from: usize) -> usize {
    const WORD: usize = 8;
    let mut at = from;
    if let Some(rest) = bytes.get(from..) {
        for word in rest.as_chunks::<WORD>().0 {
            let special = special_bytes(u64::from_le_bytes(*word));
            if special != 0 {
                return at + special.trailing_zeros() as usize / 8;
            }
            at += WORD;
        }
    }
    while bytes.get(at).is_some_and(|byte| is_plain(*byte)) {
        at += 1;
    }
    at
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Sets the high bit of each of eight bytes that is not plain. Bits above the lowest such byte may be false
/// positives.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let equals = |byte: u8| (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    // 0x7F becomes 0x80.
    let delete = word.wrapping_add(ONES);
    (word | control | delete | equals(b'"') | equals(b'\\')) & HIGH
}

static HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

#[cfg(test)]
#[path = "../../tests/unit/boundary/python.rs"]
mod tests;
