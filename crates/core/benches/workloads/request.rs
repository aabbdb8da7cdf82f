//! Requests of chat models as programs write them: their keys are not in canonical order.

use std::fmt::Write;

#[derive(Clone, Copy)]
pub enum Filling {
    /// English prose with line breaks and quotes.
    Ascii,
    /// Chinese prose.
    Cjk,
    /// An image in each message.
    Base64,
    /// Tool calls, whose arguments are JSON in a string.
    Tools,
}

/// The members of a request other than its messages.
pub const TAIL: &str = concat!(
    r#"{"model":{"id":"gpt-4o","provider":"openai"},"options":{"temperature":0.2},"schema":{"type":"object","properties":"#,
    r#"{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}}"#
);

/// A message with its keys in the order in which programs write them, which is not the canonical
/// one.
pub fn message(filling: Filling, number: usize, bytes: usize) -> String {
    let (sentence, role) = match filling {
        Filling::Ascii => (
            "The report of the second quarter shows that \\\"net\\\" revenue rose by 4.2 % over the year before.\\n",
            "user",
        ),
        Filling::Cjk => (
            "第二季度的报告显示，净收入比去年同期增长了百分之四点二，主要来自海外市场。",
            "user",
        ),
        Filling::Base64 => (
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg",
            "user",
        ),
        Filling::Tools => {
            return format!(
                concat!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":"#,
                    r#"{{"name":"search","arguments":"{{\"query\":\"revenue {n}\",\"limit\":10}}"}}}}]}},"#,
                    r#"{{"role":"tool","tool_call_id":"call_{n}","content":"[{{\"title\":\"Report {n}\",\"rank\":1,\"text\":\"{text}\"}}]"}}"#
                ),
                n = number,
                text = "Net revenue rose by 4.2 % over the year before. ".repeat(bytes / 100)
            );
        }
    };
    let mut text = format!(r#"{{"role":"{role}","content":"{number}: "#);
    while text.len() < bytes {
        text.push_str(sentence);
    }
    text.push_str("\"}");
    text
}

fn messages(filling: Filling, bytes: usize) -> String {
    let size = match filling {
        Filling::Base64 => bytes / 2,
        _ => (bytes / 4).min(1_200),
    };
    let mut text = String::from("[");
    let mut number = 0;
    while text.len() < bytes {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{}", message(filling, number, size));
        number += 1;
    }
    text.push(']');
    text
}

/// Built as a program would: the model first, the schema's keys in any order.
pub fn document(filling: Filling, kilobytes: usize) -> String {
    let bytes = kilobytes * 1_024;
    let messages = messages(filling, bytes.saturating_sub(TAIL.len() + 40));
    format!("{},\"messages\":{messages}}}", &TAIL[..TAIL.len() - 1])
}

/// A JSON array of the given number of messages of 2 KB.
pub fn history(count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|number| message(Filling::Ascii, number, 2_048))
        .collect();
    format!("[{}]", all.join(","))
}
