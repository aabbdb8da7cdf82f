//! Traces of this recorder. Their events have numbers and more fields, so that a restore is complete.

use std::sync::Arc;

use agent_rewind_core::model::{Call, Frame, Kind, Outcome, State};
use agent_rewind_core::snapshot::{Anchor, read_snapshot, write_snapshot};

use crate::support::{
    Log, call_ids, calls, codes, cut, frame, memory, memory_text, outputs, status,
};

const HASH: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn tool_fields(name: &str, number: u32, hash: &str) -> String {
    format!(
        r#""toolName":"{name}","callId":"m{number}","journalCallId":"root/agent:a:0/tool:{name}:{number}","contentHash":"{hash}","input":{{}}"#
    )
}

fn one_call(log: &Log) -> Arc<Call> {
    let snapshot = log.restore();
    let found = calls(&snapshot.root);
    assert_eq!(found.len(), 1, "{found:?}");
    Arc::clone(&found[0])
}

#[test]
fn a_tool_call_is_restored_at_the_moment_it_ends() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .event("tools:execute:start", "b", "a.g0", "");
    log.event("tool:call:start", "c0", "b", &tool_fields("x", 0, HASH));
    log.event("tool:call:start", "c1", "b", &tool_fields("x", 1, "h1"));
    log.event(
        "tool:call:end",
        "c1",
        "b",
        &format!(r#"{},"success":true,"output":{{"a":[1]}},"outputTypes":{{"/a/0":"bigint"}},"cache":false,"duration":1"#, tool_fields("x", 1, "h1")),
    );
    let snapshot = log.restore();
    let found = calls(&snapshot.root);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].outcome.clone(), found[0].end),
        (Outcome::Pending, None)
    );
    assert_eq!(found[0].hash.to_string(), HASH);
    assert_eq!(found[0].call_id.body(), "root/agent:a:0/tool:x:0");
    assert_eq!((found[1].start, found[1].end), (5, Some(6)));
    let Outcome::Output(value) = &found[1].outcome else {
        panic!("{:?}", found[1]);
    };
    assert_eq!(value.text.as_str(), r#"{"a":[1]}"#);
    assert_eq!(
        value
            .types
            .as_ref()
            .map(|types| types.as_str().to_owned())
            .as_deref(),
        Some(r#"{"/a/0":"bigint"}"#)
    );
}

#[test]
fn a_batch_restores_calls_with_lost_events_and_duplicates_no_call() {
    let row = |number: u32, span: &str, more: &str| {
        format!(
            r#"{{"callId":"m{number}","toolName":"x","input":{{}},"duration":1,"contentHash":"h{number}"{span},{more}}}"#
        )
    };
    let rows = [
        row(0, r#","spanId":"c0""#, r#""output":0,"success":true"#),
        row(1, r#","spanId":"c1""#, r#""output":1,"success":true"#),
        row(
            2,
            r#","spanId":"c2""#,
            r#""success":false,"error":{"name":"E","message":"m"}"#,
        ),
        row(3, r#","spanId":"c3""#, r#""success":true"#),
    ];
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .event("tools:execute:start", "b", "a.g0", "");
    log.event("tool:call:start", "c0", "b", &tool_fields("x", 0, "h0"));
    log.event("tool:call:start", "c1", "b", &tool_fields("x", 1, "h1"));
    log.event(
        "tool:call:end",
        "c0",
        "b",
        &format!(
            r#"{},"success":true,"output":"first""#,
            tool_fields("x", 0, "h0")
        ),
    );
    log.event(
        "tools:execute:end",
        "b",
        "a.g0",
        &format!(r#""success":true,"toolResults":[{}]"#, rows.join(",")),
    );
    let snapshot = log.restore();
    let found = calls(&snapshot.root);
    let told: Vec<String> = found
        .iter()
        .map(|call| {
            format!(
                "{} {} {}-{:?} {:?}",
                call.call_id, call.hash, call.start, call.end, call.outcome
            )
        })
        .collect();
    let wanted = [
        r#"root/agent:a:0/tool:x:2 h2 3-Some(7) Failure { error: {"name":"E","message":"m"}, stopped: false, handled: false }"#,
        r#"root/agent:a:0/tool:x:3 h3 3-Some(7) Output(Value { text: null, types: Some({"":"undefined"}) })"#,
        r#"root/agent:a:0/tool:x:0 h0 4-Some(6) Output(Value { text: "first", types: None })"#,
        r"root/agent:a:0/tool:x:1 h1 5-Some(7) Output(Value { text: 1, types: None })",
    ];
    // A call without a callId is numbered among the calls with the same name.
    let numbered = |text: &str| text.split_once(' ').map(|(_, rest)| rest.to_owned());
    assert_eq!(
        told.iter().map(|text| numbered(text)).collect::<Vec<_>>(),
        wanted.iter().map(|text| numbered(text)).collect::<Vec<_>>()
    );
    assert_eq!(found[2].call_id.body(), "root/agent:a:0/tool:x:0");
    assert_eq!(found[3].call_id.body(), "root/agent:a:0/tool:x:1");
}

#[test]
fn tools_outside_a_prompt_and_calls_of_other_kinds_are_restored() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.event("tool:call:start", "c", "a.g0", &tool_fields("x", 0, "h"));
    log.event(
        "tool:call:end",
        "c",
        "a.g0",
        &format!(r#"{},"success":true,"output":1"#, tool_fields("x", 0, "h")),
    );
    let fields =
        r#""kind":"http","name":"GET","callId":"root/agent:a:0/http:GET:0","contentHash":"h""#;
    log.event("call:start", "d", "a", fields);
    log.event(
        "call:end",
        "d",
        "a",
        &format!(r#"{fields},"success":true,"output":"body""#),
    );
    let fields =
        r#""kind":"prompt","name":"m","callId":"root/agent:a:0/prompt:m:0","contentHash":"h""#;
    log.event(
        "call:end",
        "e",
        "a.g0",
        &format!(r#"{fields},"success":true,"output":{{}},"meta":{{"durationMs":2}}"#),
    );
    let found = log.restore();
    let found = calls(&found.root);
    let kinds: Vec<&str> = found.iter().map(|call| call.kind.name()).collect();
    assert_eq!(kinds, ["tool", "http", "prompt"]);
    assert_eq!(found[2].kind, Kind::Prompt);
    assert_eq!(
        found[2]
            .data
            .meta
            .as_ref()
            .map(agent_rewind_core::json::JsonText::as_str),
        Some(r#"{"durationMs":2}"#)
    );
}

#[test]
fn a_value_that_could_not_be_recorded_is_a_tombstone() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.event(
        "tool:call:end",
        "c",
        "a.g0",
        &format!(
            r#"{},"success":true,"tombstone":"/f: a function""#,
            tool_fields("x", 0, "h")
        ),
    );
    assert!(
        matches!(&one_call(&log).outcome, Outcome::Tombstone(reason) if reason.body() == "/f: a function")
    );
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.event(
        "turn:end",
        "t",
        "a.g0",
        r#""success":true,"contentHash":"h","message":{},"tombstone":"why""#,
    );
    assert!(matches!(one_call(&log).outcome, Outcome::Tombstone(_)));
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.event(
        "turn:end",
        "t",
        "a.g0",
        r#""success":true,"contentHash":"h""#,
    );
    assert!(
        matches!(one_call(&log).outcome, Outcome::Tombstone(_)),
        "a prompt without an answer cannot be replayed"
    );
}

#[test]
fn a_turn_without_an_end_is_pending() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}").event(
        "turn:start",
        "t",
        "a.g0",
        &format!(r#""contentHash":"{HASH}","callId":"root/agent:a:0/prompt:m:0""#),
    );
    let call = one_call(&log);
    assert_eq!((&call.outcome, call.end), (&Outcome::Pending, None));
    assert_eq!(call.call_id.body(), "root/agent:a:0/prompt:m:0");
}

#[test]
fn a_generation_with_any_id_can_be_written_and_read() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.generation("a", 90_071_992_547_409_930, "{}", "{}");
    let restored = log.restore();
    assert_eq!(restored.root.generation.id, 90_071_992_547_409_930);
    let written = Arc::new(write_snapshot(&restored));
    let read = read_snapshot(&written).unwrap();
    assert_eq!(read.root.generation.id, 90_071_992_547_409_930);
}

#[test]
fn each_generation_has_its_own_memory_props_and_children() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", r#"{"n":0}"#);
    log.agent("h", "a.g0", "helper", "{}")
        .agent_end("h", "a.g0", "1")
        .turn("t0", "a.g0", "h0", "x");
    log.event(
        "agent:reborn",
        "r",
        "a.g0",
        r#""generationId":0,"newProps":{"n":1},"newPropsTypes":{"/n":"bigint"}"#,
    );
    log.generation_end("a", 0, "reborn", r#"{"k":1}"#);
    let reborn = log.restore();
    assert_eq!(reborn.root.generation.id, 1);
    assert!(!reborn.root.generation.has_records());
    let props = reborn.root.generation.props.as_ref().unwrap();
    assert_eq!(
        (props.text.as_str(), props.types.is_some()),
        (r#"{"n":1}"#, true)
    );
    assert_eq!(memory(&reborn.root), r#"{"k":1}"#);
    assert_eq!(reborn.root.earlier.len(), 1);

    log.generation("a", 1, r#"{"n":1}"#, r#"{"k":1,"first":0}"#);
    log.agent("h2", "a.g1", "helper", "{}")
        .turn("t1", "a.g1", "h1", "x");
    let snapshot = log.restore();
    let root = &snapshot.root;
    assert_eq!((root.generation.id, root.earlier.len()), (1, 1));
    assert_eq!(
        memory_text(root.generation.memory.as_ref().unwrap()),
        r#"{"k":1,"first":0}"#
    );
    assert_eq!(memory(root), r#"{"k":1,"first":0}"#);
    let first = &root.earlier[0];
    assert_eq!(
        first.props.as_ref().map(|props| props.text.as_str()),
        Some(r#"{"n":0}"#)
    );
    assert_eq!(memory_text(first.memory.as_ref().unwrap()), "{}");
    assert_eq!(first.calls.len(), 1);
    // Children are numbered per generation.
    assert_eq!(
        first.children[0].call_id.body(),
        "root/agent:a:0/agent:helper:0"
    );
    assert_eq!(
        root.generation.children[0].call_id.body(),
        "root/agent:a:0/agent:helper:0"
    );
    assert_eq!(status(&root.generation.children[0]), "running");

    log.generation_end("a", 1, "return", r#"{"k":2}"#).event(
        "agent:end",
        "a",
        "run",
        r#""success":true,"result":5"#,
    );
    let ended = log.restore();
    assert_eq!(memory(&ended.root), r#"{"k":2}"#);
    assert_eq!(status(&ended.root), "completed");
    assert_eq!(status(&ended.root.generation.children[0]), "failed");
}

#[test]
fn a_rebirth_closes_agents_that_were_still_running() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .agent("h", "a.g0", "helper", "{}")
        .generation_end("a", 0, "reborn", "{}");
    let snapshot = log.restore();
    assert_eq!(status(&snapshot.root.earlier[0].children[0]), "failed");
    assert_eq!(status(&snapshot.root), "running");
}

#[test]
fn an_agent_that_exceeds_the_limit_of_rebirths_stays_in_its_last_generation() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x")
        .generation_end("a", 0, "reborn", "{}");
    log.event(
        "agent:end",
        "a",
        "run",
        r#""success":false,"error":{"name":"MaxRebornsExceededError","message":"m"}"#,
    );
    let snapshot = log.restore();
    assert_eq!(
        (snapshot.root.generation.id, snapshot.root.earlier.len()),
        (0, 0)
    );
    assert_eq!(outputs(&snapshot.root, &Kind::Prompt), ["h"]);
}

#[test]
fn a_cut_between_a_rebirth_and_the_end_of_its_generation_is_before_the_rebirth() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x");
    log.event(
        "agent:reborn",
        "r",
        "a.g0",
        r#""generationId":0,"newProps":{"n":1}"#,
    )
    .generation_end("a", 0, "reborn", "{}");
    let snapshot = cut(&log.text(), "r", Anchor::After);
    assert_eq!(snapshot.root.generation.id, 0);
    assert_eq!(outputs(&snapshot.root, &Kind::Prompt), ["h"]);
    let before = cut(&log.text(), "r", Anchor::Before);
    assert_eq!(calls(&before.root).len(), 1);
}

#[test]
fn values_are_restored_with_their_types() {
    let mut log = Log::own();
    log.run().event("agent:start", "a", "run", &format!(r#""agentId":"a","props":{{"d":"2020"}},"propsTypes":{{"/d":"date"}},"inputHash":"{HASH}""#));
    log.event(
        "generation:start",
        "a.g0",
        "a",
        r#""generationId":0,"props":{"d":"2020"},"propsTypes":{"/d":"date"},"memory":{}"#,
    );
    log.event(
        "agent:end",
        "a",
        "run",
        r#""success":true,"result":"1","resultTypes":{"":"bigint"}"#,
    );
    let snapshot = log.restore();
    assert_eq!(
        snapshot
            .root
            .input_hash
            .map(|hash| hash.to_string())
            .as_deref(),
        Some(HASH)
    );
    assert!(
        snapshot
            .root
            .generation
            .props
            .as_ref()
            .unwrap()
            .types
            .is_some()
    );
    assert!(matches!(&snapshot.root.state, State::Completed(value) if value.types.is_some()));
}

#[test]
fn results_without_a_json_value_are_restored() {
    let end = |fields: &str| {
        let mut log = Log::own();
        log.run()
            .agent("a", "run", "a", "{}")
            .generation_end("a", 0, "return", "{}")
            .event("agent:end", "a", "run", fields);
        match &log.restore().root.state {
            State::Completed(value) => format!("{value:?}"),
            State::Failed(error) => format!("{error:?}"),
            State::Running => "running".to_owned(),
        }
    };
    assert!(end(r#""success":true"#).contains("undefined"));
    let unrecorded = end(r#""success":true,"tombstone":"/x: a function""#);
    assert!(unrecorded.starts_with("Value { text: null, types: Some"));
    assert!(unrecorded.contains("tombstone"));
    assert_eq!(end(r#""success":false"#), "None");
    assert!(
        end(r#""success":false,"error":"text""#).contains(r#"{"name":"Error","message":"text"}"#)
    );
    assert!(end(r#""error":{"name":"E","message":"m"}"#).contains("\"E\""));
}

fn failed_call(frame: &Frame, index: usize) -> bool {
    match calls(frame)[index].outcome {
        Outcome::Failure { stopped, .. } => stopped,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_failure_that_ended_a_frame_is_marked_on_every_level() {
    let error =
        |message: &str| format!(r#"{{"name":"E","message":"{message}","stack":"differs"}}"#);
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .agent("b", "a.g0", "b", "{}");
    for (number, message) in [(0, "same"), (1, "other"), (2, "same"), (3, "later")] {
        let fields = format!(
            r#"{},"success":false,"error":{}"#,
            tool_fields("x", number, "h"),
            error(message)
        );
        log.event("tool:call:end", &format!("c{number}"), "b.g0", &fields);
    }
    let wrapped = format!(
        r#"{{"name":"Wrapper","message":"w","cause":{}}}"#,
        error("same")
    );
    log.agent_fails("b", "a.g0", &wrapped)
        .agent_fails("a", "run", &wrapped);
    log.run_end(&format!(r#""success":false,"error":{wrapped}"#));
    let snapshot = log.restore();
    let inner = frame(&snapshot, "root/agent:a:0/agent:b:0");
    assert_eq!(
        [0, 1, 2, 3].map(|index| failed_call(&inner, index)),
        [false, false, true, false]
    );
    assert!(inner.stopped);
    assert!(snapshot.root.stopped, "the run ended with it too");
}

#[test]
fn a_failure_that_was_handled_is_not_marked() {
    let mut log = Log::own();
    log.run().agent("a", "run", "a", "{}");
    log.event(
        "tool:call:end",
        "c",
        "a.g0",
        &format!(
            r#"{},"success":false,"error":{{"name":"E","message":"m"}}"#,
            tool_fields("x", 0, "h")
        ),
    );
    log.agent_fails("a", "run", r#"{"name":"E","message":"another"}"#);
    assert!(!failed_call(&log.restore().root, 0));
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .agent("b", "a.g0", "b", "{}")
        .agent_fails("b", "a.g0", r#"{"name":"E","message":"m"}"#);
    log.agent_end("a", "run", "1");
    assert!(!frame(&log.restore(), "root/agent:a:0/agent:b:0").stopped);
}

#[test]
fn usage_is_added_to_every_frame_above() {
    let delta = |tokens: u32| {
        format!(
            r#""delta":{{"promptTokens":{tokens},"completionTokens":0,"totalTokens":{tokens},"callCount":1,"costs":{{"usd":2}},"items":[{{"type":"model","name":"m","costs":{{"usd":2}},"tokens":{{"prompt":{tokens},"completion":0,"total":{tokens}}}}}]}},"own":{{"items":7}},"aggregate":0"#
        )
    };
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .agent("b", "a.g0", "b", "{}")
        .agent("b2", "a.g0", "b", "{}");
    log.turn("t", "b.g0", "h", "x")
        .event("budget:update", "u1", "t", &delta(10))
        .event("budget:update", "u2", "b2.g0", &delta(5));
    log.event("budget:update", "u3", "a.g0", &delta(1))
        .agent("z", "run", "z", "{}")
        .event("budget:update", "u4", "z", &delta(100));
    let snapshot = log.restore();
    let totals = |call_id: &str| {
        let frame = frame(&snapshot, call_id);
        [&frame.budget.own, &frame.budget.aggregate].map(|usage| usage.total_tokens as u64)
    };
    assert_eq!(totals("root"), [0, 116]);
    assert_eq!(totals("root/agent:a:0"), [1, 16]);
    assert_eq!(totals("root/agent:a:0/agent:b:0"), [10, 10]);
    assert_eq!(totals("root/agent:a:0/agent:b:1"), [5, 5]);
    assert_eq!(snapshot.root.budget.aggregate.items.len(), 1);
}

#[test]
fn a_continued_run_includes_its_earlier_usage() {
    let usage = |tokens: u32| {
        format!(
            r#"{{"costs":{{}},"promptTokens":0,"completionTokens":0,"totalTokens":{tokens},"callCount":1,"items":[]}}"#
        )
    };
    let state = |own: u32, aggregate: u32| {
        format!(
            r#""budgetState":{{"own":{},"aggregate":{}}}"#,
            usage(own),
            usage(aggregate)
        )
    };
    let mut log = Log::own();
    log.event(
        "runWith:start",
        "run",
        "",
        &format!(
            r#""restoration":{{"isRestored":true}},"memory":{{"m":1}},{}"#,
            state(0, 300)
        ),
    );
    log.event(
        "agent:start",
        "a",
        "run",
        &format!(r#""agentId":"a","props":{{}},{}"#, state(100, 300)),
    );
    log.event(
        "agent:start",
        "b",
        "a",
        &format!(r#""agentId":"b","props":{{}},{}"#, state(200, 200)),
    );
    log.event(
        "budget:update",
        "u",
        "b",
        &format!(r#""delta":{}"#, usage(5)),
    );
    log.event("agent:start", "c", "run", r#""agentId":"c","props":{}"#);
    let snapshot = log.restore();
    let totals = |call_id: &str| {
        let frame = frame(&snapshot, call_id);
        [&frame.budget.own, &frame.budget.aggregate].map(|usage| usage.total_tokens as u64)
    };
    assert_eq!(totals("root"), [0, 305]);
    assert_eq!(totals("root/agent:a:0"), [100, 305]);
    assert_eq!(totals("root/agent:a:0/agent:b:0"), [205, 205]);
    assert_eq!(totals("root/agent:c:0"), [0, 0]);
    assert_eq!(
        memory_text(snapshot.root.generation.memory.as_ref().unwrap()),
        r#"{"m":1}"#
    );
}

#[test]
fn call_ids_of_events_are_used_if_they_are_below_the_parent() {
    let mut log = Log::own();
    log.run().event(
        "agent:start",
        "a",
        "run",
        r#""agentId":"a","callId":"root/agent:a:3","props":{}"#,
    );
    log.event(
        "agent:start",
        "b",
        "a",
        r#""agentId":"b","callId":"elsewhere/agent:b:3","props":{}"#,
    );
    let snapshot = log.restore();
    assert_eq!(
        call_ids(&snapshot),
        ["root/agent:a:3", "root/agent:a:3/agent:b:0"]
    );
}

#[test]
fn normalization_rules_are_restored() {
    let mut log = Log::own();
    log.event(
        "runWith:start",
        "run",
        "",
        r#""normalize":[{"id":"x","definition":"d"}],"props":{"p":1}"#,
    );
    log.agent("a", "run", "a", "{}")
        .agent("b", "run", "b", "{}");
    let snapshot = log.restore();
    assert_eq!(
        snapshot
            .normalize
            .as_ref()
            .map(agent_rewind_core::json::JsonText::as_str),
        Some(r#"[{"id":"x","definition":"d"}]"#)
    );
    assert_eq!(
        snapshot
            .root
            .generation
            .props
            .as_ref()
            .map(|props| props.text.as_str()),
        Some(r#"{"p":1}"#)
    );
    assert_eq!(codes(&snapshot), [""; 0]);
}
