use std::fmt::Write;
use std::sync::Arc;

use super::*;
use crate::restore::read::event::NO_SPAN;

fn described(text: &str, count: usize, origin: Origin) -> Result<String, RestoreErrorKind> {
    let text = Arc::new(text.to_owned());
    let source = TraceText::shared(&text);
    let mut warnings = Warnings::default();
    let parts = read_parts(source, &ranges(&text, 0, count), origin, 1 + count % 3);
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
        let id = trace.ids.get(event.trace as usize);
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
fn reading_in_parts_gives_the_same_events() {
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
fn parts_consist_of_whole_lines() {
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
