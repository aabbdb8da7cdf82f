//! Content hashes, the continuing hash of conversations, and the hash of old recordings against
//! recorded data.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

use std::fs;
use std::path::PathBuf;

use agent_rewind_core::hash::{
    ContentHash, Conversation, RequestTail, RequestTailError, TextConversation, content_hash,
    content_hash_any, input_hash, legacy_hash,
};
use agent_rewind_core::json::{JsonErrorKind, Scanner, canonicalize};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

#[allow(dead_code, reason = "each test file uses a part of it")]
mod generator;
use generator::{Generator, Json};

const TAIL: &str = r#"{"model":{"provider":"openai","id":"gpt-4o"},"tools":[{"name":"search","description":"x"}],"options":{}}"#;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures")
}

fn sha256(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest.map(|byte| format!("{byte:02x}")).concat()
}

fn document(messages: &str, tail: &str) -> String {
    // The messages last: the hash must not depend on it.
    let members = tail.strip_suffix('}').unwrap();
    format!(
        "{members}{}\"messages\":{messages}}}",
        if members == "{" { "" } else { "," }
    )
}

#[test]
fn content_hash_is_sha256_of_the_canonical_form() {
    assert_eq!(
        content_hash("{}").unwrap().to_string(),
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    );
    let mut generator = Generator::new(7);
    for _ in 0..2_000 {
        let json = generator.document();
        let wanted = sha256(&json.canonical());
        assert_eq!(
            content_hash(&json.stringified()).unwrap().to_string(),
            wanted
        );
        assert_eq!(
            content_hash_any(&json.spelt_anyhow(&mut generator))
                .unwrap()
                .to_string(),
            wanted
        );
    }
    assert_eq!(
        content_hash("[1,").unwrap_err().kind,
        JsonErrorKind::UnexpectedEnd
    );
    assert_eq!(
        content_hash_any("[1e999]").unwrap_err().kind,
        JsonErrorKind::NumberOutOfRange
    );
}

#[test]
fn content_hash_as_text() {
    let hash = content_hash(r#"{"name":"search","input":{"q":"x"}}"#).unwrap();
    let text = hash.to_string();
    assert_eq!(text, sha256(r#"{"input":{"q":"x"},"name":"search"}"#));
    assert_eq!(text.parse(), Ok(hash));
    assert_eq!(ContentHash::from_bytes(*hash.as_bytes()), hash);
    for wrong in [
        "",
        &text[1..],
        &format!("{text}0"),
        &text.to_uppercase(),
        &format!("{}g", &text[1..]),
    ] {
        assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
    }
}

#[test]
fn input_hash_is_that_of_a_document() {
    let input = r#"{"q":"x","at":"2026-01-01"}"#;
    let plain = content_hash(r#"{"input":{"at":"2026-01-01","q":"x"}}"#).unwrap();
    assert_eq!(input_hash(input, None), Ok(plain));
    let types = r#"{"/at":"date"}"#;
    let tagged = content_hash(&format!(r#"{{"input":{input},"types":{types}}}"#)).unwrap();
    assert_eq!(input_hash(input, Some(types)), Ok(tagged));
    for wrong in ["", "{}}", "{"] {
        assert!(input_hash(wrong, None).is_err(), "{wrong}");
        assert!(input_hash("{}", Some(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn conversation_agrees_with_the_whole_document() {
    let mut conversation = Conversation::new();
    let tail = RequestTail::new(TAIL).unwrap();
    assert!(conversation.is_empty());
    assert_eq!(
        conversation.hash(&tail),
        content_hash(&document("[]", TAIL)).unwrap()
    );
    conversation
        .append(r#"[{"role":"user","content":"hi"},"x"]"#)
        .unwrap();
    conversation.append("[]").unwrap();
    conversation
        .append(r#"[{"role":"tool","content":[{"type":"text","text":"1"}]}]"#)
        .unwrap();
    assert_eq!(conversation.len(), 3);
    let whole = r#"[{"role":"user","content":"hi"},"x",{"role":"tool","content":[{"type":"text","text":"1"}]}]"#;
    assert_eq!(
        conversation.hash(&tail),
        content_hash(&document(whole, TAIL)).unwrap()
    );
    let none = RequestTail::new("{}").unwrap();
    assert_eq!(
        conversation.hash(&none),
        content_hash(&document(whole, "{}")).unwrap()
    );
}

#[test]
fn a_refused_append_changes_nothing() {
    let tail = RequestTail::new(TAIL).unwrap();
    let mut conversation = Conversation::new();
    conversation.append("[1]").unwrap();
    let before = conversation.hash(&tail);
    for wrong in [
        "",
        "[",
        "[2",
        "[2,]",
        "{}",
        "2",
        "[2]]",
        "[2] ",
        " [2]",
        r#"[2,{"a":1,"a":1}]"#,
        "[2}",
    ] {
        assert!(conversation.append(wrong).is_err(), "{wrong}");
        assert_eq!(
            (conversation.len(), conversation.hash(&tail)),
            (1, before),
            "{wrong}"
        );
    }
}

#[test]
fn a_tail_must_sort_after_the_messages() {
    for (text, key) in [
        (r#"{"model":1,"messages":[]}"#, r#""messages""#),
        (r#"{"a":1}"#, r#""a""#),
        (r#"{"zebra":1,"":2}"#, r#""""#),
        (r#"{"message":1}"#, r#""message""#),
        (r#"{"\n":1}"#, r#""\n""#),
        (r#"{"😀":0,"input":1}"#, r#""input""#),
    ] {
        assert_eq!(
            RequestTail::new(text),
            Err(RequestTailError::KeyBeforeMessages {
                key: key.to_owned()
            }),
            "{text}"
        );
    }
    for fine in ["{}", r#"{"messagesx":1}"#, r#"{"\ud83d":1,"é":2}"#] {
        assert!(RequestTail::new(fine).is_ok(), "{fine}");
    }
    for other in ["[]", "1", "\"{\"", "null"] {
        assert_eq!(
            RequestTail::new(other),
            Err(RequestTailError::NotAnObject),
            "{other}"
        );
    }
    assert!(matches!(
        RequestTail::new(r#"{"z":1,"z":1}"#),
        Err(RequestTailError::Json(_))
    ));
}

#[test]
fn text_conversation_reads_only_what_is_new() {
    let tail = RequestTail::new(TAIL).unwrap();
    let mut conversation = TextConversation::new();
    let mut update = |text: &str| {
        let reused = conversation.update(text).unwrap();
        assert_eq!(
            conversation.hash(&tail),
            content_hash(&document(text, TAIL)).unwrap(),
            "{text}"
        );
        (reused, conversation.len())
    };
    assert_eq!(update("[]"), (0, 0));
    assert_eq!(update("[1]"), (0, 1));
    // A longer number is another message.
    assert_eq!(update("[12]"), (0, 1));
    assert_eq!(update(r#"[12,{"b":1,"a":2}]"#), (3, 2));
    assert_eq!(update(r#"[12,{"b":1,"a":2}]"#), (17, 2));
    assert_eq!(update(r#"[12,{"b":1,"a":2},"x","y"]"#), (17, 4));
    // The last turn said otherwise: back to the one before it.
    assert_eq!(update(r#"[12,{"b":1,"a":2},"z"]"#), (17, 3));
    assert_eq!(update(r#"[12,{"b":1,"a":2}]"#), (17, 2));
    assert_eq!(update("[12]"), (3, 1));
    assert_eq!(update("[7,8]"), (0, 2));
    assert_eq!(update("[]"), (0, 0));
}

#[test]
fn a_refused_text_changes_nothing() {
    let tail = RequestTail::new(TAIL).unwrap();
    let mut conversation = TextConversation::new();
    conversation.update("[1,2]").unwrap();
    let before = conversation.hash(&tail);
    for wrong in [
        "",
        "[1,2",
        "[1,2,]",
        "[1,2}",
        "[1,2],",
        "[1,2] ",
        "[1,2,3",
        "{}",
        "[3",
        "[1,2,{\"a\":0,\"a\":0}]",
    ] {
        assert!(conversation.update(wrong).is_err(), "{wrong}");
        assert_eq!(
            (conversation.len(), conversation.hash(&tail)),
            (2, before),
            "{wrong}"
        );
        assert_eq!(conversation.update("[1,2]"), Ok(4));
    }
}

proptest! {
    #[test]
    fn any_conversation_agrees_with_the_whole_document(seed in any::<u64>(), turns in 0_usize..8) {
        let mut generator = Generator::new(seed);
        let Json::Object(mut members) = generator.object() else { unreachable!() };
        for (index, (key, _)) in members.iter_mut().enumerate() {
            key.splice(..0, format!("model{index}").encode_utf16());
        }
        let tail_text = Json::Object(members).stringified();
        let tail = RequestTail::new(&tail_text).unwrap();
        let mut conversation = Conversation::new();
        let mut text_conversation = TextConversation::new();
        let mut messages = Vec::new();
        for _ in 0..turns {
            let Json::Array(mut new) = generator.array() else { unreachable!() };
            conversation.append(&Json::Array(new.clone()).stringified()).unwrap();
            messages.append(&mut new);
            let whole = Json::Array(messages.clone()).stringified();
            let wanted = content_hash(&document(&whole, &tail_text)).unwrap();
            prop_assert_eq!(conversation.hash(&tail), wanted);
            prop_assert_eq!(conversation.len(), messages.len());
            text_conversation.update(&whole).unwrap();
            prop_assert_eq!(text_conversation.hash(&tail), wanted);
            prop_assert_eq!(text_conversation.len(), messages.len());
            // Another branch, and back again.
            if generator.below(3) == 0 {
                let mut branch = messages.clone();
                branch.truncate(generator.below(messages.len() + 1));
                branch.push(generator.document());
                let branch = Json::Array(branch).stringified();
                text_conversation.update(&branch).unwrap();
                prop_assert_eq!(text_conversation.hash(&tail), content_hash(&document(&branch, &tail_text)).unwrap());
            }
        }
    }

    #[test]
    fn no_text_breaks_a_conversation(texts in proptest::collection::vec(r#"(\[|\]|,|1|2|"a"|\{"b":1,"a":2\}| ){0,9}"#, 0..9)) {
        let tail = RequestTail::new("{}").unwrap();
        let mut conversation = TextConversation::new();
        let mut last = "[]".to_owned();
        for text in texts {
            let is_array = text.starts_with('[') && content_hash(&text).is_ok();
            prop_assert_eq!(conversation.update(&text).is_ok(), is_array, "{}", text);
            if is_array {
                last = text;
            }
            prop_assert_eq!(conversation.hash(&tail), content_hash(&document(&last, "{}")).unwrap());
        }
    }
}

#[test]
fn legacy_vectors() {
    let text = fs::read_to_string(fixtures().join("legacy-hash-vectors.json")).unwrap();
    let vectors = elements(member(&text, "vectors").unwrap());
    assert!(vectors.len() >= 22);
    for vector in vectors {
        let spelt: String = serde_json::from_str(member(vector, "json").unwrap()).unwrap();
        let json = match spelt.split_once("\"*") {
            Some((character, count)) => format!(
                "{}\"",
                character.to_owned() + &"x".repeat(count.parse::<usize>().unwrap() - 1)
            ),
            None => spelt,
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

/// Every content hash in the recorded traces, computed again from its own event.
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
