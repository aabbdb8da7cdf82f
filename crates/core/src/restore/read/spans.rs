//! The spans of a trace.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::event::{Event, Family, NO_SPAN, Phase, SpanIndex};
use super::span_id::SpanId;
use crate::util::IdHashing;

/// Position of an event in the ordered list; [`NO_EVENT`] for none.
pub(crate) type EventIndex = u32;
pub(crate) const NO_EVENT: EventIndex = EventIndex::MAX;

#[derive(Debug)]
pub(crate) struct Spans<'t> {
    /// If the ids came as a list, built on first use.
    by_id: OnceLock<HashMap<SpanId<'t>, SpanIndex, IdHashing>>,
    list: Vec<Span<'t>>,
    /// Consecutive events often have the same parent, which is then found without hashing.
    last_parent: SpanIndex,
}

#[derive(Debug, Clone)]
pub(crate) struct Span<'t> {
    pub id: SpanId<'t>,
    /// [`NO_SPAN`] for none.
    pub parent: SpanIndex,
    /// The family of its first event that has one.
    pub family: Family,
    /// False for a span that occurs only as a parent.
    pub has_events: bool,
    pub start: EventIndex,
    pub end: EventIndex,
}

impl<'t> Span<'t> {
    fn new(id: SpanId<'t>) -> Self {
        Self {
            id,
            parent: NO_SPAN,
            family: Family::Other,
            has_events: false,
            start: NO_EVENT,
            end: NO_EVENT,
        }
    }
}

impl<'t> Spans<'t> {
    pub(crate) fn with_capacity(spans: usize) -> Self {
        Self {
            by_id: OnceLock::from(HashMap::with_capacity_and_hasher(spans, IdHashing::new())),
            list: Vec::with_capacity(spans),
            last_parent: NO_SPAN,
        }
    }

    /// From distinct ids, in the order of their indices.
    pub(crate) fn of_ids(ids: Vec<SpanId<'t>>) -> Self {
        Self {
            by_id: OnceLock::new(),
            list: ids.into_iter().map(Span::new).collect(),
            last_parent: NO_SPAN,
        }
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.list.reserve_exact(more);
        if let Some(by_id) = self.by_id.get_mut() {
            by_id.reserve(more);
        }
    }

    fn by_id(&self) -> &HashMap<SpanId<'t>, SpanIndex, IdHashing> {
        self.by_id.get_or_init(|| {
            let ids = self.list.iter().map(|span| span.id.clone());
            ids.zip(0..).collect()
        })
    }

    /// The ids in the order of their indices.
    pub(crate) fn into_ids(self) -> impl Iterator<Item = SpanId<'t>> {
        self.list.into_iter().map(|span| span.id)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, span: SpanIndex) -> &Span<'t> {
        &self.list[span as usize]
    }

    pub(crate) fn get_mut(&mut self, span: SpanIndex) -> &mut Span<'t> {
        &mut self.list[span as usize]
    }

    pub(crate) fn indices(&self) -> impl Iterator<Item = SpanIndex> + use<> {
        // `intern` keeps the indices below NO_SPAN.
        0..u32::try_from(self.list.len()).unwrap_or(NO_SPAN)
    }

    /// The span with this id, given as the body of its JSON string.
    pub(crate) fn find(&self, id: &str) -> Option<SpanIndex> {
        self.by_id().get(&SpanId::new(Cow::Borrowed(id))).copied()
    }

    pub(crate) fn intern(&mut self, id: SpanId<'t>) -> SpanIndex {
        if let Some(known) = self.by_id().get(&id) {
            return *known;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(NO_SPAN);
        self.list.push(Span::new(id.clone()));
        if let Some(by_id) = self.by_id.get_mut() {
            by_id.insert(id, index);
        }
        index
    }

    pub(crate) fn intern_parent(&mut self, id: SpanId<'t>) -> SpanIndex {
        if let Some(last) = self.list.get(self.last_parent as usize)
            && last.id == id
        {
            return self.last_parent;
        }
        self.last_parent = self.intern(id);
        self.last_parent
    }

    /// Sets the parent and family of each span from its events. Of several parents, the first one counts.
    pub(crate) fn note_events(&mut self, events: &[Event]) {
        for span in &mut self.list {
            (span.parent, span.family, span.has_events) = (NO_SPAN, Family::Other, false);
        }
        for event in events {
            let span = self.get_mut(event.span);
            span.has_events = true;
            if span.family == Family::Other {
                span.family = event.kind.family;
            }
            if span.parent == NO_SPAN {
                span.parent = event.parent;
            }
        }
    }

    /// Sets the positions of the starts and ends of spans in the ordered list.
    pub(crate) fn note_positions(&mut self, events: &[Event]) {
        for span in &mut self.list {
            (span.start, span.end) = (NO_EVENT, NO_EVENT);
        }
        for (position, event) in (0..).zip(events) {
            let span = self.get_mut(event.span);
            match event.kind.phase {
                Phase::Start if span.start == NO_EVENT => span.start = position,
                Phase::End => span.end = position,
                Phase::Start | Phase::Single => {}
            }
        }
    }

    pub(crate) fn display(&self, span: SpanIndex) -> String {
        self.get(span).id.display()
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/spans.rs"]
mod tests;
