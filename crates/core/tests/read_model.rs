//! The flat list that readers of a snapshot get.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use std::sync::Arc;

use agent_rewind_core::fork::test_recording;
use agent_rewind_core::json::JsonStr;
use agent_rewind_core::snapshot::{ReadModel, read_snapshot};
use serde_json::{Value, json};

fn usage() -> Value {
    json!({"costs": {}, "promptTokens": 0, "completionTokens": 0, "totalTokens": 0, "callCount": 0, "items": []})
}

fn frame(call_id: &str, fields: &Value) -> Value {
    let mut frame = json!({
        "callId": call_id, "agentId": "", "memory": {}, "journal": {"prompt": {}, "tool": {}},
        "children": {}, "state": {"status": "running"}, "budgetState": {"own": usage(), "aggregate": usage()},
    });
    let members = frame.as_object_mut().unwrap();
    members.extend(fields.as_object().unwrap().clone());
    frame
}

fn model(root: &Value) -> (Value, ReadModel) {
    let text = json!({"processId": "p", "timestamp": 1, "root": root, "provenance": {"traceId": "t"}, "version": 1});
    let snapshot = read_snapshot(&Arc::new(text.to_string())).unwrap();
    let mut model = ReadModel::new(snapshot.tree());
    let frames = serde_json::from_str(&model.take_text()).unwrap();
    (frames, model)
}

fn parsed(text: Option<String>) -> Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[test]
fn frames_are_listed_with_their_parents_and_generations() {
    let leaf = frame("root/a/b", &json!({"startOrder": 5, "unreached": true}));
    let agent = json!({
        "agentId": "a", "memory": {"k": 1, "new": 2}, "memoryHashes": {"k": ""}, "stopped": true,
        "state": {"status": "failed", "error": {"name": "E", "message": "m"}}, "children": {"root/a/b": leaf},
        "generation": {"id": 1, "props": {"x": 1}},
        "generations": [{"id": 0, "memory": {}, "journal": {"prompt": {}, "tool": {}}, "calls": [],
            "children": {"root/a/c": frame("root/a/c", &json!({"startOrder": 3}))}}],
    });
    let root = frame(
        "root",
        &json!({"children": {"root/a": frame("root/a", &agent)}}),
    );
    let (frames, _) = model(&root);
    let ids: Vec<_> = frames
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| &frame["callId"])
        .collect();
    assert_eq!(ids, ["root", "root/a", "root/a/c", "root/a/b"]);
    let agent = &frames[1];
    assert_eq!(
        (&agent["parent"], &agent["parentGeneration"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(agent["editedKeys"], json!(["k", "new"]));
    assert_eq!(
        (&agent["state"]["error"]["name"], &agent["stopped"]),
        (&json!("E"), &json!(true))
    );
    assert_eq!(
        agent["generations"],
        json!([{"id": 0, "memory": {}, "calls": [], "children": [2]}, {"id": 1, "props": {"x": 1}, "calls": [], "children": [3]}])
    );
    assert_eq!(
        (
            &frames[2]["parentGeneration"],
            &frames[3]["parentGeneration"]
        ),
        (&json!(0), &json!(1))
    );
    assert_eq!(frames[3]["carriedOver"], json!(true));
}

#[test]
fn calls_have_their_outcomes() {
    let call = |name: &str, start: u64, rest: &Value| {
        let mut call =
            json!({"kind": "tool", "callId": name, "contentHash": name, "startOrder": start});
        let members = call.as_object_mut().unwrap();
        members.extend(rest.as_object().unwrap().clone());
        call
    };
    let calls = json!([
        call(
            "in row",
            1,
            &json!({"row": true, "endOrder": 2, "meta": {"durationMs": 3}})
        ),
        call(
            "failed",
            3,
            &json!({"error": {"name": "E"}, "handled": true, "endOrder": 4})
        ),
        call("tombstone", 5, &json!({"row": true})),
        call("in flight", 6, &json!({})),
    ]);
    let journal = json!({"prompt": {}, "tool": {
        "in row": {"output": [1], "contentHash": "in row"},
        "tombstone": {"output": null, "contentHash": "tombstone", "error": "why"},
        "alone": {"output": 7, "contentHash": "alone"},
    }});
    let (frames, _) = model(&frame("root", &json!({"journal": journal, "calls": calls})));
    assert_eq!(
        frames[0]["generations"][0]["calls"],
        json!([
            {"kind": "tool", "contentHash": "alone", "output": 7},
            call("in row", 1, &json!({"endOrder": 2, "output": [1], "meta": {"durationMs": 3}})),
            call("failed", 3, &json!({"endOrder": 4, "error": {"name": "E"}, "handled": true})),
            call("tombstone", 5, &json!({"tombstone": "why"})),
            call("in flight", 6, &json!({})),
        ])
    );
}

#[test]
fn requests_are_whole_or_what_they_add() {
    let call = |name: &str, start: u64, request: &Value| json!({"kind": "prompt", "callId": name, "contentHash": name, "startOrder": start, "request": request});
    let calls = json!([
        call("first", 1, &json!({"add": [0], "model": 1, "tools": 2})),
        call("other", 2, &json!({"document": 3})),
        call("second", 3, &json!({"base": 0, "add": [4, 5], "model": 6})),
        call("lost", 4, &json!({"base": 2, "add": [99]})),
    ]);
    let texts = json!(["m0", {"id": "x"}, [], {"q": 1}, "m1", "m2", {"id": "y"}]);
    let (frames, mut model) = model(&frame(
        "root",
        &json!({"calls": calls, "requestTexts": texts}),
    ));
    let numbers: Vec<_> = frames[0]["generations"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["request"].as_u64())
        .collect();
    assert_eq!(numbers, [Some(0), Some(1), Some(2), None]);
    assert_eq!(
        parsed(model.request(2)),
        json!({"messages": ["m0", "m1", "m2"], "model": {"id": "y"}})
    );
    assert_eq!(
        parsed(model.shared_request(0)),
        json!({"document": {"messages": ["m0"], "model": {"id": "x"}, "tools": []}})
    );
    assert_eq!(
        parsed(model.shared_request(1)),
        json!({"document": {"q": 1}})
    );
    assert_eq!(
        parsed(model.shared_request(2)),
        json!({
            "document": {"messages": ["m1", "m2"], "model": {"id": "y"}},
            "shared": {"/messages": {"request": 0, "pointer": "/messages", "keep": 1}}
        })
    );
    assert_eq!(model.request(3), None);
}

#[test]
fn the_recording_of_a_test_contains_the_run_and_its_requests() {
    let call = |name: &str, kind: &str, start: u64| json!({"kind": kind, "callId": name, "contentHash": name, "startOrder": start});
    let calls = json!([
        call("first", "prompt", 1),
        call("tool", "tool", 2),
        call("second", "prompt", 3),
        call("other", "prompt", 4),
    ]);
    let run = frame(
        "root",
        &json!({"agentId": "a", "state": {"status": "completed", "output": 1}, "calls": calls}),
    );
    let text = json!({"processId": "p", "timestamp": 1, "root": run, "provenance": {"traceId": "t"}, "version": 1});
    let snapshot = read_snapshot(&Arc::new(text.to_string())).unwrap();
    let message = |name: &str| name.repeat(150);
    let requests = [
        json!({"messages": [message("m0")], "tools": [], "model": 1}),
        json!({"input": 2}),
        json!({"messages": [message("m0"), message("m1")], "model": 1, "tools": [3]}),
        json!({"messages": [message("m1")]}),
    ];
    let requests = requests.map(|request| Some(request.to_string()));
    let call_id = JsonStr::from_plain("root/run:0");
    let root = test_recording(snapshot.tree(), call_id, None, requests);
    let mut model = ReadModel::new(&root);
    let frames: Value = serde_json::from_str(&model.take_text()).unwrap();
    let frame_list = frames.as_array().unwrap().iter();
    let ids: Vec<_> = frame_list.map(|frame| &frame["callId"]).collect();
    assert_eq!(ids, ["root", "root/run:0", "root"]);
    assert_eq!(
        (&frames[1]["state"], &frames[1]["agentId"]),
        (&json!({"status": "completed", "output": 1}), &json!(""))
    );
    let added: Vec<_> = (0..4).map(|at| parsed(model.shared_request(at))).collect();
    assert_eq!(
        added,
        [
            json!({"document": {"messages": [message("m0")], "model": 1, "tools": []}}),
            json!({"document": {"input": 2}}),
            json!({
                "document": {"messages": [message("m1")], "model": 1, "tools": [3]},
                "shared": {"/messages": {"request": 0, "pointer": "/messages", "keep": 1}}
            }),
            json!({
                "document": {"messages": [null]},
                "shared": {"/messages/0": {"request": 2, "pointer": "/messages/1"}}
            }),
        ]
    );
}
