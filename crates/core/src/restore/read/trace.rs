//! The events of a trace as they were read.

use std::borrow::Cow;
use std::collections::HashMap;

use super::event::{Event, NO_PAYLOAD, NO_SPAN, NO_TRACE, PayloadIndex, SpanIndex};
use super::fields::{FieldSpan, TraceText};
use super::payload::Payload;
use super::spans::Spans;

/// The events in the order of the text.
#[derive(Debug)]
pub(crate) struct Trace<'t> {
    pub source: TraceText<'t>,
    pub events: Vec<Event>,
    /// The kept fields of all events.
    pub fields: Vec<FieldSpan>,
    /// The values that were parsed from them.
    pub payloads: Vec<Option<Payload>>,
    pub spans: Spans<'t>,
    /// Bodies of the traceIds.
    pub ids: Vec<Cow<'t, str>>,
    id_index: HashMap<Cow<'t, str>, u32>,
}

impl<'t> Trace<'t> {
    pub(crate) fn with_capacity(source: TraceText<'t>, events: usize) -> Self {
        Self::with_spans(source, events, Spans::with_capacity(events))
    }

    pub(crate) fn with_spans(source: TraceText<'t>, events: usize, spans: Spans<'t>) -> Self {
        Self {
            source,
            events: Vec::with_capacity(events),
            fields: Vec::with_capacity(events * 2),
            payloads: Vec::with_capacity(events / 2),
            spans,
            ids: Vec::new(),
            id_index: HashMap::new(),
        }
    }

    pub(crate) fn intern_id(&mut self, id: Cow<'t, str>) -> u32 {
        // A trace nearly always has one traceId.
        if self.ids.first() == Some(&id) {
            return 0;
        }
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        *self.id_index.entry(id.clone()).or_insert_with(|| {
            self.ids.push(id);
            next
        })
    }

    pub(crate) fn add_payload(&mut self, payload: Option<Payload>) -> PayloadIndex {
        if payload.is_none() {
            return NO_PAYLOAD;
        }
        self.payloads.push(payload);
        u32::try_from(self.payloads.len() - 1).unwrap_or(NO_PAYLOAD)
    }

    pub(crate) fn reserve_for<'o>(&mut self, others: impl Iterator<Item = &'o Self> + Clone)
    where
        Self: 'o,
    {
        let sum = |count: fn(&Self) -> usize| others.clone().map(count).sum();
        self.events.reserve_exact(sum(|trace| trace.events.len()));
        self.fields.reserve_exact(sum(|trace| trace.fields.len()));
        self.payloads
            .reserve_exact(sum(|trace| trace.payloads.len()));
        self.spans.reserve(sum(|trace| trace.spans.len()));
    }

    /// Appends the events of the next part of the text, which follows after `lines` lines.
    pub(crate) fn append(&mut self, next: Self, lines: u32) {
        let span_ids = next.spans.into_ids();
        let spans: Vec<SpanIndex> = span_ids.map(|id| self.spans.intern(id)).collect();
        let ids: Vec<u32> = next.ids.into_iter().map(|id| self.intern_id(id)).collect();
        let first_field = self.fields.len();
        self.fields.extend(next.fields);
        let first_payload = u32::try_from(self.payloads.len()).unwrap_or(NO_PAYLOAD);
        self.payloads.extend(next.payloads);
        self.events.extend(next.events.into_iter().map(|mut event| {
            event.span = spans[event.span as usize];
            if event.parent != NO_SPAN {
                event.parent = spans[event.parent as usize];
            }
            if event.trace != NO_TRACE {
                event.trace = ids[event.trace as usize];
            }
            if event.payload != NO_PAYLOAD {
                event.payload = event.payload.saturating_add(first_payload);
            }
            event.line += lines;
            event.fields.move_by(first_field);
            event
        }));
    }
}
