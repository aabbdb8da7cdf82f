//! Reads events that are passed in memory: numbers and indices in columns, and as text only the values that
//! the snapshot needs.

use std::borrow::Cow;
use std::ops::Range;

use super::event::{Event, EventKind, NO_SPAN, NO_TRACE};
use super::fields::{Field, FieldList, FieldSpan, TraceText};
use super::lines::TURN_START;
use super::members::container_end;
use super::payload::payload_of;
use super::span_id::SpanId;
use super::spans::Spans;
use super::trace::Trace;
use super::warnings::Warnings;
use crate::json::{JsonError, JsonErrorKind, Scanner};
use crate::restore::error::RestoreErrorKind;
use crate::util::Fault;

/// Events in columns. The values of their fields are the elements of JSON arrays in a separate text, in the
/// order of the events and, for each event, of [`restored_fields`](super::event::restored_fields).
#[derive(Debug, Clone, Copy)]
pub struct EventTable<'t> {
    /// Five numbers per event: the indices of its type, span, parent and trace ([`NO_NAME`] for none), and a
    /// bit set of the fields that it has.
    pub heads: &'t [u32],
    /// Two numbers per event: its time in milliseconds and its `_seq`; NaN for none.
    pub numbers: &'t [f64],
    /// The names behind the indices of types: a JSON array of distinct strings, written by `JSON.stringify`.
    /// The same for spans and traces.
    pub types: &'t str,
    pub spans: &'t str,
    pub traces: &'t str,
}

/// Means "no parent" or "no trace".
pub const NO_NAME: u32 = u32::MAX;

pub(crate) fn read_table<'t>(
    values: TraceText<'t>,
    table: EventTable<'t>,
    warnings: &mut Warnings,
) -> Result<Trace<'t>, RestoreErrorKind> {
    TableReader::new(values, table, warnings)
        .and_then(|mut reader| {
            reader.events(table)?;
            Ok(reader.trace)
        })
        .map_err(|error| {
            RestoreErrorKind::InvalidEvent(Fault {
                path: "events".to_owned(),
                message: format!("expected a list of events, received other text ({error})"),
            })
        })
}

struct TableReader<'t, 'w> {
    trace: Trace<'t>,
    warnings: &'w mut Warnings,
    values: Values<'t>,
    kinds: Vec<(EventKind, Vec<Field>)>,
    traces: Vec<u32>,
    /// True if an event read so far has a `_seq`; `None` before the first event.
    is_numbered: Option<bool>,
}

impl<'t, 'w> TableReader<'t, 'w> {
    fn new(
        source: TraceText<'t>,
        table: EventTable<'t>,
        warnings: &'w mut Warnings,
    ) -> Result<Self, JsonError> {
        let (mut kinds, mut ids, mut traces) = (Vec::new(), Vec::new(), Vec::new());
        each_name(table.types, |name| {
            let kind = EventKind::from_type(&name);
            kinds.push((kind, kind.field_list()));
        })?;
        each_name(table.spans, |name| ids.push(SpanId::new(name)))?;
        let spans = Spans::of_ids(ids);
        let mut trace = Trace::with_spans(source, table.numbers.len() / 2, spans);
        each_name(table.traces, |name| traces.push(trace.intern_id(name)))?;
        Ok(Self {
            trace,
            warnings,
            values: Values::new(source),
            kinds,
            traces,
            is_numbered: None,
        })
    }

    fn events(&mut self, table: EventTable<'t>) -> Result<(), JsonError> {
        let heads = table.heads.as_chunks().0.iter();
        let numbers = table.numbers.as_chunks().0.iter();
        for (line, (head, numbers)) in (1..).zip(heads.zip(numbers)) {
            self.event(line, *head, *numbers)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        line: u32,
        [kind, span, parent, trace, present]: [u32; 5],
        [time, seq]: [f64; 2],
    ) -> Result<(), JsonError> {
        let spans = self.trace.spans.len();
        let span_of = |index: u32| ((index as usize) < spans).then_some(index);
        let (Some((kind, fields)), Some(span)) = (self.kinds.get(kind as usize), span_of(span))
        else {
            return self.values.unexpected();
        };
        let parent = span_of(parent).unwrap_or(NO_SPAN);
        let trace = self.traces.get(trace as usize).copied();
        let first_field = self.trace.fields.len();
        let mut left = present;
        while left != 0 {
            let Some(&field) = fields.get(left.trailing_zeros() as usize) else {
                return self.values.unexpected();
            };
            left &= left - 1;
            let range = self.values.next()?;
            if range.is_empty() {
                let id = &self.trace.spans.get(span).id;
                self.warnings.add_too_deep(field, line, id);
            }
            self.trace.fields.push(FieldSpan { field, range });
        }
        if *kind == TURN_START && self.is_numbered == Some(false) {
            // As in a file: in traces of other recorders it contains only the conversation.
            self.trace.fields.truncate(first_field);
        }
        self.is_numbered = Some(self.is_numbered == Some(true) || !seq.is_nan());
        let fields = FieldList::new(first_field, self.trace.fields.len());
        let payload = payload_of(*kind, &fields.with(self.trace.source, &self.trace.fields));
        let payload = self.trace.add_payload(payload);
        self.trace.events.push(Event {
            kind: *kind,
            span,
            parent,
            trace: trace.unwrap_or(NO_TRACE),
            line,
            time,
            seq,
            fields,
            payload,
        });
        Ok(())
    }
}

/// The elements of consecutive JSON arrays.
struct Values<'t> {
    text: &'t str,
    /// The position in it where the scanner's text begins.
    base: usize,
    scanner: Scanner<'t>,
    is_open: bool,
    first: bool,
}

impl<'t> Values<'t> {
    fn new(source: TraceText<'t>) -> Self {
        let text = source.text();
        Self {
            text,
            base: 0,
            scanner: Scanner::new(text),
            is_open: false,
            first: true,
        }
    }

    /// The range of the next element; empty if it is nested too deep.
    #[inline]
    fn next(&mut self) -> Result<Range<usize>, JsonError> {
        while !self.is_open || !self.scanner.next_element(&mut self.first)? {
            self.scanner.enter_array()?;
            (self.is_open, self.first) = (true, true);
        }
        self.scanner.peek();
        let start = self.base + self.scanner.position();
        match self.scanner.skip_value() {
            Ok(range) => Ok(start..self.base + range.end),
            Err(error) if error.kind == JsonErrorKind::TooDeep => {
                self.base = container_end(self.text.as_bytes(), start).ok_or(error)?;
                self.scanner = Scanner::new(&self.text[self.base..]);
                Ok(start..start)
            }
            Err(error) => Err(error),
        }
    }

    fn unexpected<T>(&self) -> Result<T, JsonError> {
        Err(JsonError {
            kind: JsonErrorKind::UnexpectedCharacter,
            offset: self.base + self.scanner.position(),
        })
    }
}

/// Calls `take` with the body of each string in a JSON array.
fn each_name<'t>(text: &'t str, mut take: impl FnMut(Cow<'t, str>)) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.each_element(|scanner| scanner.string().map(|name| take(name.normalized())))?;
    scanner.finish()
}
