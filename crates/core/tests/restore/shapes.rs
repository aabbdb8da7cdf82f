//! Trees of extreme shapes need no stack. Exceeding a limit is a typed error.

use std::fmt::Write;

use agent_rewind_core::restore::RestoreErrorKind;
use agent_rewind_core::util::limits::MAX_FRAME_DEPTH;

use crate::support::{calls, codes, frames, lines, options, status, try_lines};

fn event(out: &mut String, kind: &str, span: &str, parent: &str, fields: &str) {
    let time = out.len();
    writeln!(
        out,
        r#"{{"type":"{kind}","agentId":"a","schemaVersion":1,"timestamp":{time},"trace":{{"traceId":"t","spanId":"{span}","parentSpanId":"{parent}"}}{fields}}}"#
    )
    .unwrap();
}

/// A trace of nested agents.
fn chain(depth: usize) -> String {
    let mut text = String::new();
    event(&mut text, "runWith:start", "run", "", "");
    let mut parent = "run".to_owned();
    for level in 0..depth {
        let span = format!("a{level}");
        event(&mut text, "agent:start", &span, &parent, r#","props":{}"#);
        parent = format!("g{level}");
        event(
            &mut text,
            "generation:start",
            &parent,
            &span,
            r#","generationId":0,"props":{}"#,
        );
    }
    text
}

#[test]
fn a_thousand_nested_agents_are_the_limit() {
    let snapshot = lines(&chain(MAX_FRAME_DEPTH));
    let found = frames(&snapshot);
    assert_eq!(found.len(), MAX_FRAME_DEPTH);
    let deepest = &found[MAX_FRAME_DEPTH - 1].0;
    assert_eq!(
        deepest.call_id.body().matches("/agent:a:0").count(),
        MAX_FRAME_DEPTH
    );
    let error = try_lines(&chain(MAX_FRAME_DEPTH + 1), &options()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"agent "a" (span a1000): frames are nested more than 1000 levels deep"#
    );
    assert!(matches!(
        error,
        RestoreErrorKind::FramesTooDeep {
            limit: MAX_FRAME_DEPTH,
            ..
        }
    ));
}

#[test]
fn the_frame_of_the_run_counts_as_a_level() {
    let mut text = chain(MAX_FRAME_DEPTH);
    event(&mut text, "agent:start", "beside", "run", "");
    assert!(matches!(
        try_lines(&text, &options()),
        Err(RestoreErrorKind::FramesTooDeep { .. })
    ));
    let mut text = chain(MAX_FRAME_DEPTH - 1);
    event(&mut text, "agent:start", "beside", "run", "");
    assert_eq!(frames(&lines(&text)).len(), MAX_FRAME_DEPTH + 1);
}

#[test]
fn a_deep_chain_of_other_spans_is_restored() {
    let mut text = String::new();
    event(&mut text, "runWith:start", "run", "", "");
    event(&mut text, "agent:start", "a", "run", "");
    let mut parent = "a".to_owned();
    for level in 0..100_000 {
        let span = format!("s{level}");
        event(&mut text, "custom:span:start", &span, &parent, "");
        parent = span;
    }
    event(
        &mut text,
        "turn:end",
        "t",
        &parent,
        r#","success":true,"message":{},"contentHash":"h""#,
    );
    let snapshot = lines(&text);
    assert_eq!(calls(&snapshot.root).len(), 1);
    assert_eq!(codes(&snapshot), ["missing-start"]);
}

#[test]
fn many_parallel_agents_are_restored() {
    let count = 100_000;
    let mut text = String::new();
    event(&mut text, "runWith:start", "run", "", "");
    event(&mut text, "agent:start", "p", "run", "");
    for index in 0..count {
        event(&mut text, "agent:start", &format!("a{index}"), "p", "");
    }
    for index in (0..count).rev() {
        event(
            &mut text,
            "agent:end",
            &format!("a{index}"),
            "p",
            r#","success":true,"result":1"#,
        );
    }
    let snapshot = lines(&text);
    let children = &snapshot.root.generation.children;
    assert_eq!(children.len(), count);
    assert!(children.iter().all(|child| status(child) == "completed"));
    let last = children.get(count - 1).unwrap();
    assert_eq!(last.call_id.body(), "root/agent:a:0/agent:a:99999");
    assert_eq!(last.start, Some(100_001));
}

#[test]
fn many_calls_in_one_agent_are_restored() {
    let count = 50_000;
    let mut text = String::new();
    event(&mut text, "agent:start", "a", "", "");
    for index in 0..count {
        let fields = format!(
            r#","success":true,"message":{index},"contentHash":"h{}""#,
            index % 10
        );
        event(&mut text, "turn:start", &format!("t{index}"), "a", "");
        event(&mut text, "turn:end", &format!("t{index}"), "a", &fields);
    }
    let snapshot = lines(&text);
    let found = calls(&snapshot.root);
    assert_eq!(found.len(), count);
    assert_eq!(
        found[count - 1].call_id.body(),
        format!("root/agent:a:0/prompt:a:{}", count - 1)
    );
}

#[test]
fn many_usage_items_and_generations_are_restored() {
    let mut text = String::new();
    event(&mut text, "agent:start", "a", "", "");
    for index in 0..5_000 {
        let item = format!(
            r#"{{"type":"tool","name":"n{index}","costs":{{"u{index}":1}},"quantity":1,"unit":"c"}}"#
        );
        let delta = format!(r#","delta":{{"costs":{{"u{index}":1}},"items":[{item}]}}"#);
        event(
            &mut text,
            "budget:update",
            &format!("u{index}"),
            "a",
            &delta,
        );
        event(
            &mut text,
            "generation:start",
            &format!("g{index}"),
            "a",
            &format!(r#","generationId":{index},"_seq":{index}"#),
        );
        event(
            &mut text,
            "generation:end",
            &format!("g{index}"),
            "a",
            r#","endReason":"reborn","memory":{}"#,
        );
    }
    let snapshot = lines(&text);
    assert_eq!(snapshot.root.budget.own.items.len(), 5_000);
    assert_eq!(snapshot.root.earlier.len(), 5_000);
}
