//! The LLM call boundary, for texts of any kind.

use std::ops::Range;

use agent_rewind_core::boundary::{
    Numbers, count_tools, element_hashes, format_human, format_json, message_tokens, python_hash,
    python_json, request_spans, text_tokens,
};
use proptest::prelude::*;

/// Arbitrary JSON and JSON of messages.
fn json() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,6}",
        Just("role".to_owned()),
        Just("content".to_owned()),
        Just("messages".to_owned()),
    ];
    let leaf = prop_oneof![
        string.clone().prop_map(|text| quoted(&text)),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| format!("{value:e}")),
        any::<i64>().prop_map(|value| value.to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"\\ud83d\"".to_owned()),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        let members = prop::collection::btree_map(string.clone(), inner.clone(), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(", "))),
            members.prop_map(|members| {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}:{value}", quoted(key)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(" ,"))
            }),
        ]
    })
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    agent_rewind_core::json::JsonStr::from_plain(text).write_quoted(&mut out);
    out
}

/// Calls every function that reads a text.
fn read(text: &str) {
    for numbers in [Numbers::JavaScript, Numbers::Source] {
        let _ = python_hash(text, numbers);
        let _ = python_json(text, numbers);
        let _ = element_hashes(text, numbers);
        let _ = message_tokens(text, numbers);
        let _ = count_tools(text, numbers);
    }
    let _ = request_spans(text);
    let _ = format_json(text);
    let _ = format_human(text);
    let _ = text_tokens(text);
}

proptest! {
    #[test]
    fn the_form_of_python_is_its_own(text in json()) {
        let python = python_json(&text, Numbers::Source).ok();
        prop_assert!(python.is_some());
        let python = python.unwrap_or_default();
        prop_assert!(python.is_ascii());
        prop_assert_eq!(python_json(&python, Numbers::Source), Ok(python.clone()));
        prop_assert_eq!(python_hash(&text, Numbers::Source), python_hash(&python, Numbers::Source));
    }

    #[test]
    fn nothing_panics(text in prop_oneof![json(), "\\PC{0,40}", "[\\[\\]{}\",:\\\\u0-9a-f.e-]{0,40}"]) {
        read(&text);
        // Truncated at every character.
        for (at, _) in text.char_indices() {
            read(&text[..at]);
        }
    }
}

#[test]
fn nesting_is_limited_and_does_not_recurse() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(python_json(&deep, Numbers::Source).is_err());
    read(&deep);
}

#[test]
fn a_broken_escape_is_rejected() {
    read("\"\\\u{108f4}");
    assert!(count_tools("\"\\\u{108f4}", Numbers::JavaScript).is_err());
}

#[test]
fn finds_the_parts_of_a_request() {
    let text = r#" {"model":"m", "messages" : [1.0], "tools":[2],"temperature":1.0,"system":"s"} "#;
    let spans = request_spans(text).ok().flatten().unwrap_or_default();
    let at = |span: Option<Range<usize>>| span.and_then(|span| text.get(span));
    assert_eq!(at(spans.messages), Some("[1.0]"));
    assert_eq!(at(spans.tools), Some("[2]"));
    assert_eq!(at(spans.system), Some("\"s\""));
    assert_eq!(spans.parameters, r#"{"model":"m","temperature":1.0}"#);
    assert_eq!(request_spans("[]"), Ok(None));
    let both = request_spans(r#"{"input":1,"messages":2}"#).ok().flatten();
    let both = both.unwrap_or_default();
    assert_eq!(both.messages_name, Some("messages"));
    assert_eq!(both.parameters, r#"{"input":1}"#);
    assert!(request_spans("{").is_err());
}
