//! Diffs of requests: planted differences are named exactly, excerpts are cut between characters, and any two
//! documents give exactly their differences.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use agent_rewind_core::diff::{Change, Diff, Difference, MAX_DIFFERENCES, Nature, Part, diff};

#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "../generator/mod.rs"]
mod generator;

mod for_people;
mod lines;
mod lists;
mod nearest;
mod planted;
mod properties;

mod texts;

/// In a program's key order.
const REQUEST: &str = r#"{"model":{"id":"gpt-4o-2024-08-06","provider":"openai"},"messages":[
{"role":"system","content":"You are a careful assistant.\nToday is Saturday, November 28, 2026.\n\n  Answer briefly. Session 3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e6f, build 9f86d081, request req_8fKq2ZrTx1."},
{"role":"user","content":[{"type":"text","text":"What is in this picture, taken at 2026-11-28T10:15:30.123Z?"},{"type":"image_url","image_url":{"url":"https://cdn.example/cat.png","detail":"low"}}],"extra":{"sent":1795977394381,"urgent":false,"channel":null,"score":0.5}},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_a1B2c3D4e5","name":"search","arguments":"{\"query\":\"cats\",\"limit\":10,\"at\":\"2026-11-28\"}"}]},
{"role":"tool","tool_call_id":"call_a1B2c3D4e5","content":"{\"hits\":[1,2]}"},
{"role":"user","content":"Thanks. And dogs?"}
],"options":{"temperature":0.2,"seed":42,"toolChoice":"auto","stop":["END","STOP"],"parallel":true},
"schema":{"type":"object","properties":{"answer":{"type":"string","description":"The answer"},"sure":{"type":"boolean"}},"required":["answer","sure"],"additionalProperties":false},
"tools":[{"name":"search","description":"Searches the web","parameters":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}},
{"name":"fetch","description":"Fetches a page","parameters":{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}}]}"#;

fn compare(recorded: &str, actual: &str) -> Diff {
    diff(recorded, actual, MAX_DIFFERENCES).unwrap()
}

/// `text` with the only occurrence of `old` replaced.
fn with(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old} must occur once");
    text.replace(old, new)
}

/// The only difference.
fn only(recorded: &str, actual: &str) -> Difference {
    let mut found = compare(recorded, actual);
    assert_eq!(
        (found.differences.len(), found.more),
        (1, 0),
        "{recorded}\n{actual}\n{found:#?}"
    );
    found.differences.remove(0)
}

fn summary(found: &Difference) -> (&str, Change, Nature, Part) {
    (&found.pointer, found.change, found.nature, found.part)
}
