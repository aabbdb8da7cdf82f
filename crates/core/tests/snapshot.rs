//! Snapshots as text: writing and reading are inverse, and every fault is reported with its path.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent_rewind_core::json::JsonStr;
use agent_rewind_core::model::{Outcome, State};
use agent_rewind_core::snapshot::{Snapshot, SnapshotError, read_snapshot, write_snapshot};
use serde_json::{Value, json};

fn read(text: &str) -> Result<Snapshot, SnapshotError> {
    read_snapshot(&Arc::new(text.to_owned()))
}

fn usage() -> Value {
    json!({"costs": {}, "promptTokens": 0, "completionTokens": 0, "totalTokens": 0, "callCount": 0, "items": []})
}

fn frame(call_id: &str, agent_id: &str) -> Value {
    json!({
        "callId": call_id, "agentId": agent_id, "memory": {}, "journal": {"prompt": {}, "tool": {}},
        "children": {}, "state": {"status": "running"}, "budgetState": {"own": usage(), "aggregate": usage()},
    })
}

fn snapshot(root: Value) -> Value {
    json!({"processId": "p", "timestamp": 1, "root": root, "provenance": {"traceId": "t"}, "version": 1})
}

fn faults(value: &Value) -> Vec<(String, String)> {
    match read(&value.to_string()) {
        Err(SnapshotError::Invalid(faults)) => faults
            .0
            .into_iter()
            .map(|fault| (fault.path, fault.message))
            .collect(),
        other => panic!("expected faults, got {other:?}"),
    }
}

#[test]
fn dumps_of_other_recorders_are_read_and_written_without_loss() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/traces");
    let mut read_files = 0;
    for scenario in fs::read_dir(traces).unwrap() {
        for name in ["snapshot-mid.json", "snapshot-end.json"] {
            let text = fs::read_to_string(scenario.as_ref().unwrap().path().join(name)).unwrap();
            let once = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let written = write_snapshot(&once);
            let again = read(&written).unwrap();
            assert_eq!(written, write_snapshot(&again));
            if !text.contains("\\ud83d\"") && !text.contains("\\ud83d\\\"") {
                // serde_json does not support lone surrogates. The rest is compared value by value.
                if let (Ok(original), Ok(mut copy)) = (
                    serde_json::from_str::<Value>(&text),
                    serde_json::from_str::<Value>(&written),
                ) {
                    strip_additions(&mut copy["root"]);
                    assert_eq!(original, copy, "{name}");
                }
            }
            read_files += 1;
        }
    }
    assert_eq!(read_files, 16);
}

/// Removes the fields that this recorder writes in addition to the documented ones.
fn strip_additions(frame: &mut Value) {
    if let Some(fields) = frame.as_object_mut() {
        fields.remove("memoryHashes");
        if let Some(Value::Object(children)) = fields.get_mut("children") {
            children.values_mut().for_each(strip_additions);
        }
    }
}

#[test]
fn the_largest_order_can_be_continued() {
    let mut root = frame("root", "");
    root["startOrder"] = json!(1_u64 << 52);
    root["generation"] = json!({"id": u64::MAX});
    read(&snapshot(root.clone()).to_string()).unwrap();
    root["endOrder"] = json!((1_u64 << 52) + 1);
    let message = "expected a whole number from 0 to 4503599627370496";
    assert_eq!(
        faults(&snapshot(root)),
        [("root.endOrder".to_owned(), message.to_owned())]
    );
}

#[test]
fn all_faults_are_reported_at_once_with_dotted_paths() {
    let mut root = frame("root", "");
    root["children"]["x"] = frame("root/agent:x:0", "x");
    root["children"]["x"]["state"]["status"] = json!("done");
    root["children"]["x"]["memory"] = json!([]);
    root["children"]["y"] = json!(7);
    root["journal"]["prompt"]["h"] = json!({"output": 1});
    root["journal"]["tool"] = json!(null);
    root["budgetState"] = json!({"own": {"costs": {"usd": "1"}, "items": [{"type": "x"}]}});
    let mut value = snapshot(root);
    value["version"] = json!(2);
    value["provenance"] = json!({"anchor": "around"});
    value["timestamp"] = json!("now");
    let found = faults(&value);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    for path in [
        "version",
        "provenance.traceId",
        "provenance.anchor",
        "timestamp",
        "root.children.x.state.status",
        "root.children.x.memory",
        "root.children.y",
        "root.journal.prompt.h.contentHash",
        "root.journal.tool",
        "root.budgetState.own.costs.usd",
        "root.budgetState.own.items.0.type",
        "root.budgetState.aggregate",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    assert_eq!(paths.len(), 12, "{found:?}");
    let line = read(&value.to_string()).unwrap_err().to_string();
    assert!(line.starts_with("Invalid Snapshot format: "), "{line}");
    assert!(!line.contains('\n'));
    assert!(line.contains("root.children.x.state.status: expected \"running\" | \"completed\" | \"failed\", received \"done\""), "{line}");
    let version = found.iter().find(|(path, _)| path == "version").unwrap();
    assert!(version.1.contains("newer version"), "{}", version.1);
}

#[test]
fn missing_fields_are_reported() {
    let found = faults(&json!({"root": {}}));
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    for path in [
        "processId",
        "timestamp",
        "provenance",
        "version",
        "root.callId",
        "root.agentId",
        "root.memory",
        "root.journal",
        "root.children",
        "root.state",
        "root.budgetState",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    assert_eq!(
        faults(&json!([]))[0].1,
        "expected a snapshot object, received an array"
    );
}

#[test]
fn unknown_fields_and_foreign_hashes_are_accepted() {
    let mut root = frame("anything goes", "main");
    root["journal"]["prompt"]["not a hash"] =
        json!({"output": {"role": "assistant"}, "contentHash": "x"});
    root["somethingNew"] = json!({"a": [1]});
    let mut value = snapshot(root);
    value["metadata"] = json!({"reason": "test"});
    value["other"] = json!(1);
    assert!(read(&value.to_string()).is_ok());
}

#[test]
fn exceeding_a_depth_limit_is_an_error() {
    let nested = |levels: usize| {
        let open = r#"{"callId":"c","agentId":"a","memory":{},"journal":{"prompt":{},"tool":{}},"state":{"status":"running"},"budgetState":{"own":{"items":[]},"aggregate":{"items":[]}},"children":{"c":"#;
        let leaf = r#"{"callId":"c","agentId":"a","memory":{},"journal":{"prompt":{},"tool":{}},"state":{"status":"running"},"budgetState":{"own":{"items":[]},"aggregate":{"items":[]}},"children":{}}"#;
        let frames = format!(
            "{}{leaf}{}",
            open.repeat(levels - 1),
            "}}".repeat(levels - 1)
        );
        format!(
            r#"{{"processId":"p","timestamp":1,"root":{frames},"provenance":{{"traceId":"t"}},"version":1}}"#
        )
    };
    let deepest = read(&nested(1_000)).unwrap();
    assert_eq!(read(&write_snapshot(&deepest)).unwrap().process_id, "p");
    assert!(matches!(
        read(&nested(1_001)),
        Err(SnapshotError::FramesTooDeep { limit: 1_000, .. })
    ));
    assert!(matches!(
        read(&nested(100_000)),
        Err(SnapshotError::FramesTooDeep { .. })
    ));

    let mut value = snapshot(frame("root", ""));
    value["root"]["memory"]["deep"] = json!("HERE");
    let text = value.to_string().replace(
        "\"HERE\"",
        &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
    );
    match read(&text) {
        Err(SnapshotError::JsonTooDeep { path, limit: 1_000 }) => {
            assert_eq!(path, "root.memory.deep");
        }
        other => panic!("expected the limit, got {other:?}"),
    }
}

#[test]
fn text_that_is_not_json_is_an_error_with_its_position() {
    let text = snapshot(frame("root", ""))
        .to_string()
        .replace("\"memory\":{}", "\"memory\":{oops}");
    match read(&text) {
        Err(SnapshotError::NotJson { path, .. }) => assert_eq!(path, "root.memory"),
        other => panic!("expected a fault, got {other:?}"),
    }
}

#[test]
fn edited_rows_change_the_calls_that_refer_to_them() {
    let mut root = frame("root", "");
    root["journal"]["tool"]["h"] = json!({"output": "last", "contentHash": "h"});
    root["journal"]["tool"]["hand-made"] = json!({"output": 1, "contentHash": "hand-made"});
    root["calls"] = json!([
        {"kind": "tool", "callId": "b", "contentHash": "h", "startOrder": 3, "endOrder": 4, "row": true},
        {"kind": "tool", "callId": "a", "contentHash": "h", "startOrder": 1, "endOrder": 2, "output": "first"},
        {"kind": "tool", "callId": "c", "contentHash": "gone", "startOrder": 5, "endOrder": 6, "row": true},
        {"kind": "tool", "callId": "d", "contentHash": "h", "startOrder": 7},
        {"kind": "embed", "callId": "e", "contentHash": "h", "startOrder": 8, "endOrder": 9, "error": {"name": "E", "message": "m"}},
    ]);
    let read = read(&snapshot(root).to_string()).unwrap();
    let calls: Vec<_> = read
        .root
        .generation
        .calls
        .iter()
        .map(|call| (call.call_id.to_string(), &call.outcome))
        .collect();
    let ids: Vec<&str> = calls.iter().map(|(id, _)| id.as_str()).collect();
    // In order of start. The call whose row was removed is gone.
    assert_eq!(ids, ["a", "b", "d", "e"]);
    assert!(matches!(calls[1].1, Outcome::Output(value) if value.text.as_str() == "\"last\""));
    assert_eq!(*calls[2].1, Outcome::Pending);
    assert!(matches!(
        calls[3].1,
        Outcome::Failure { stopped: false, .. }
    ));
    assert_eq!(read.root.generation.rows.len(), 1);
}

#[test]
fn edited_memory_overrides_the_memory_at_the_start() {
    let text = |memory: Value, at_start: Value| {
        let mut root = frame("root", "");
        root["memory"] = memory;
        root["generation"] = json!({"id": 0, "memory": at_start});
        snapshot(root).to_string()
    };
    let written = write_snapshot(
        &read(&text(
            json!({"n": 2, "kept": "k", "gone": 1}),
            json!({"n": 0, "gone": 0}),
        ))
        .unwrap(),
    );
    // The text has no hashes, so every key counts as edited.
    let mut value: Value = serde_json::from_str(&written).unwrap();
    value["root"]["generation"]["memory"] = json!({"n": 0, "gone": 0});
    value["root"]["memory"]["kept"] = json!("edited");
    value["root"]["memory"]
        .as_object_mut()
        .unwrap()
        .remove("gone");
    value["root"]["memory"]["added"] = json!(true);
    let edited = read(&value.to_string()).unwrap();
    let at_start = edited.root.generation.memory.clone().unwrap();
    let get = |key: &str| {
        at_start
            .get(&JsonStr::from_plain(key))
            .map(|text| text.as_str().to_owned())
    };
    assert_eq!(
        get("n").as_deref(),
        Some("0"),
        "unchanged since the dump: the memory at the start"
    );
    assert_eq!(get("kept").as_deref(), Some("\"edited\""));
    assert_eq!(get("gone"), None);
    assert_eq!(get("added").as_deref(), Some("true"));
}

#[test]
fn proto_keys_are_data() {
    let text = snapshot(frame("root", ""))
        .to_string()
        .replace(
            "\"memory\":{}",
            r#""memory":{"__proto__":{"polluted":true},"constructor":1}"#,
        )
        .replace(
            "\"tool\":{}",
            r#""tool":{"__proto__":{"output":{"__proto__":1},"contentHash":"__proto__"}}"#,
        );
    let once = read(&text).unwrap();
    let written = write_snapshot(&once);
    assert!(written.contains(r#""__proto__":{"polluted":true}"#));
    assert!(
        written.contains(r#""__proto__":{"output":{"__proto__":1},"contentHash":"__proto__"}"#)
    );
}

#[test]
fn a_missing_output_is_undefined() {
    let mut root = frame("root", "");
    root["journal"]["tool"]["h"] = json!({"contentHash": "h"});
    root["state"] = json!({"status": "completed"});
    let read = read(&snapshot(root).to_string()).unwrap();
    let row = read.root.generation.rows.get(0).unwrap();
    assert!(matches!(&row.outcome, Outcome::Output(value) if value.types.is_some()));
    assert!(matches!(&read.root.state, State::Completed(value) if value.types.is_some()));
}

#[test]
fn the_warnings_of_a_restore_are_kept() {
    let mut value = snapshot(frame("root", ""));
    value["warnings"] = json!([{"code": "gap", "message": "lines are missing", "line": 3}]);
    let written = write_snapshot(&read(&value.to_string()).unwrap());
    let copy: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(copy["warnings"], value["warnings"]);
    value["warnings"] = json!("none");
    assert!(read(&value.to_string()).is_ok());
}

#[test]
fn numbers_outside_the_range_of_a_double_stay_numbers() {
    let text = snapshot(frame("root", "")).to_string();
    let of_budget = text.replacen("\"totalTokens\":0", "\"totalTokens\":1e400", 1);
    assert!(matches!(read(&of_budget), Err(SnapshotError::Invalid(_))));
    let of_time = text.replacen("\"timestamp\":1", "\"timestamp\":1e400", 1);
    assert!(matches!(read(&of_time), Err(SnapshotError::Invalid(_))));
    let item = r#""items":[{"type":"model","name":"m","costs":{},"tokens":{"prompt":1,"completion":1,"total":1e400}}]"#;
    let of_item = text.replacen(r#""items":[]"#, item, 1);
    let written = write_snapshot(&read(&of_item).unwrap());
    assert!(!written.contains("null"), "{written}");
    assert_eq!(write_snapshot(&read(&written).unwrap()), written);
}

#[test]
fn a_request_whose_texts_are_missing_is_left_out() {
    let hash = "0".repeat(64);
    let call = |place: u32, request: Value| {
        json!({
            "kind": "prompt", "callId": format!("root/prompt:m:{place}"), "contentHash": hash,
            "startOrder": place, "request": request,
        })
    };
    let mut root = frame("root", "");
    root["calls"] = json!([
        call(0, json!({"add": [0], "tools": 1})),
        call(1, json!({"base": 0, "add": [7], "tools": 1})),
        call(2, json!({"base": 1, "add": [], "tools": 1})),
        call(3, json!({"document": 9})),
        call(4, json!({"base": 0, "add": [2], "tools": 1})),
    ]);
    root["requestTexts"] = json!([{"role": "user"}, [], {"role": "tool"}]);
    let written = write_snapshot(&read(&snapshot(root).to_string()).unwrap());
    let copy: Value = serde_json::from_str(&written).unwrap();
    let has_request: Vec<bool> = copy["root"]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call.get("requestPart").is_some())
        .collect();
    assert_eq!(has_request, [true, false, false, false, true]);
    assert_eq!(write_snapshot(&read(&written).unwrap()), written);
}

#[test]
fn parts_of_requests_are_read_and_what_is_missing_or_too_large_is_left_out() {
    let hash = "0".repeat(64);
    let call = |place: usize, part: usize| {
        json!({
            "kind": "chat", "callId": format!("root/chat:m:{place}"), "contentHash": hash,
            "startOrder": place, "requestPart": part,
        })
    };
    let mut parts = vec![
        json!({"value": {"role": "user"}}),
        json!({"list": [0]}),
        json!({"value": {"input": null, "n": null}, "parts": {"/input": 1}}),
        json!({"list": [0], "after": 1}),
        json!({"list": [2], "after": 3, "keep": 1}),
        json!({"value": "a"}),
        json!({"text": [5, 5]}),
        // Faults, from here on.
        json!({"list": [99]}),
        json!({"value": {"input": 1}, "parts": {"/input": 1}}),
        json!({"list": [0], "after": 0}),
        json!({"list": [], "after": 1, "keep": 2}),
        json!({"text": [0]}),
        json!({"list": [7]}),
        json!({"list": [14]}),
        json!({}),
    ];
    let wanted = parts.len();
    // Each entry is twice as long as the one before it.
    for _ in 0..40 {
        let last = parts.len() - 1;
        let from = if parts.len() == wanted { 1 } else { last };
        parts.push(json!({"list": [from, from]}));
    }
    let mut root = frame("root", "");
    root["calls"] = (0..parts.len()).map(|at| call(at, at)).collect();
    root["requestParts"] = Value::from(parts);
    let read_once = read(&snapshot(root).to_string()).unwrap();
    let texts: Vec<_> = read_once
        .root
        .generation
        .calls
        .iter()
        .take(wanted)
        .map(|call| {
            call.request
                .as_ref()?
                .pieces()
                .map(|pieces| pieces.concat())
        })
        .collect();
    let user = r#"{"role":"user"}"#;
    let mut expected = vec![
        Some(user.to_owned()),
        Some(format!("[{user}]")),
        Some(format!(r#"{{"input":[{user}],"n":null}}"#)),
        Some(format!("[{user},{user}]")),
        Some(format!(r#"[{user},{{"input":[{user}],"n":null}}]"#)),
        Some(r#""a""#.to_owned()),
        Some(r#""aa""#.to_owned()),
    ];
    expected.resize(wanted, None);
    assert_eq!(texts, expected);
    let last = read_once.root.generation.calls.last().unwrap();
    assert!(last.request.as_ref().unwrap().resolved().is_none());
    let written = write_snapshot(&read_once);
    assert_eq!(write_snapshot(&read(&written).unwrap()), written);
}

/// A frame with a tool and a prompt whose message has the tool's result, as text and as JSON.
fn with_tool_result() -> (Snapshot, String) {
    let output = json!({"passages": "\u{1F30D} a \"quoted\" text\n".repeat(40)}).to_string();
    let message = json!({"role": "tool", "content": output, "value": null}).to_string();
    let message = message.replace("\"value\":null", &format!("\"value\":{output}"));
    let [tool, prompt] = ["1", "2"].map(|digit| digit.repeat(64));
    let mut root = frame("root", "");
    root["journal"]["tool"][&tool] = json!({"output": "OUTPUT", "contentHash": tool});
    root["calls"] = json!([
        {"kind": "tool", "callId": "root/tool:t:0", "contentHash": tool, "startOrder": 1, "endOrder": 2, "row": true},
        {"kind": "prompt", "callId": "root/prompt:p:0", "contentHash": prompt, "startOrder": 3, "requestPart": 2},
    ]);
    root["requestParts"] = json!([
        {"value": "MESSAGE"},
        {"list": [0]},
        {"value": {"messages": null}, "parts": {"/messages": 1}},
    ]);
    let text = snapshot(root).to_string();
    let text = text
        .replace("\"OUTPUT\"", &output)
        .replace("\"MESSAGE\"", &message);
    (
        read(&text).unwrap(),
        format!(r#"{{"messages":[{message}]}}"#),
    )
}

fn request_of(snapshot: &Snapshot, position: usize) -> Option<String> {
    let request = snapshot
        .root
        .generation
        .calls
        .get(position)?
        .request
        .clone()?;
    Some(request.pieces()?.concat())
}

#[test]
fn the_output_of_a_tool_and_its_message_are_written_once() {
    let (whole, document) = with_tool_result();
    let written = write_snapshot(&whole);
    assert_eq!(written.matches("passages").count(), 1, "{written}");
    assert!(
        written.contains(r#""parts":{"/content":0,"/value":1}"#),
        "{written}"
    );
    let again = read(&written).unwrap();
    assert_eq!(request_of(&again, 1).as_deref(), Some(document.as_str()));
    assert_eq!(write_snapshot(&again), written);
}

#[test]
fn a_request_with_an_output_that_was_edited_is_not_kept() {
    let (whole, _) = with_tool_result();
    let edited = write_snapshot(&whole).replace("quoted", "edited");
    let again = read(&edited).unwrap();
    assert_eq!(request_of(&again, 1), None);
    assert_eq!(again.root.generation.calls.len(), 2);
    assert!(!write_snapshot(&again).contains("requestPart"));
}
