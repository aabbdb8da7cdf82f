//! The hash of old recordings, checked against recorded data.

use std::fs;
use std::path::PathBuf;

use agent_rewind_core::hash::legacy_hash;
use agent_rewind_core::json::{Scanner, canonicalize};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures")
}

#[test]
fn legacy_vectors() {
    let text = fs::read_to_string(fixtures().join("legacy-hash-vectors.json")).unwrap();
    let vectors = elements(member(&text, "vectors").unwrap());
    assert!(vectors.len() >= 22);
    for vector in vectors {
        let formatted: String = serde_json::from_str(member(vector, "json").unwrap()).unwrap();
        let json = match formatted.split_once("\"*") {
            Some((character, count)) => format!(
                "{}\"",
                character.to_owned() + &"x".repeat(count.parse::<usize>().unwrap() - 1)
            ),
            None => formatted,
        };
        let wanted: String = serde_json::from_str(member(vector, "hash").unwrap()).unwrap();
        assert_eq!(legacy_hash(&json), Ok(wanted), "{json}");
        // Its stable text is the canonical form.
        if let Some(stable) = member(vector, "stable") {
            let stable: String = serde_json::from_str(stable).unwrap();
            assert_eq!(canonicalize(&json), Ok(stable));
        }
    }
}

/// Recomputes every content hash in the recorded traces from its own event.
#[test]
fn legacy_hashes_of_recorded_traces() {
    let mut recomputed = 0;
    let mut recorded = 0;
    for scenario in fs::read_dir(fixtures().join("traces")).unwrap() {
        let path = scenario.unwrap().path().join("trace.jsonl");
        let trace = fs::read_to_string(&path).unwrap();
        recorded += trace.matches("\"contentHash\":").count();
        let events: Vec<&str> = trace.lines().collect();
        for event in &events {
            let at = format!("{} {}", path.display(), member(event, "trace").unwrap());
            match member(event, "type").unwrap() {
                "\"turn:end\"" => {
                    let request =
                        prompt_request(event, &events).expect("a turn that called a model");
                    let wanted = member(event, "contentHash").unwrap();
                    assert_eq!(
                        format!("\"{}\"", legacy_hash(&request).unwrap()),
                        wanted,
                        "{at}"
                    );
                    recomputed += 1;
                }
                "\"tools:execute:end\"" => {
                    for result in elements(member(event, "toolResults").unwrap()) {
                        let [name, input] =
                            ["toolName", "input"].map(|key| member(result, key).unwrap());
                        let request = format!(r#"{{"name":{name},"input":{input}}}"#);
                        let wanted = member(result, "contentHash").unwrap();
                        assert_eq!(
                            format!("\"{}\"", legacy_hash(&request).unwrap()),
                            wanted,
                            "{at}"
                        );
                        recomputed += 1;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(recomputed > 40, "only {recomputed} hashes found");
    assert_eq!(recomputed, recorded, "all hashes in the traces");
}

/// `[messages, schema | null, { id, provider? }, toolSchemas[]]`, with the model that the turn called.
fn prompt_request(turn: &str, events: &[&str]) -> Option<String> {
    let span = member(member(turn, "trace")?, "spanId")?;
    let call = events.iter().find(|event| {
        member(event, "type") == Some("\"model:call:start\"")
            && member(event, "trace").and_then(|trace| member(trace, "parentSpanId")) == Some(span)
    })?;
    let id = member(call, "adapterId")?;
    let model = match member(call, "provider") {
        Some(provider) => format!(r#"{{"id":{id},"provider":{provider}}}"#),
        None => format!(r#"{{"id":{id}}}"#),
    };
    let messages = member(turn, "messages")?;
    let schema = member(turn, "schema").unwrap_or("null");
    let tools = member(turn, "toolConfig")
        .and_then(|config| member(config, "tools"))
        .unwrap_or("[]");
    Some(format!("[{messages},{schema},{model},{tools}]"))
}

/// The text of a member's value.
fn member<'a>(object: &'a str, wanted: &str) -> Option<&'a str> {
    let mut scanner = Scanner::new(object);
    scanner.enter_object().unwrap();
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first).unwrap() {
        scanner.peek();
        let value = scanner.skip_value().unwrap();
        if key.is(wanted) {
            return Some(&object[value]);
        }
    }
    None
}

/// The texts of an array's elements.
fn elements(array: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(array);
    scanner.enter_array().unwrap();
    let mut first = true;
    let mut found = Vec::new();
    while scanner.next_element(&mut first).unwrap() {
        scanner.peek();
        found.push(&array[scanner.skip_value().unwrap()]);
    }
    found
}
