//! Reads the events of a part of a trace. Each line is read once.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::event::{Event, EventKind, Family, NO_SPAN, NO_TRACE, Phase};
use super::fields::{Field, FieldList, FieldSet, FieldSpan, TraceText};
use super::head::{Head, KNOWN_VALUES, TypeField, UsualHead, read_usual_head};
use super::members::{Members, container_end, type_name};
use super::payload::payload_of;
use super::span_id::SpanId;
use super::trace::Trace;
use super::warnings::{Warnings, code};
use crate::json::{JsonError, JsonErrorKind, Scanner};
use crate::restore::options::Origin;

/// The events of a text or of a part of it.
#[derive(Debug)]
pub(crate) struct Part<'t> {
    pub trace: Trace<'t>,
    pub warnings: Warnings,
    /// The number of lines. Lines are counted from 1 in each part.
    pub lines: u32,
    /// The first line of a list from memory that is not an event. Nothing after it was read.
    pub fault: Option<NumberedFault>,
}

pub(crate) type NumberedFault = (LineFault, u32);

/// A line is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineFault {
    /// The path inside the event; empty for the event itself.
    pub path: &'static str,
    pub expected: &'static str,
    pub received: Cow<'static, str>,
}

impl LineFault {
    fn new(path: &'static str, expected: &'static str, received: &'static str) -> Self {
        Self {
            path,
            expected,
            received: Cow::Borrowed(received),
        }
    }
}

impl From<JsonError> for LineFault {
    fn from(error: JsonError) -> Self {
        let received = Cow::Owned(format!("text that is not JSON ({error})"));
        Self {
            path: "",
            expected: "an object",
            received,
        }
    }
}

pub(crate) const TURN_START: EventKind = EventKind {
    family: Family::Turn,
    phase: Phase::Start,
};

enum Line {
    Event(Event),
    /// The writer dropped this number of events here.
    Gap(Option<u64>),
}

/// Reads a text with an event in each line. `range` consists of whole lines.
pub(crate) fn read_lines(source: TraceText<'_>, range: Range<usize>, origin: Origin) -> Part<'_> {
    let mut reader = PartReader::new(source, &range, origin);
    reader.part.fault = reader.lines(range).err();
    reader.part
}

/// Reads a text that is one JSON array of events, starting at `start`.
pub(crate) fn read_array(source: TraceText<'_>, start: usize, origin: Origin) -> Part<'_> {
    let range = start..source.text().len();
    let mut reader = PartReader::new(source, &range, origin);
    reader.part.fault = reader.array(range).err();
    reader.part
}

/// The length of the sample that is used to estimate the number of lines.
const SAMPLE_BYTES: usize = 1 << 16;

/// Estimates the number of lines.
fn estimate_lines(text: &str) -> usize {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    let lines = memchr_iter(b'\n', sample).count() + 1;
    text.len() / (sample.len() / lines).max(1)
}

struct PartReader<'t> {
    part: Part<'t>,
    origin: Origin,
    /// True if an event read so far has a `_seq`; `None` before the first event.
    is_numbered: Option<bool>,
    /// The range of the last value of each field.
    last_ranges: [Range<usize>; Field::COUNT],
    /// The ranges of skipped values that are often repeated: conversations, schemas, tools.
    known: Box<[Range<usize>; KNOWN_VALUES]>,
}

impl<'t> PartReader<'t> {
    fn new(source: TraceText<'t>, range: &Range<usize>, origin: Origin) -> Self {
        Self {
            part: Part {
                trace: Trace::with_capacity(source, estimate_lines(source.slice(range))),
                warnings: Warnings::default(),
                lines: 0,
                fault: None,
            },
            origin,
            is_numbered: None,
            last_ranges: [const { 0..0 }; Field::COUNT],
            known: Box::new([const { 0..0 }; KNOWN_VALUES]),
        }
    }

    fn lines(&mut self, range: Range<usize>) -> Result<(), NumberedFault> {
        let bytes = self.part.trace.source.text().as_bytes();
        let bytes = &bytes[..range.end];
        let mut pos = range.start;
        while pos < bytes.len() {
            let end = memchr(b'\n', &bytes[pos..]).map_or(bytes.len(), |length| pos + length);
            self.part.lines += 1;
            // A line with a line feed after its brace was written completely.
            let is_ended = end < bytes.len() && bytes[..end].trim_ascii_end().ends_with(b"}");
            self.line(pos..end, is_ended)?;
            pos = end + 1;
        }
        Ok(())
    }

    /// Reads one JSON array of events, which are numbered as lines are.
    fn array(&mut self, range: Range<usize>) -> Result<(), NumberedFault> {
        let text = &self.part.trace.source.text()[..range.end];
        let mut base = range.start;
        let mut scanner = Scanner::new(&text[base..]);
        let mut first = true;
        let mut more = scanner
            .enter_array()
            .and_then(|()| scanner.next_element(&mut first));
        loop {
            match more {
                Ok(false) => return Ok(()),
                Ok(true) => {}
                Err(error) => {
                    self.part.lines += 1;
                    return self.refuse(error.into());
                }
            }
            self.part.lines += 1;
            scanner.peek();
            let from = base + scanner.position();
            let range = match scanner.skip_value() {
                Ok(range) => from..base + range.end,
                Err(error) => {
                    let end = match error.kind {
                        JsonErrorKind::TooDeep => container_end(text.as_bytes(), from),
                        _ => None,
                    };
                    let Some(end) = end else {
                        return self.refuse(error.into());
                    };
                    base = end;
                    scanner = Scanner::new(&text[base..]);
                    from..end
                }
            };
            self.line(range, true)?;
            more = scanner.next_element(&mut first);
        }
    }

    fn line(&mut self, range: Range<usize>, whole: bool) -> Result<(), NumberedFault> {
        let line = self.part.trace.source.slice(&range);
        // The order of these tests keeps the common case short.
        if !line.starts_with('{') && self.origin == Origin::Lines && line.trim_ascii().is_empty() {
            return Ok(());
        }
        let first_field = self.part.trace.fields.len();
        match self.members(range, whole) {
            Ok(Line::Event(event)) => self.part.trace.events.push(event),
            Ok(Line::Gap(count)) => {
                self.part.trace.fields.truncate(first_field);
                let count =
                    count.map_or_else(|| "events".to_owned(), |count| format!("{count} events"));
                let message = format!(
                    "the writer of the trace dropped {count} here; calls recorded in them are executed again"
                );
                self.part
                    .warnings
                    .add(code::GAP, Some(self.part.lines), None, message);
            }
            Err(fault) => {
                self.part.trace.fields.truncate(first_field);
                self.refuse(fault)?;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, fault: LineFault) -> Result<(), NumberedFault> {
        let number = self.part.lines;
        if self.origin == Origin::Events {
            return Err((fault, number));
        }
        let LineFault {
            path,
            expected,
            received,
        } = fault;
        let at = path
            .strip_prefix('.')
            .map(|path| format!("{path}: "))
            .unwrap_or_default();
        let message =
            format!("not an event, passed over: {at}expected {expected}, received {received}");
        self.part
            .warnings
            .add(code::INVALID_LINE, Some(number), None, message);
        Ok(())
    }

    /// Reads one event and keeps the fields that its type is read for. Of a `whole` line, only the required
    /// part is read.
    fn members(&mut self, range: Range<usize>, whole: bool) -> Result<Line, LineFault> {
        let source = self.part.trace.source;
        let first_field = self.part.trace.fields.len();
        let (mut head, mut members) = self.head(range)?;
        if self.is_numbered == Some(false) && head.kind == TypeField::Event(TURN_START) {
            // In traces of other recorders it contains only the conversation.
            head.wanted = 0;
        }
        let mut seen = self.fields_from(first_field);
        loop {
            if whole && head.is_complete(self.is_numbered) && head.wanted & !seen == 0 {
                break;
            }
            let Some(key) = members.next()? else {
                // A line with a second value is invalid as a whole.
                members.finish()?;
                break;
            };
            match Field::from_key(key) {
                Some(Field::Type) => head.read_type(members.string()?),
                Some(Field::Timestamp) => head.time = members.number()?,
                Some(Field::Seq) => head.seq = members.number()?,
                Some(Field::Trace) => head.read_trace(&mut members)?,
                Some(field) if head.wanted & field.bit() != 0 => {
                    let range = members.value()?;
                    let range = self.same_as_before(field, range);
                    seen |= field.bit() | field.replaces(self.part.trace.source.slice(&range));
                    self.part.trace.fields.push(FieldSpan { field, range });
                }
                _ => members.pass_repeated(&mut self.known[head.known_slot(key.body())])?,
            }
        }
        let kind = match head.kind {
            TypeField::Event(kind) => kind,
            TypeField::Gap => return Ok(Line::Gap(self.gap_count(first_field))),
            TypeField::Missing(received) => {
                return Err(LineFault::new(".type", "a string", received));
            }
        };
        let no_object = |received| LineFault::new(".trace", "an object", received);
        let no_string = |received| LineFault::new(".trace.spanId", "a string", received);
        head.trace.map_err(no_object)?;
        let span = SpanId::new(head.span_id.map_err(no_string)?);
        self.keep_fields(first_field, kind.fields(), &span);
        let spans = &mut self.part.trace.spans;
        let parent = match head.parent.filter(|parent| !parent.is_empty()) {
            Some(parent) => spans.intern_parent(SpanId::new(parent)),
            None => NO_SPAN,
        };
        let span = spans.intern(span);
        let trace = match head.trace_id {
            Some(id) => self.part.trace.intern_id(id),
            None => NO_TRACE,
        };
        let fields = FieldList::new(first_field, self.part.trace.fields.len());
        let payload = payload_of(kind, &fields.with(source, &self.part.trace.fields));
        let payload = self.part.trace.add_payload(payload);
        let (time, seq) = (head.time, head.seq);
        self.is_numbered = Some(self.is_numbered == Some(true) || !seq.is_nan());
        Ok(Line::Event(Event {
            kind,
            span,
            parent,
            trace,
            line: self.part.lines,
            time,
            seq,
            fields,
            payload,
        }))
    }

    /// The head of an event if it is in the usual form, and a reader for the remaining members.
    fn head(&mut self, range: Range<usize>) -> Result<(Head<'t>, Members<'t>), LineFault> {
        let source = self.part.trace.source;
        if let Some(UsualHead {
            head,
            end,
            agent_id,
        }) = read_usual_head(source, range.clone())
        {
            if let Some(range) = agent_id
                && head.wanted & Field::AgentId.bit() != 0
            {
                let range = self.same_as_before(Field::AgentId, range);
                self.part.trace.fields.push(FieldSpan {
                    field: Field::AgentId,
                    range,
                });
            }
            return Ok((head, Members::after_member(source, end..range.end)));
        }
        let first_byte = source.slice(&range).trim_ascii_start().bytes().next();
        if first_byte != Some(b'{') {
            return Err(LineFault::new("", "an object", type_name(first_byte)));
        }
        Ok((Head::default(), Members::enter(source, range)?))
    }

    fn fields_from(&self, first: usize) -> FieldSet {
        self.part.trace.fields[first..]
            .iter()
            .fold(0, |seen, kept| seen | kept.field.bit())
    }

    /// Replaces the range of a value by that of the field's previous value if both are equal. Text that
    /// is read repeatedly then stays in the processor's caches.
    fn same_as_before(&mut self, field: Field, range: Range<usize>) -> Range<usize> {
        let source = self.part.trace.source;
        let last = &mut self.last_ranges[field as usize];
        if last.len() == range.len() && source.slice(last) == source.slice(&range) {
            return last.clone();
        }
        last.clone_from(&range);
        range
    }

    fn gap_count(&self, first_field: usize) -> Option<u64> {
        let count = self.part.trace.fields[first_field..]
            .iter()
            .find(|kept| kept.field == Field::Count)?;
        self.part.trace.source.slice(&count.range).parse().ok()
    }

    /// Removes fields that events of this type are not read for. They were kept while the type was
    /// unknown, or another field replaces them.
    fn keep_fields(&mut self, first: usize, wanted: FieldSet, span: &SpanId<'_>) {
        let fields = &mut self.part.trace.fields;
        let has_delta = fields[first..]
            .iter()
            .any(|kept| kept.field == Field::Delta);
        let unwanted = if has_delta { Field::Own.bit() } else { 0 };
        let mut end = first;
        for at in first..fields.len() {
            let FieldSpan { field, range } = &fields[at];
            if wanted & !unwanted & field.bit() == 0 {
                continue;
            }
            if range.start == range.end {
                let line = self.part.lines;
                self.part.warnings.add_too_deep(*field, line, span);
            }
            fields.swap(end, at);
            end += 1;
        }
        fields.truncate(end);
    }
}
