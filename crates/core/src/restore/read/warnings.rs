//! Warnings about missing, duplicated or unreadable parts of a trace. Lost or duplicated events are repaired when
//! the other events leave no doubt; each repair is listed in `snapshot.warnings`.

use super::event::Event;
use super::fields::Field;
use super::span_id::SpanId;
use super::spans::Spans;
use crate::snapshot::Warning;

/// The `code` of a warning, for programs.
pub mod code {
    /// A line that is not an event was skipped.
    pub const INVALID_LINE: &str = "invalid-line";
    /// Events are missing, as reported by their writer or shown by their numbers.
    pub const GAP: &str = "gap";
    /// An event was delivered twice; the first one counts.
    pub const DUPLICATE_EVENT: &str = "duplicate-event";
    /// Events of the same millisecond are in an impossible order.
    pub const ORDER_UNCERTAIN: &str = "order-uncertain";
    /// A span has an end but no start.
    pub const MISSING_START: &str = "missing-start";
    /// A span has a start but no end, although its parent span ended normally.
    pub const MISSING_END: &str = "missing-end";
    /// A parent span has no event of its own.
    pub const MISSING_PARENT: &str = "missing-parent";
    /// A call succeeded, but its event has no contentHash: it cannot be replayed.
    pub const MISSING_HASH: &str = "missing-hash";
    /// A span is its own ancestor.
    pub const PARENT_CYCLE: &str = "parent-cycle";
    /// The trace contains several runs and no option selects one: the run that started last is restored.
    pub const SEVERAL_RUNS: &str = "several-runs";
    /// A value is nested deeper than the limit for JSON values and was left out.
    pub const TOO_DEEP: &str = "too-deep";
    /// A field has an unexpected type and was left out.
    pub const INVALID_FIELD: &str = "invalid-field";
}

#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<Warning>);

impl Warnings {
    /// Adds a warning. `line` is counted from 1.
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

    pub(crate) fn add_at(
        &mut self,
        code: &'static str,
        event: &Event,
        spans: &Spans<'_>,
        message: String,
    ) {
        let span = &spans.get(event.span).id;
        self.add(code, Some(event.line), Some(span), message);
    }

    pub(crate) fn add_too_deep(&mut self, field: Field, line: u32, span: &SpanId<'_>) {
        let message = format!("{}: nested too deep; the field was left out", field.key());
        self.add(code::TOO_DEEP, Some(line), Some(span), message);
    }

    /// Appends the warnings of the next part of the text, which follows after `lines` lines.
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
