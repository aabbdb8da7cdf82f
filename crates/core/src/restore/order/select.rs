//! Selects the run to restore, and removes duplicate events.

use std::collections::HashSet;

use super::topology::{cut_cycles, nearest};
use crate::json::JsonStr;
use crate::restore::error::RestoreErrorKind;
use crate::restore::options::RestoreOptions;
use crate::restore::read::event::{Event, Family, NO_SPAN, NO_TRACE, Phase, SpanIndex};
use crate::restore::read::span_id::display;
use crate::restore::read::trace::Trace;
use crate::restore::read::warnings::{Warnings, code};
use crate::snapshot::Anchor;

/// Keeps the events of one run, each once. Returns the traceId of the run.
pub(crate) fn select(
    trace: &mut Trace<'_>,
    options: &RestoreOptions,
    warnings: &mut Warnings,
) -> Result<String, RestoreErrorKind> {
    if trace.events.is_empty() {
        return Err(RestoreErrorKind::EmptyTrace);
    }
    let target = find_target(trace, options)?;
    let chosen = choose_trace(trace, options.trace_id.as_deref(), target, warnings)?;
    // The run of an event without a traceId is found by its spans.
    trace
        .events
        .retain(|event| event.trace == NO_TRACE || Some(event.trace) == chosen);
    drop_duplicates(trace, warnings);
    trace.spans.note_events(&trace.events);
    cut_cycles(&mut trace.spans, &trace.events, warnings);
    choose_run(trace, target, warnings);
    let id = chosen.and_then(|index| trace.ids.get(index as usize));
    Ok(id.map(|id| display(id)).unwrap_or_default())
}

/// The span to restore to. `None` for the end of the trace.
pub(crate) fn find_target(
    trace: &Trace<'_>,
    options: &RestoreOptions,
) -> Result<Option<SpanIndex>, RestoreErrorKind> {
    let Some(id) = options.span_id.as_deref() else {
        return Ok(None);
    };
    let span = trace.spans.find(JsonStr::from_plain(id).body());
    span.map_or_else(|| Err(not_found(id, options.anchor)), |span| Ok(Some(span)))
}

pub(crate) fn not_found(id: &str, anchor: Anchor) -> RestoreErrorKind {
    match anchor {
        Anchor::Before => RestoreErrorKind::StartNotFound(id.to_owned()),
        Anchor::After => RestoreErrorKind::EndNotFound(id.to_owned()),
    }
}

fn choose_trace(
    trace: &Trace<'_>,
    wanted: Option<&str>,
    target: Option<SpanIndex>,
    warnings: &mut Warnings,
) -> Result<Option<u32>, RestoreErrorKind> {
    let ids = &trace.ids;
    let names = |of: &[u32]| -> Vec<String> {
        of.iter()
            .filter_map(|index| ids.get(*index as usize))
            .map(|id| display(id))
            .collect()
    };
    let all: Vec<u32> = (0..).zip(ids).map(|(index, _)| index).collect();
    if let Some(wanted) = wanted {
        let body = JsonStr::from_plain(wanted);
        let found = all
            .iter()
            .copied()
            .find(|index| ids[*index as usize] == body.body());
        return match found {
            Some(index) => Ok(Some(index)),
            None => Err(RestoreErrorKind::TraceNotFound {
                wanted: wanted.to_owned(),
                found: names(&all),
            }),
        };
    }
    let candidates = match target {
        Some(target) if all.len() > 1 => {
            let mut of_target: Vec<u32> = trace
                .events
                .iter()
                .filter(|event| event.span == target)
                .map(|event| event.trace)
                .filter(|trace| *trace != NO_TRACE)
                .collect();
            of_target.sort_unstable();
            of_target.dedup();
            if of_target.is_empty() { all } else { of_target }
        }
        _ => all,
    };
    match candidates.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several if target.is_some() => Err(RestoreErrorKind::SeveralTraces(names(several))),
        several => {
            let newest = newest_trace(trace);
            let message = format!(
                "the trace contains events of {} runs ({}); {}, which started last, was restored; options.traceId selects another",
                several.len(),
                names(several).join(", "),
                names(&[newest]).join(", "),
            );
            warnings.add(code::SEVERAL_RUNS, None, None, message);
            Ok(Some(newest))
        }
    }
}

/// The trace that started last; of several with the same time, the one that appears last. A program that runs
/// again appends to its file and expects to restore its last run.
fn newest_trace(trace: &Trace<'_>) -> u32 {
    let mut starts = vec![f64::INFINITY; trace.ids.len()];
    for event in &trace.events {
        if let Some(start) = starts.get_mut(event.trace as usize) {
            // `min` ignores the NaN of an event without a time.
            *start = start.min(event.time);
        }
    }
    let started = |start: &f64| if start.is_finite() { *start } else { f64::MIN };
    let newest = (0..)
        .zip(&starts)
        .max_by(|(_, a), (_, b)| started(a).total_cmp(&started(b)));
    newest.map_or(NO_TRACE, |(index, _)| index)
}

/// Removes duplicates: of events with the same span and type, keeps the first.
fn drop_duplicates(trace: &mut Trace<'_>, warnings: &mut Warnings) {
    let mut seen = vec![0_u64; trace.spans.len()];
    let spans = &trace.spans;
    trace.events.retain(|event| {
        // A call may report the progress of its answer several times.
        let is_answer = event.kind.family == Family::Call && event.kind.phase == Phase::Single;
        if is_answer || event.kind.family == Family::Other {
            return true;
        }
        let bit = 1 << (event.kind.family as u32 * 3 + event.kind.phase as u32);
        let mask = &mut seen[event.span as usize];
        let is_new = *mask & bit == 0;
        *mask |= bit;
        if !is_new {
            let message = format!(
                "{} was delivered twice; the first one is used",
                event.kind.name()
            );
            warnings.add_at(code::DUPLICATE_EVENT, event, spans, message);
        }
        is_new
    });
}

/// Selects one of several runs with the same traceId, which programs can receive from outside: the run of the
/// target span, or the run that started last.
fn choose_run(trace: &mut Trace<'_>, target: Option<SpanIndex>, warnings: &mut Warnings) {
    let spans = &trace.spans;
    let is_run = |span: SpanIndex| spans.get(span).family == Family::Run;
    let mut starts: Vec<&Event> = trace
        .events
        .iter()
        .filter(|event| is_run(event.span))
        .collect();
    starts.sort_by(|one, other| one.time.total_cmp(&other.time));
    let mut seen = HashSet::new();
    let mut runs = starts
        .iter()
        .map(|event| event.span)
        .filter(|span| seen.insert(*span));
    runs.next();
    let Some(last) = runs.last() else {
        return;
    };
    let count = seen.len();
    let run_of = nearest(spans, is_run, |_| false);
    let chosen = target
        .map(|target| run_of[target as usize])
        .filter(|run| *run != NO_SPAN)
        .unwrap_or(last);
    let message = format!(
        "the trace contains {count} runs with the same traceId; the one of span {} was restored; options.spanId selects another",
        spans.display(chosen),
    );
    let span = &spans.get(chosen).id;
    warnings.add(code::SEVERAL_RUNS, None, Some(span), message);
    trace.events.retain(|event| {
        let run = run_of[event.span as usize];
        run == chosen || run == NO_SPAN
    });
    trace.spans.note_events(&trace.events);
}
