//! Summaries: the first difference in the words of the program, and the changed lines.

use agent_rewind_core::diff::{Summary, summarize};
use serde_json::{Value, json};

use super::compare;

fn request() -> Value {
    json!({ "name": "api.openai.com", "input": { "method": "POST", "url": "https://api.openai.com/v1", "body": {
        "model": "gpt-5", "temperature": 0.2,
        "messages": [
            { "role": "system", "content": "You help.\nAnswer in one sentence.\nBe polite.\nSay no.\nEnd." },
            { "role": "user", "content": "When are you open?" },
            { "role": "assistant", "content": "From 9." },
        ],
        "tools": [{ "type": "function", "function": { "name": "search", "parameters": { "type": "object" } } }],
    } } })
}

fn changed(change: impl FnOnce(&mut Value)) -> Summary {
    let (recorded, mut actual) = (request(), request());
    change(&mut actual["input"]["body"]);
    let [recorded, actual] = [recorded, actual].map(|document| document.to_string());
    summarize(&recorded, &actual, &compare(&recorded, &actual))
}

#[test]
fn a_changed_line_of_a_prompt() {
    let summary = changed(|body| {
        body["messages"][0]["content"] =
            json!("You help.\nAnswer in two sentences.\nBe polite.\nSay no.\nEnd.");
    });
    assert_eq!(summary.cause, "messages[0].content (system) changed");
    assert_eq!(
        summary.lines,
        [
            "  You help.",
            "- Answer in one sentence.",
            "+ Answer in two sentences.",
            "  Be polite.",
            "  Say no."
        ]
    );
}

#[test]
fn options_models_tools_and_messages() {
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 6] = [
        (
            |body| body["temperature"] = json!(0.7),
            "temperature: 0.2 → 0.7",
        ),
        (
            |body| body["model"] = json!("gpt-6"),
            r#"model: "gpt-5" → "gpt-6""#,
        ),
        (
            |body| {
                let tool = json!({ "type": "function", "function": { "name": "refund" } });
                body["tools"].as_array_mut().unwrap().push(tool);
            },
            "tools[1] (refund) added",
        ),
        (
            |body| {
                body["messages"].as_array_mut().unwrap().remove(2);
            },
            "messages[2] (assistant) removed",
        ),
        (
            |body| body["messages"].as_array_mut().unwrap().swap(1, 2),
            "messages reordered",
        ),
        (|body| body["top-p"] = json!(1), r#"["top-p"] added: 1"#),
    ];
    for (change, cause) in cases {
        assert_eq!(changed(change).cause, cause);
    }
}

#[test]
fn values_in_the_cause_are_not_shown_twice() {
    assert!(
        changed(|body| body["temperature"] = json!(0.7))
            .lines
            .is_empty()
    );
    let both = changed(|body| {
        body["temperature"] = json!(0.7);
        body["messages"][1]["content"] = json!("When do you close?");
    });
    assert_eq!(both.cause, "messages[1].content (user) changed, and 1 more");
    assert_eq!(
        both.lines,
        [
            "@ messages[1].content",
            "- When are you open?",
            "+ When do you close?",
            "@ temperature",
            "- 0.2",
            "+ 0.7"
        ]
    );
}

#[test]
fn an_added_tool_is_shown_with_its_schema() {
    let summary = changed(|body| {
        let tool = json!({ "type": "function", "function": { "name": "refund" } });
        body["tools"].as_array_mut().unwrap().push(tool);
    });
    assert!(
        summary.lines.iter().all(|line| line.starts_with('+')),
        "{:?}",
        summary.lines
    );
    assert!(
        summary
            .lines
            .iter()
            .any(|line| line.contains(r#""name": "refund""#))
    );
}

#[test]
fn long_texts_are_cut_around_the_change() {
    let [recorded, actual] = ["a", "b"].map(|end| {
        json!({ "input": { "text": format!("{}{end}{}", "x".repeat(5_000), "y".repeat(5_000)) } }).to_string()
    });
    let summary = summarize(&recorded, &actual, &compare(&recorded, &actual));
    assert_eq!(summary.cause, "text changed");
    assert_eq!(summary.lines.len(), 2);
    for (line, end) in summary.lines.iter().zip(["xay", "xby"]) {
        assert!(line.contains(end) && line.chars().count() < 200, "{line}");
    }
    let many = |word: &str| {
        let lines: Vec<_> = (0..500).map(|line| format!("{word} {line}")).collect();
        lines.join("\n")
    };
    let [recorded, actual] =
        ["old", "new"].map(|word| json!({ "input": { "text": many(word) } }).to_string());
    let summary = summarize(&recorded, &actual, &compare(&recorded, &actual));
    assert!(summary.lines.len() < 50);
    assert!(summary.lines.last().unwrap().ends_with("more lines"));
}
