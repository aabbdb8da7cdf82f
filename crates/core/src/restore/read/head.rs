//! Reads the fields that every event has.

use std::borrow::Cow;
use std::ops::Range;

use super::event::EventKind;
use super::fields::{Field, FieldSet, TraceText};
use super::members::Members;
use crate::json::JsonError;

/// The number of slots for repeated values. A power of two.
pub(crate) const KNOWN_VALUES: usize = 256;

/// The common fields of an event. Errors contain the type of the value that is there instead.
#[derive(Debug)]
pub(crate) struct Head<'t> {
    pub kind: TypeField,
    /// The other fields to keep: all until the type is known.
    pub wanted: FieldSet,
    pub time: f64,
    pub seq: f64,
    pub trace: Result<(), &'static str>,
    pub span_id: Result<Cow<'t, str>, &'static str>,
    pub trace_id: Option<Cow<'t, str>>,
    pub parent: Option<Cow<'t, str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeField {
    /// With the type of the value that is there instead of a string.
    Missing(&'static str),
    Gap,
    Event(EventKind),
}

impl Default for Head<'_> {
    fn default() -> Self {
        Self {
            kind: TypeField::Missing("undefined"),
            wanted: FieldSet::MAX,
            time: f64::NAN,
            seq: f64::NAN,
            trace: Err("undefined"),
            span_id: Err("undefined"),
            trace_id: None,
            parent: None,
        }
    }
}

impl<'t> Head<'t> {
    pub(crate) fn read_type(&mut self, name: Result<Cow<'t, str>, &'static str>) {
        self.kind = match name {
            Err(received) => TypeField::Missing(received),
            Ok(name) if name == "gap" => TypeField::Gap,
            Ok(name) => {
                let kind = EventKind::from_type(&name);
                self.wanted = kind.fields();
                TypeField::Event(kind)
            }
        };
    }

    /// True if no more fields of the head can follow. The first event shows if events have a `_seq`.
    pub(crate) fn is_complete(&self, is_numbered: Option<bool>) -> bool {
        let has_number = match is_numbered {
            Some(is_numbered) => !is_numbered || !self.seq.is_nan(),
            None => false,
        };
        has_number
            && self.trace.is_ok()
            && self.span_id.is_ok()
            && self.parent.is_some()
            && !self.time.is_nan()
            && matches!(self.kind, TypeField::Event(_))
    }

    /// The slot in which a value with this key is likely to be known. A conversation usually repeats the
    /// one of the previous event under the same parent.
    pub(crate) fn known_slot(&self, key: &str) -> usize {
        let parent = self
            .parent
            .as_deref()
            .and_then(|parent| parent.as_bytes().last_chunk::<4>());
        let parent = parent.map_or(0, |digits| u32::from_le_bytes(*digits));
        let key = key.bytes().fold(0, |sum: u32, byte| {
            sum.wrapping_mul(31).wrapping_add(u32::from(byte))
        });
        let mixed = parent.wrapping_add(key).wrapping_mul(0x9E37_79B1);
        (mixed >> 24) as usize % KNOWN_VALUES
    }

    pub(crate) fn read_trace(&mut self, members: &mut Members<'t>) -> Result<(), JsonError> {
        let Self {
            span_id,
            trace_id,
            parent,
            ..
        } = self;
        self.trace = members.enter_value(|members, key| {
            match Field::from_key(key) {
                Some(Field::TraceId) => *trace_id = members.string()?.ok(),
                Some(Field::ParentSpanId) => *parent = members.string()?.ok(),
                Some(Field::SpanId) => *span_id = members.string()?,
                _ => {
                    members.value()?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// The head of an event in the form that recorders write, the position of its end, and the range of the
/// agentId including its quotes.
pub(crate) struct UsualHead<'t> {
    pub head: Head<'t>,
    pub end: usize,
    pub agent_id: Option<Range<usize>>,
}

/// Reads the head of an event that begins with type, agentId, schemaVersion, timestamp, `_seq` and
/// trace, without white space or escapes. In most lines of a trace this is most of the text.
/// Returns `None` for an event in any other form, valid or not.
pub(crate) fn read_usual_head(source: TraceText<'_>, line: Range<usize>) -> Option<UsualHead<'_>> {
    let mut reader = HeadReader {
        text: &source.text()[..line.end],
        pos: line.start,
    };
    let mut head = Head::default();
    reader.pass(b"{\"type\":\"")?;
    head.read_type(Ok(Cow::Borrowed(reader.string()?)));
    let agent_id = reader.pass(b",\"agentId\":").map(|()| reader.pos);
    let agent_id = match agent_id {
        None => None,
        Some(start) => {
            reader.pass(b"\"")?;
            reader.string()?;
            Some(start..reader.pos)
        }
    };
    if reader.pass(b",\"schemaVersion\":").is_some() {
        reader.count()?;
    }
    reader.pass(b",\"timestamp\":")?;
    head.time = reader.count()?;
    if reader.pass(b",\"_seq\":").is_some() {
        head.seq = reader.count()?;
    }
    reader.pass(b",\"trace\":{")?;
    loop {
        if reader.pass(b"\"traceId\":\"").is_some() {
            head.trace_id = Some(Cow::Borrowed(reader.string()?));
        } else if reader.pass(b"\"spanId\":\"").is_some() {
            head.span_id = Ok(Cow::Borrowed(reader.string()?));
        } else {
            reader.pass(b"\"parentSpanId\":\"")?;
            head.parent = Some(Cow::Borrowed(reader.string()?));
        }
        if reader.pass(b"}").is_some() {
            break;
        }
        reader.pass(b",")?;
    }
    head.trace = Ok(());
    Some(UsualHead {
        head,
        end: reader.pos,
        agent_id,
    })
}

struct HeadReader<'t> {
    text: &'t str,
    pos: usize,
}

impl<'t> HeadReader<'t> {
    #[inline]
    fn pass(&mut self, wanted: &[u8]) -> Option<()> {
        let rest = self.text.as_bytes().get(self.pos..)?;
        if !rest.starts_with(wanted) {
            return None;
        }
        self.pos += wanted.len();
        Some(())
    }

    /// The rest of a string without escapes. Consumes the closing quote.
    #[inline]
    fn string(&mut self) -> Option<&'t str> {
        let start = self.pos;
        let rest = self.text.as_bytes().get(start..)?;
        let length = plain_length(rest);
        let end = start + length;
        self.pos = end + 1;
        (*rest.get(length)? == b'"').then(|| &self.text[start..end])
    }

    /// A whole number below 2^53, followed by another member.
    #[inline]
    fn count(&mut self) -> Option<f64> {
        const MAX_DIGITS: usize = 15;
        let rest = self.text.as_bytes().get(self.pos..)?;
        let mut number = 0.0;
        let mut length = 0;
        while let Some(digit @ b'0'..=b'9') = rest.get(length) {
            number = number * 10.0 + f64::from(digit - b'0');
            length += 1;
        }
        let is_plain = (1..=MAX_DIGITS).contains(&length)
            && (length == 1 || rest[0] != b'0')
            && rest.get(length) == Some(&b',');
        self.pos += length;
        // The sum is exact for so few digits.
        is_plain.then_some(number)
    }
}

/// The number of bytes before a quote, a backslash or a control character. Compares eight bytes at a time,
/// which is fastest for short strings.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    // Bytes above the lowest match may be false matches. Only the lowest one is used.
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word & HIGH_BITS;
    let (words, rest) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quotes = less(word ^ (ONES * u64::from(b'"')), 1);
        let backslashes = less(word ^ (ONES * u64::from(b'\\')), 1);
        let found = less(word, b' ') | quotes | backslashes;
        if found != 0 {
            return 8 * index + found.trailing_zeros() as usize / 8;
        }
    }
    let in_rest = rest
        .iter()
        .position(|byte| *byte == b'"' || *byte == b'\\' || *byte < b' ');
    8 * words.len() + in_rest.unwrap_or(rest.len())
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/head.rs"]
mod tests;
