//! Reads the events out of a text: a long one in parts, at the same time.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use memchr::memchr;

use super::Origin;
use super::fields::Source;
use super::reader::{LineFault, Part, read_array, read_lines};
use super::trace::Trace;
use super::warnings::Warnings;
use crate::error::{Fault, RestoreErrorKind};

/// A part of a text is worth a thread from this size on.
const PART_BYTES: usize = 1 << 22;
const MAX_PARTS: usize = 4;

pub(super) fn read<'t>(
    source: Source<'t>,
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
        let count = (text.len() / PART_BYTES)
            .min(MAX_PARTS)
            .min(thread::available_parallelism().map_or(1, NonZero::get));
        read_parts(source, &ranges(text, start, count.max(1)), origin)
    };
    join(source, parts, warnings)
}

fn join<'t>(
    source: Source<'t>,
    parts: Vec<Part<'t>>,
    warnings: &mut Warnings,
) -> Result<Trace<'t>, RestoreErrorKind> {
    let mut lines = 0;
    let mut whole: Option<Trace<'t>> = None;
    for part in parts {
        warnings.append(part.warnings, lines);
        if let Some((fault, number)) = part.fault {
            return Err(invalid_event(fault, lines + number));
        }
        match &mut whole {
            Some(whole) => whole.append(part.trace, lines),
            None => whole = Some(part.trace),
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

/// Cuts the text from `start` on into so many parts of whole lines, of about the same size.
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

fn read_parts<'t>(source: Source<'t>, ranges: &[Range<usize>], origin: Origin) -> Vec<Part<'t>> {
    let read = |range: &Range<usize>| read_lines(source, range.clone(), origin);
    let Some((first, others)) = ranges.split_first() else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let spawn = |range| {
            thread::Builder::new()
                .spawn_scoped(scope, move || read(range))
                .ok()
        };
        let threads: Vec<_> = others.iter().map(|range| (range, spawn(range))).collect();
        let mut parts = vec![read(first)];
        for (range, thread) in threads {
            // Where there is no thread to be had, this one does its work.
            let part = thread.and_then(|thread| thread.join().ok());
            parts.push(part.unwrap_or_else(|| read(range)));
        }
        parts
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use super::*;
    use crate::restore::event::NO_SPAN;

    fn described(text: &str, count: usize, origin: Origin) -> Result<String, RestoreErrorKind> {
        let text = Arc::new(text.to_owned());
        let source = Source(&text);
        let mut warnings = Warnings::default();
        let parts = read_parts(source, &ranges(&text, 0, count), origin);
        let trace = join(source, parts, &mut warnings)?;
        let mut out = String::new();
        for event in &trace.events {
            let name = |span| {
                if span == NO_SPAN {
                    String::new()
                } else {
                    trace.spans.display(span)
                }
            };
            let fields: Vec<&str> = event
                .fields(source, &trace.fields)
                .list
                .iter()
                .map(|kept| source.slice(&kept.range))
                .collect();
            let id = event.trace.map(|id| &trace.ids[id as usize]);
            writeln!(
                out,
                "{} {:?} {} {} {id:?} {fields:?}",
                event.line,
                event.kind,
                name(event.span),
                name(event.parent)
            )
            .unwrap();
        }
        for warning in warnings.into_list() {
            writeln!(out, "{warning:?}").unwrap();
        }
        Ok(out)
    }

    #[test]
    fn a_text_read_in_parts_is_the_same() {
        let event = |number: usize| {
            format!(
                r#"{{"type":"agent:start","agentId":"a{number}","timestamp":{number},"trace":{{"traceId":"t{}","spanId":"s{number}","parentSpanId":"s{}"}},"props":{number}}}"#,
                number % 3,
                number / 2,
            )
        };
        let mut lines: Vec<String> = (0..40).map(event).collect();
        let whole = described(&lines.join("\n"), 1, Origin::Events).unwrap();
        for count in 2..9 {
            assert_eq!(
                described(&lines.join("\n"), count, Origin::Events).unwrap(),
                whole
            );
        }
        lines.insert(3, "rubbish".to_owned());
        lines.insert(20, String::new());
        lines.insert(30, r#"{"type":"gap","count":3}"#.to_owned());
        lines.push("{".to_owned());
        let text = lines.join("\n");
        let whole = described(&text, 1, Origin::Lines).unwrap();
        let fault = described(&text, 1, Origin::Events).unwrap_err();
        assert!(fault.to_string().starts_with("events.3: "), "{fault}");
        let late = text.replacen("rubbish", &event(99), 1);
        let late_fault = described(&late, 1, Origin::Events).unwrap_err();
        assert!(
            late_fault.to_string().starts_with("events.20: "),
            "{late_fault}"
        );
        for count in 2..9 {
            assert_eq!(described(&text, count, Origin::Lines).unwrap(), whole);
            assert_eq!(described(&text, count, Origin::Events).unwrap_err(), fault);
            assert_eq!(
                described(&late, count, Origin::Events).unwrap_err(),
                late_fault
            );
        }
    }

    #[test]
    fn parts_are_whole_lines() {
        for text in [
            "",
            "\n",
            "a",
            "a\nbb\n\nccc\ndddd",
            "a\nbb\nccc\n",
            "aaaaaaaaaaaaaaaaaaaa\nb\n",
            "é\né\né\n",
        ] {
            for count in 1..6 {
                let ranges = ranges(text, 0, count);
                let joined: String = ranges.iter().map(|range| &text[range.clone()]).collect();
                assert_eq!(joined, text, "{count}");
                for range in &ranges[..count - 1] {
                    assert!(
                        range.is_empty()
                            || text[..range.end].ends_with('\n')
                            || range.end == text.len()
                    );
                }
            }
        }
    }
}
