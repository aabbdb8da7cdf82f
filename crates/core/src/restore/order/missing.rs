//! Finds events that are missing from a trace: starts, ends and parents of spans that other events imply.

use crate::restore::read::event::{Event, Family, NO_SPAN, Phase, SpanIndex};
use crate::restore::read::fields::Field;
use crate::restore::read::spans::{NO_EVENT, Span};
use crate::restore::read::trace::Trace;
use crate::restore::read::warnings::{Warnings, code};

/// Warns of missing events. The first `kept` events are restored from.
pub(crate) fn warn_of_missing_events(trace: &Trace<'_>, kept: usize, warnings: &mut Warnings) {
    for event in &trace.events[..kept] {
        if event.kind.family == Family::Other {
            continue;
        }
        let span = trace.spans.get(event.span);
        if event.kind.phase == Phase::End && span.start == NO_EVENT {
            let message = format!(
                "{} has no start event; its position in the tree comes from its parent",
                event.kind.name()
            );
            warnings.add_at(code::MISSING_START, event, &trace.spans, message);
        }
        if event.kind.phase == Phase::Start && lacks_end(trace, kept, span) {
            let message = format!(
                "{} has no end event, although its parent span ended",
                event.kind.name()
            );
            warnings.add_at(code::MISSING_END, event, &trace.spans, message);
        }
    }
    missing_parents(trace, warnings);
    missing_numbers(trace, kept, warnings);
}

/// Warns of missing `_seq` numbers: a run numbers its events without gaps.
fn missing_numbers(trace: &Trace<'_>, kept: usize, warnings: &mut Warnings) {
    let mut numbered = trace.events[..kept]
        .iter()
        .filter(|event| !event.seq.is_nan());
    let Some(first) = numbered.next() else {
        return;
    };
    let mut last = first.seq;
    let mut missing = 0.0;
    let mut after_gap = None;
    for event in numbered {
        if event.seq > last + 1.0 {
            missing += event.seq - last - 1.0;
            after_gap.get_or_insert(event);
        }
        last = event.seq;
    }
    if let Some(event) = after_gap {
        let message = format!(
            "{missing} events are missing according to their numbers (_seq), the first of them before this event"
        );
        warnings.add(code::GAP, Some(event.line), None, message);
    }
}

/// True if the span must have ended. Turns and tool calls end before their prompt or batch, unless that failed.
/// Generations always end before their agent. Agents and other calls may still be running.
fn lacks_end(trace: &Trace<'_>, kept: usize, span: &Span<'_>) -> bool {
    if span.end != NO_EVENT || span.parent == NO_SPAN {
        return false;
    }
    let parent = trace.spans.get(span.parent);
    let Some(end) = trace.events[..kept].get(parent.end as usize) else {
        return false;
    };
    match (span.family, parent.family) {
        (Family::Generation, Family::Agent) => true,
        (Family::Turn | Family::Batch | Family::Tool, Family::Policy)
        | (Family::Tool, Family::Batch) => {
            let success = end.fields(trace.source, &trace.fields).flag(Field::Success);
            success != Some(false)
        }
        _ => false,
    }
}

/// Warns of parents without events. In a trace without a root span, the first of them is the run itself.
fn missing_parents(trace: &Trace<'_>, warnings: &mut Warnings) {
    let spans = &trace.spans;
    let is_root = |event: &Event| {
        let span = spans.get(event.span);
        span.family == Family::Run || (span.family == Family::Agent && span.parent == NO_SPAN)
    };
    let has_root = trace.events.iter().any(is_root);
    let mut warned = vec![false; spans.len()];
    let mut run: Option<SpanIndex> = None;
    for event in &trace.events {
        let span = spans.get(event.span);
        if span.parent == NO_SPAN || span.family == Family::Run || spans.get(span.parent).has_events
        {
            continue;
        }
        if !has_root && *run.get_or_insert(span.parent) == span.parent {
            continue;
        }
        if !std::mem::replace(&mut warned[span.parent as usize], true) {
            let message = format!(
                "the parent of {} has no event of its own; its content is treated as part of the run itself",
                event.kind.name(),
            );
            let parent = &spans.get(span.parent).id;
            warnings.add(
                code::MISSING_PARENT,
                Some(event.line),
                Some(parent),
                message,
            );
        }
    }
}
