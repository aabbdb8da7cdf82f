//! Reads the events of a text. Several threads read a long text in parts.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use memchr::memchr;

use super::fields::TraceText;
use super::lines::{LineFault, Part, read_array, read_lines};
use super::trace::Trace;
use super::warnings::Warnings;
use crate::restore::error::RestoreErrorKind;
use crate::restore::options::Origin;
use crate::util::Fault;

/// A long text is split into parts of this size. Parts are smaller than the share of a thread, because
/// some take longer than others.
const PART_BYTES: usize = 1 << 20;
const MAX_THREADS: usize = 4;

pub(crate) fn read<'t>(
    source: TraceText<'t>,
    origin: Origin,
    warnings: &mut Warnings,
) -> Result<Trace<'t>, RestoreErrorKind> {
    let text = source.text();
    let start = if text.starts_with('\u{FEFF}') {
        '\u{FEFF}'.len_utf8()
    } else {
        0
    };
    let parts = if origin == Origin::Lines && text[start..].trim_ascii_start().starts_with('[') {
        vec![read_array(source, start, origin)]
    } else {
        let ranges = ranges(text, start, (text.len() / PART_BYTES).max(1));
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        read_parts(source, &ranges, origin, cores.min(MAX_THREADS))
    };
    join(source, parts, warnings)
}

fn join<'t>(
    source: TraceText<'t>,
    parts: Vec<Part<'t>>,
    warnings: &mut Warnings,
) -> Result<Trace<'t>, RestoreErrorKind> {
    let mut whole: Option<Trace<'t>> = None;
    let mut lines = 0;
    let mut parts = parts.into_iter();
    while let Some(part) = parts.next() {
        warnings.append(part.warnings, lines);
        if let Some((fault, number)) = part.fault {
            return Err(invalid_event(fault, lines + number));
        }
        if let Some(whole) = &mut whole {
            whole.append(part.trace, lines);
        } else {
            let whole = whole.insert(part.trace);
            whole.reserve_for(parts.as_slice().iter().map(|part| &part.trace));
        }
        lines += part.lines;
    }
    Ok(whole.unwrap_or_else(|| Trace::with_capacity(source, 0)))
}

fn invalid_event(fault: LineFault, number: u32) -> RestoreErrorKind {
    let LineFault {
        path,
        expected,
        received,
    } = fault;
    RestoreErrorKind::InvalidEvent(Fault {
        path: format!("events.{}{path}", number - 1),
        message: format!("expected {expected}, received {received}"),
    })
}

/// Splits the text after `start` into `count` parts of whole lines and about equal size.
fn ranges(text: &str, start: usize, count: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(count);
    let mut from = start;
    for part in 1..=count {
        let about = start + (text.len() - start) / count * part;
        let rest = text.as_bytes().get(about.max(from)..).unwrap_or_default();
        let end = match memchr(b'\n', rest) {
            Some(length) if part < count => text.len() - rest.len() + length + 1,
            _ => text.len(),
        };
        ranges.push(from..end);
        from = end;
    }
    ranges
}

/// Reads the parts with `threads` threads, including this one.
fn read_parts<'t>(
    source: TraceText<'t>,
    ranges: &[Range<usize>],
    origin: Origin,
    threads: usize,
) -> Vec<Part<'t>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, range)) = take(&next, ranges) {
            done.push((index, read_lines(source, range.clone(), origin)));
        }
        done
    };
    let mut parts: Vec<Option<Part<'t>>> = ranges.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let others = 1..threads.min(ranges.len());
        // If no thread can be created, this one does all the work.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = others.filter_map(spawn).collect();
        let done = work();
        let by_others = others
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .flatten();
        for (index, part) in done.into_iter().chain(by_others) {
            parts[index] = Some(part);
        }
    });
    let read = |(index, part): (usize, Option<Part<'t>>)| {
        part.unwrap_or_else(|| read_lines(source, ranges[index].clone(), origin))
    };
    parts.into_iter().enumerate().map(read).collect()
}

fn take<'r>(next: &AtomicUsize, ranges: &'r [Range<usize>]) -> Option<(usize, &'r Range<usize>)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, ranges.get(index)?))
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/text.rs"]
mod tests;
