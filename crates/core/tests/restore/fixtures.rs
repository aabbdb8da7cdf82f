//! The recorded traces: each one as a whole, and each cut that its files describe.

use std::collections::HashMap;
use std::fs;

use agent_rewind_core::json::canonicalize;
use agent_rewind_core::model::{Kind, Outcome, State, Usage};
use agent_rewind_core::snapshot::Anchor;

use crate::support::{
    Json, all_calls, at, codes, frames, lines, memory, options, outputs, scenarios, status,
    trace_of, try_lines,
};

#[test]
fn whole_traces_restore_to_the_known_frames() {
    for (name, path) in scenarios() {
        let snapshot = lines(&trace_of(&name));
        assert_eq!(codes(&snapshot), [""; 0], "{name}");
        let meta = Json::parse(&fs::read_to_string(path.join("meta.json")).unwrap());
        let found = frames(&snapshot);
        let known = meta.list("frames");
        assert_eq!(found.len(), known.len(), "{name}");
        let span_by_start: HashMap<&str, &str> = known
            .iter()
            .map(|frame| (frame.field("startIndex"), frame.field("span")))
            .collect();
        for known in known {
            let start = known.field("startIndex").parse().unwrap();
            let (frame, parent) = found
                .iter()
                .find(|(frame, _)| frame.start == Some(start))
                .unwrap();
            assert_eq!(frame.agent_id.body(), known.field("agentId"), "{name}");
            assert_eq!(status(frame), known.field("status"), "{name}");
            assert_eq!(
                outputs(frame, &Kind::Prompt),
                known.texts("prompt"),
                "{name}"
            );
            assert_eq!(outputs(frame, &Kind::Tool), known.texts("tool"), "{name}");
            assert_eq!(
                frame.end.map(|end| end.to_string()).as_deref(),
                Some(known.field("endIndex")),
                "{name}"
            );
            let wanted = known.get("memory").unwrap().canonical();
            assert_eq!(canonicalize(&memory(frame)).unwrap(), wanted, "{name}");
            let parent = parent
                .and_then(|parent| found[parent].0.start)
                .map(|start| start.to_string());
            let parent_span = parent.map_or("null", |start| span_by_start[&*start]);
            assert_eq!(parent_span, known.field("parentAgentSpan"), "{name}");
        }
    }
}

#[test]
fn whole_traces_restore_to_the_known_snapshots() {
    let mut compared = 0;
    for (name, path) in scenarios() {
        let Ok(truth) = fs::read_to_string(path.join("truth-latest.json")) else {
            continue;
        };
        let truth = Json::parse(&truth);
        let mut queue = truth
            .get("root")
            .unwrap()
            .get("children")
            .unwrap()
            .members()
            .to_vec();
        let snapshot = lines(&trace_of(&name));
        while let Some((call_id, known)) = queue.pop() {
            let frame = crate::support::frame(&snapshot, &call_id);
            assert_eq!(frame.agent_id.body(), known.field("agentId"));
            assert_eq!(
                canonicalize(&memory(&frame)).unwrap(),
                known.get("memory").unwrap().canonical()
            );
            let state = known.get("state").unwrap();
            assert_eq!(status(&frame), state.field("status"), "{call_id}");
            let outcome = match &frame.state {
                State::Completed(value) => Some(value.text.as_str().to_owned()),
                State::Failed(error) => error.as_ref().map(|error| error.as_str().to_owned()),
                State::Running => None,
            };
            let wanted = state
                .get("output")
                .or(state.get("error"))
                .map(Json::canonical);
            assert_eq!(
                outcome.map(|text| canonicalize(&text).unwrap()),
                wanted,
                "{call_id}"
            );
            for kind in [Kind::Prompt, Kind::Tool] {
                let rows = known
                    .get("journal")
                    .unwrap()
                    .get(kind.name())
                    .unwrap()
                    .members();
                let mut last = HashMap::new();
                for call in all_calls(&frame).iter().filter(|call| call.kind == kind) {
                    if let Outcome::Output(value) = &call.outcome {
                        last.insert(
                            call.hash.to_string(),
                            canonicalize(value.text.as_str()).unwrap(),
                        );
                    }
                }
                let rows: HashMap<String, String> = rows
                    .iter()
                    .map(|(hash, row)| (hash.clone(), row.get("output").unwrap().canonical()))
                    .collect();
                assert_eq!(last, rows, "{call_id}");
            }
            queue.extend(known.get("children").unwrap().members().iter().cloned());
            compared += 1;
        }
    }
    assert!(compared >= 12);
}

/// The expected content of a cut, from the raw events: the number of ended calls of a kind by hash.
fn ended_calls(events: &[Json]) -> (Vec<String>, Vec<String>) {
    let mut prompts = Vec::new();
    let mut tools = Vec::new();
    for event in events {
        match event.field("type") {
            "turn:end" if event.field("success") == "true" => {
                prompts.push(event.field("contentHash").to_owned());
            }
            "tools:execute:end" => {
                for row in event.list("toolResults") {
                    tools.push(row.field("contentHash").to_owned());
                }
            }
            _ => {}
        }
    }
    prompts.sort();
    tools.sort();
    (prompts, tools)
}

#[test]
fn every_cut_contains_the_ended_calls() {
    let mut cuts = 0;
    for (name, path) in scenarios() {
        let text = trace_of(&name);
        let events: Vec<Json> = text.lines().map(Json::parse).collect();
        let meta = Json::parse(&fs::read_to_string(path.join("meta.json")).unwrap());
        for known in meta.list("cuts") {
            let asked = known.get("options").unwrap();
            let anchor = if asked.get("anchor").map(Json::text) == Some("before") {
                Anchor::Before
            } else {
                Anchor::After
            };
            let options = asked
                .get("spanId")
                .map_or_else(options, |span| at(span.text(), anchor));
            let snapshot = try_lines(&text, &options).unwrap();
            let kept = known.field("eventsKept").parse().unwrap_or(events.len());
            let (prompts, tools) = ended_calls(&events[..kept]);
            let calls: Vec<_> = frames(&snapshot)
                .iter()
                .flat_map(|(frame, _)| all_calls(frame))
                .collect();
            let hashes = |kind: &Kind| {
                let of_kind = calls.iter().filter(|call| call.kind == *kind);
                let mut hashes: Vec<String> = of_kind.map(|call| call.hash.to_string()).collect();
                hashes.sort();
                hashes
            };
            assert_eq!(hashes(&Kind::Prompt), prompts, "{name} {asked:?}");
            assert_eq!(hashes(&Kind::Tool), tools, "{name} {asked:?}");
            let last = frames(&snapshot)
                .iter()
                .flat_map(|(frame, _)| [frame.start, frame.end])
                .flatten()
                .max();
            assert!(last < Some(kept as u64), "{name} {asked:?}");
            let started = events[..kept]
                .iter()
                .filter(|event| event.field("type") == "agent:start")
                .count();
            assert_eq!(frames(&snapshot).len(), started, "{name} {asked:?}");
            cuts += 1;
        }
    }
    assert!(cuts >= 50);
}

#[test]
fn budgets_match_the_events() {
    for (name, _) in scenarios() {
        let text = trace_of(&name);
        let events: Vec<Json> = text.lines().map(Json::parse).collect();
        let snapshot = lines(&text);
        let found = frames(&snapshot);
        for (frame, _) in &found {
            if found
                .iter()
                .filter(|(other, _)| other.agent_id == frame.agent_id)
                .count()
                > 1
            {
                continue;
            }
            // For an agent that was called once, the last update contains the whole usage.
            let is_update = |event: &&Json| {
                event.field("type") == "budget:update"
                    && event.field("agentId") == frame.agent_id.body()
            };
            let last = events
                .iter()
                .rfind(is_update)
                .and_then(|event| event.get("own"))
                .unwrap();
            assert_eq!(
                usage(&frame.budget.own).canonical(),
                last.canonical(),
                "{name} {}",
                frame.agent_id
            );
        }
        let metrics = events.last().and_then(|end| end.get("metrics")).unwrap();
        let root = usage(&snapshot.root.budget.aggregate);
        for (total, field) in [
            ("totalPromptTokens", "promptTokens"),
            ("totalCompletionTokens", "completionTokens"),
            ("totalTokens", "totalTokens"),
        ] {
            assert_eq!(root.field(field), metrics.field(total), "{name}");
        }
    }
}

fn usage(usage: &Usage) -> Json {
    let mut written = String::new();
    usage.write_json(&mut written);
    Json::parse(&written)
}
