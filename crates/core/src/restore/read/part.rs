//! Reads the events out of the text of a trace, or of a part of it, each line once.

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

/// What was read of a text, or of a part of it.
#[derive(Debug)]
pub(crate) struct Part<'t> {
    pub trace: Trace<'t>,
    pub warnings: Warnings,
    /// How many lines it has. They are numbered from 1 in each part.
    pub lines: u32,
    /// In a list from memory, the first line that is no event: nothing after it was read.
    pub fault: Option<NumberedFault>,
}

/// A fault and the number of its line.
pub(crate) type NumberedFault = (LineFault, u32);

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineFault {
    /// Below the event; empty for the event itself.
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
    /// The writer dropped so many events here.
    Gap(Option<u64>),
}

/// Reads a text that holds an event in each line. `range` starts and ends with whole lines.
pub(crate) fn read_lines(source: TraceText<'_>, range: Range<usize>, origin: Origin) -> Part<'_> {
    let mut reader = PartReader::new(source, &range, origin);
    let mut lines = 0;
    let fault = reader.lines(range, &mut lines).err();
    let PartReader {
        trace, warnings, ..
    } = reader;
    Part {
        trace,
        warnings,
        lines,
        fault,
    }
}

/// Reads a text that is one JSON array of events, from `start` on.
pub(crate) fn read_array(source: TraceText<'_>, start: usize, origin: Origin) -> Part<'_> {
    let mut reader = PartReader::new(source, &(start..source.text().len()), origin);
    let fault = reader.array(start..source.text().len(), &mut 0).err();
    let PartReader {
        trace, warnings, ..
    } = reader;
    Part {
        trace,
        warnings,
        lines: 1,
        fault,
    }
}

/// How much of a text is looked at to guess how many lines it has.
const SAMPLE_BYTES: usize = 1 << 16;

/// About how many lines the text has.
fn estimate_lines(text: &str) -> usize {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    let lines = memchr_iter(b'\n', sample).count() + 1;
    text.len() / (sample.len() / lines).max(1)
}

struct PartReader<'t> {
    trace: Trace<'t>,
    origin: Origin,
    warnings: Warnings,
    /// Whether the events have a `_seq`, as far as they were read.
    is_numbered: Option<bool>,
    /// Ranges of the last values, by field.
    last_ranges: [Range<usize>; Field::COUNT],
    /// Ranges of values that nobody reads, and that come again: conversations, schemas, tools.
    known: Box<[Range<usize>; KNOWN_VALUES]>,
}

impl<'t> PartReader<'t> {
    fn new(source: TraceText<'t>, range: &Range<usize>, origin: Origin) -> Self {
        Self {
            trace: Trace::with_capacity(source, estimate_lines(source.slice(range))),
            origin,
            warnings: Warnings::default(),
            is_numbered: None,
            last_ranges: [const { 0..0 }; Field::COUNT],
            known: Box::new([const { 0..0 }; KNOWN_VALUES]),
        }
    }

    fn lines(&mut self, range: Range<usize>, number: &mut u32) -> Result<(), NumberedFault> {
        let bytes = self.trace.source.text().as_bytes();
        let bytes = &bytes[..range.end];
        let mut pos = range.start;
        while pos < bytes.len() {
            let end = memchr(b'\n', &bytes[pos..]).map_or(bytes.len(), |length| pos + length);
            if self.origin == Origin::Events && bytes[pos] == b'[' {
                self.array(pos..end, number)?;
                pos = end + 1;
                continue;
            }
            *number += 1;
            // A line that was ended was written to its end.
            let is_ended = end < bytes.len() && bytes[..end].trim_ascii_end().ends_with(b"}");
            self.line(pos..end, *number, is_ended)?;
            pos = end + 1;
        }
        Ok(())
    }

    /// One JSON array of events, which are numbered from `number` on.
    fn array(&mut self, range: Range<usize>, number: &mut u32) -> Result<(), NumberedFault> {
        let text = &self.trace.source.text()[..range.end];
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
                Err(error) => return self.refuse(error.into(), *number + 1),
            }
            *number += 1;
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
                        return self.refuse(error.into(), *number);
                    };
                    base = end;
                    scanner = Scanner::new(&text[base..]);
                    from..end
                }
            };
            self.line(range, *number, true)?;
            more = scanner.next_element(&mut first);
        }
    }

    fn line(&mut self, range: Range<usize>, number: u32, whole: bool) -> Result<(), NumberedFault> {
        let line = self.trace.source.slice(&range);
        // The order of these tests keeps the common case short.
        if !line.starts_with('{') && self.origin == Origin::Lines && line.trim_ascii().is_empty() {
            return Ok(());
        }
        let first_field = self.trace.fields.len();
        match self.members(range, number, whole) {
            Ok(Line::Event(event)) => self.trace.events.push(event),
            Ok(Line::Gap(count)) => {
                self.trace.fields.truncate(first_field);
                let count =
                    count.map_or_else(|| "events".to_owned(), |count| format!("{count} events"));
                let message = format!(
                    "the writer of the trace dropped {count} here; calls recorded in them are made again"
                );
                self.warnings.add(code::GAP, Some(number), None, message);
            }
            Err(fault) => {
                self.trace.fields.truncate(first_field);
                self.refuse(fault, number)?;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, fault: LineFault, number: u32) -> Result<(), NumberedFault> {
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
        self.warnings
            .add(code::INVALID_LINE, Some(number), None, message);
        Ok(())
    }

    /// Reads one event; the fields that it is read for are added to the trace's. A `whole` line is
    /// not read further than it must be.
    fn members(
        &mut self,
        range: Range<usize>,
        number: u32,
        whole: bool,
    ) -> Result<Line, LineFault> {
        let source = self.trace.source;
        let first_field = self.trace.fields.len();
        let (mut head, mut members) = self.head(range)?;
        if self.is_numbered == Some(false) && head.kind == TypeField::Event(TURN_START) {
            // In the traces of other recorders it holds the conversation, and nothing else.
            head.wanted = 0;
        }
        let mut seen = self.fields_from(first_field);
        loop {
            if whole && head.is_complete(self.is_numbered) && head.wanted & !seen == 0 {
                break;
            }
            let Some(key) = members.next()? else {
                // A second value on the line makes the first one doubtful too.
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
                    seen |= field.bit() | field.replaces(self.trace.source.slice(&range));
                    self.trace.fields.push(FieldSpan { field, range });
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
        self.keep_fields(first_field, kind.fields(), number, &span);
        let spans = &mut self.trace.spans;
        let parent = match head.parent.filter(|parent| !parent.is_empty()) {
            Some(parent) => spans.intern_parent(SpanId::new(parent)),
            None => NO_SPAN,
        };
        let span = spans.intern(span);
        let trace = match head.trace_id {
            Some(id) => self.trace.intern_id(id),
            None => NO_TRACE,
        };
        let fields = FieldList::new(first_field, self.trace.fields.len());
        let payload = payload_of(kind, &fields.with(source, &self.trace.fields));
        let payload = self.trace.add_payload(payload);
        let (time, seq) = (head.time, head.seq);
        self.is_numbered = Some(self.is_numbered == Some(true) || !seq.is_nan());
        Ok(Line::Event(Event {
            kind,
            span,
            parent,
            trace,
            line: number,
            time,
            seq,
            fields,
            payload,
        }))
    }

    /// The head of an event if it stands at the beginning as usual, and a reader of what follows.
    fn head(&mut self, range: Range<usize>) -> Result<(Head<'t>, Members<'t>), LineFault> {
        let source = self.trace.source;
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
                self.trace.fields.push(FieldSpan {
                    field: Field::AgentId,
                    range,
                });
            }
            return Ok((head, Members::go_on(source, end..range.end)));
        }
        let first_byte = source.slice(&range).trim_ascii_start().bytes().next();
        if first_byte != Some(b'{') {
            return Err(LineFault::new("", "an object", type_name(first_byte)));
        }
        Ok((Head::default(), Members::enter(source, range)?))
    }

    fn fields_from(&self, first: usize) -> FieldSet {
        self.trace.fields[first..]
            .iter()
            .fold(0, |seen, kept| seen | kept.field.bit())
    }

    /// The range of the value that the field had last time, if it is the same: text that is read again
    /// and again then stays in the processor's caches.
    fn same_as_before(&mut self, field: Field, range: Range<usize>) -> Range<usize> {
        let source = self.trace.source;
        let last = &mut self.last_ranges[field as usize];
        if last.len() == range.len() && source.slice(last) == source.slice(&range) {
            return last.clone();
        }
        last.clone_from(&range);
        range
    }

    fn gap_count(&self, first_field: usize) -> Option<u64> {
        let count = self.trace.fields[first_field..]
            .iter()
            .find(|kept| kept.field == Field::Count)?;
        self.trace.source.slice(&count.range).parse().ok()
    }

    /// Drops the fields that such an event is not read for: they were kept while its type was
    /// unknown, or another one makes them needless.
    fn keep_fields(&mut self, first: usize, wanted: FieldSet, number: u32, span: &SpanId<'_>) {
        let fields = &mut self.trace.fields;
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
                let message = format!("the field {} is nested too deep to be kept", field.key());
                self.warnings
                    .add(code::TOO_DEEP, Some(number), Some(span), message);
            }
            fields.swap(end, at);
            end += 1;
        }
        fields.truncate(end);
    }
}
