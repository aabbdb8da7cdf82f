//! Errors of traces that cannot be restored.

use std::sync::Arc;

use agent_rewind_core::restore::{EventTable, NO_NAME, Origin, restore, restore_table};
use agent_rewind_core::snapshot::Anchor;

use crate::support::{Log, at, call_ids, codes, options, trace_of, try_lines};

fn error_of(text: &str, options: &agent_rewind_core::restore::RestoreOptions) -> String {
    let restored = restore(Arc::new(text.to_owned()), Origin::Lines, options);
    restored
        .map(|snapshot| call_ids(&snapshot))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_trace_without_events_is_an_error() {
    for text in [
        "",
        "\n\n \r\n",
        "\u{FEFF}",
        "[]",
        " [ ] ",
        "not an event\n",
        "{}\n",
        r#"{"type":"gap","count":3,"schemaVersion":1}"#,
    ] {
        assert_eq!(
            error_of(text, &options()),
            "Restore failed: Trace is empty.",
            "{text:?}"
        );
    }
}

#[test]
fn a_missing_target_span_is_an_error() {
    let text = trace_of("a-single-turn");
    assert_eq!(
        error_of(&text, &at("nowhere", Anchor::Before)),
        r#"Restore failed: Target span "nowhere" START event not found in trace."#
    );
    assert_eq!(
        error_of(&text, &at("nowhere", Anchor::After)),
        r#"Restore failed: Target span "nowhere" END event not found in trace."#
    );
    let mut log = Log::old();
    log.run().agent("a", "run", "a", "{}");
    log.event("agent:end", "b", "a.g0", r#""agentId":"b","success":true"#);
    assert!(error_of(&log.text(), &at("a", Anchor::After)).contains("END event not found"));
    assert!(error_of(&log.text(), &at("b", Anchor::Before)).contains("START event not found"));
    // It occurs only as a parent.
    log.agent("c", "x", "c", "{}");
    assert!(error_of(&log.text(), &at("x", Anchor::After)).contains("END event not found"));
}

#[test]
fn a_cut_before_the_first_frame_is_an_error() {
    let mut log = Log::old();
    log.agent("a", "", "a", "{}");
    let text = log.text();
    assert_eq!(
        error_of(&text, &at("a", Anchor::Before)),
        "Restore failed: START event is at the beginning of trace, cannot restore before it."
    );
    let text = trace_of("a-single-turn");
    assert_eq!(
        error_of(&text, &at("3676658afe5877fc", Anchor::Before)),
        "Restore failed: Root agent frame not created."
    );
    let only_the_run = text.lines().next().unwrap();
    assert_eq!(
        error_of(only_the_run, &options()),
        "Restore failed: Root agent frame not created."
    );
}

#[test]
fn a_single_event_is_start_and_end_of_its_span() {
    let mut log = Log::old();
    log.run().agent("a", "run", "a", "{}").event(
        "budget:update",
        "u",
        "a.g0",
        r#""delta":{"totalTokens":5,"items":[]}"#,
    );
    log.event("sys:log", "l", "a.g0", "")
        .event("sys:log", "l", "a.g0", "");
    let total = |span: &str, anchor| {
        try_lines(&log.text(), &at(span, anchor))
            .unwrap()
            .root
            .budget
            .own
            .total_tokens
    };
    assert_eq!(total("u", Anchor::Before).to_bits(), 0.0_f64.to_bits());
    assert_eq!(total("u", Anchor::After).to_bits(), 5.0_f64.to_bits());
    assert_eq!(total("l", Anchor::Before).to_bits(), 5.0_f64.to_bits());
}

#[test]
fn an_invalid_entry_of_a_list_is_an_error_with_its_path() {
    let good = r#"{"type":"agent:start","trace":{"traceId":"t","spanId":"a","parentSpanId":""},"agentId":"a"}"#;
    let fault = |text: String| {
        let restored = restore(Arc::new(text), Origin::Events, &options());
        restored
            .map(|snapshot| call_ids(&snapshot))
            .unwrap_err()
            .to_string()
    };
    for (line, wanted) in [
        ("null", "events.1: expected an object, received null"),
        ("[1]", "events.1: expected an object, received array"),
        ("\"x\"", "events.1: expected an object, received string"),
        ("12", "events.1: expected an object, received number"),
        ("", "events.1: expected an object, received nothing"),
        ("{}", "events.1.type: expected a string, received undefined"),
        (
            r#"{"type":7}"#,
            "events.1.type: expected a string, received number",
        ),
        (
            r#"{"type":"x"}"#,
            "events.1.trace: expected an object, received undefined",
        ),
        (
            r#"{"type":"x","trace":null}"#,
            "events.1.trace: expected an object, received null",
        ),
        (
            r#"{"type":"x","trace":{}}"#,
            "events.1.trace.spanId: expected a string, received undefined",
        ),
        (
            r#"{"type":"x","trace":{"spanId":5}}"#,
            "events.1.trace.spanId: expected a string, received number",
        ),
    ] {
        let wanted = format!("Restore failed: {wanted}");
        let lines = format!("{good}\n{line}\n{good}");
        assert_eq!(fault(lines), wanted, "{line}");
    }
    let not_json = "Restore failed: events.1: expected an object, received text that is not JSON (";
    let cut = r#"{"type":"x""#;
    for text in [
        format!("{good}\n{cut}\n{good}"),
        format!("{good}\n{cut}"),
        format!("{good}\n{{"),
    ] {
        assert!(fault(text.clone()).starts_with(not_json), "{text}");
    }
    let restored = restore(Arc::new(good.to_owned()), Origin::Events, &options()).unwrap();
    assert_eq!(call_ids(&restored), ["root/agent:a:0"]);
}

#[test]
fn a_json_array_of_events_is_a_trace() {
    let text = trace_of("d-parallel-5");
    let whole = crate::support::lines(&text);
    let array = format!("\u{FEFF} [\n{}\n]\n", text.trim_end().replace('\n', ",\n"));
    assert_eq!(
        crate::support::shape(&crate::support::lines(&array)),
        crate::support::shape(&whole)
    );
    let broken = &array[..array.len() - 100];
    let snapshot = crate::support::lines(broken);
    assert_eq!(codes(&snapshot), ["invalid-line"]);
    assert_eq!(snapshot.warnings[0].line, Some(109));
    let odd = array.replacen("[\n", "[\n null, 7, {\"type\":\"x\"},\n", 1);
    let snapshot = crate::support::lines(&odd);
    assert_eq!(codes(&snapshot), ["invalid-line"; 3]);
    assert_eq!(call_ids(&snapshot), call_ids(&whole));
}

#[test]
fn an_inconsistent_table_is_an_error() {
    let empty = EventTable {
        heads: &[0, 0, NO_NAME, NO_NAME, 0],
        numbers: &[1.0, 0.0],
        types: r#"["agent:start"]"#,
        spans: r#"["s"]"#,
        traces: "[]",
    };
    let restored = |table: EventTable<'_>, values: &str| {
        restore_table(&Arc::new(values.to_owned()), table, &options()).map(|snapshot| snapshot.root)
    };
    assert!(restored(empty, "").is_ok());
    for heads in [
        [1, 0, NO_NAME, NO_NAME, 0],
        [0, 1, NO_NAME, NO_NAME, 0],
        [0, 0, NO_NAME, NO_NAME, 1],
        [0, 0, NO_NAME, NO_NAME, 1 << 31],
    ] {
        let table = EventTable {
            heads: &heads,
            ..empty
        };
        let error = restored(table, "[]").unwrap_err();
        assert!(error.to_string().contains("events: "), "{error}");
    }
    for text in ["", "[1]", r#"["s""#, "{}"] {
        let error = restored(
            EventTable {
                spans: text,
                ..empty
            },
            "",
        );
        assert!(error.is_err(), "{text}");
    }
    // Each event needs an entry in both columns.
    let none = EventTable {
        numbers: &[],
        ..empty
    };
    assert!(restored(none, "").is_err());
}
