//! What was missing, doubled or unreadable in a trace.

use super::span_id::SpanId;
use crate::snapshot::Warning;

/// The `code` of a warning. Programs tell warnings apart by it.
pub mod code {
    /// A line that is not an event was passed over.
    pub const INVALID_LINE: &str = "invalid-line";
    /// Events are missing: their writer says so, or their numbers do.
    pub const GAP: &str = "gap";
    /// An event was delivered twice; the first one counts.
    pub const DUPLICATE_EVENT: &str = "duplicate-event";
    /// Events at the same millisecond came in an order that cannot be the true one.
    pub const ORDER_UNCERTAIN: &str = "order-uncertain";
    /// A span has an end but no start.
    pub const MISSING_START: &str = "missing-start";
    /// A span has a start but no end, although what it was part of ended in good order.
    pub const MISSING_END: &str = "missing-end";
    /// A span is named as a parent but has no event of its own.
    pub const MISSING_PARENT: &str = "missing-parent";
    /// A call ended well, but its event lacks the contentHash: it cannot be replayed.
    pub const MISSING_HASH: &str = "missing-hash";
    /// Spans are each other's parents.
    pub const PARENT_CYCLE: &str = "parent-cycle";
    /// The trace holds several runs, and none was chosen: the one that started last counts.
    pub const SEVERAL_RUNS: &str = "several-runs";
    /// A value is nested deeper than JSON values may be, and was left out.
    pub const TOO_DEEP: &str = "too-deep";
    /// A field that a frame is built from has another type than it should.
    pub const INVALID_FIELD: &str = "invalid-field";
}

#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<Warning>);

impl Warnings {
    /// `line` from 1.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        line: Option<u32>,
        span: Option<&SpanId<'_>>,
        message: String,
    ) {
        self.0.push(Warning {
            code,
            message,
            line: line.map(|line| line as usize),
            span_id: span.map(SpanId::display),
        });
    }

    /// Adds those of the text that follows, after so many lines.
    pub(crate) fn append(&mut self, next: Self, lines: u32) {
        self.0.extend(next.0.into_iter().map(|warning| Warning {
            line: warning.line.map(|line| line + lines as usize),
            ..warning
        }));
    }

    pub(crate) fn into_list(self) -> Vec<Warning> {
        self.0
    }
}
