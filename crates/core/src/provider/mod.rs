//! The requests and answers of models, in one form for all providers: read from the documents of recorded calls, whichever
//! client, SDK or adapter sent them. Nothing here decides a replay.

mod answer;
mod message;
mod request;
mod stream;

use serde::Serialize;
use serde_json::Value;

pub use answer::Tokens;
pub use message::{Message, ToolCall};

/// One call, as a reader wants to see it. What the documents do not tell is absent.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// The form of the documents, such as `openai-chat`, `anthropic` or `ai-sdk`. `tool` and `mcp` for their calls.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub api: &'static str,
    /// Method and path of an HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Status of an HTTP response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation that was sent, with system prompts first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Names of the tools that the model was offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// The answer of the model or tool. A streamed one is assembled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
}

impl Exchange {
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The documents of a call, as JSON text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Documents<'a> {
    pub kind: &'a str,
    /// The document that was hashed. It may lack the messages that an earlier request has.
    pub request: Option<&'a str>,
    pub output: Option<&'a str>,
    pub meta: Option<&'a str>,
}

/// Reads a call. A document in an unknown form leaves its fields empty.
#[must_use]
pub fn read(documents: Documents<'_>) -> Exchange {
    let mut exchange = Exchange::default();
    if let Some(request) = documents.request.and_then(parse) {
        request::read(documents.kind, &request, &mut exchange);
    }
    if let Some(output) = documents.output.and_then(parse) {
        answer::read(&output, &mut exchange);
    }
    if let Some(meta) = documents.meta.and_then(parse) {
        let finish = text(&meta, "finishReason").map(str::to_owned);
        exchange.finish_reason = exchange.finish_reason.or(finish);
        exchange.usage = exchange.usage.or_else(|| Tokens::read(meta.get("usage")?));
    }
    exchange
}

/// `None` for text that nests deeper than the 128 levels that the parser accepts.
fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&without_surrogates(text)))
        .ok()
}

/// Replaces the escapes of surrogates, which no Rust string can contain. `JSON.stringify` writes only lone ones.
fn without_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = escape.get(1..5).unwrap_or_default();
        let is_surrogate = escape.starts_with('u')
            && matches!(u32::from_str_radix(digits, 16), Ok(0xD800..0xE000));
        let (shown, length) = if is_surrogate {
            ("\u{FFFD}", 5)
        } else {
            ("\\", 0)
        };
        out.push_str(shown);
        rest = escape.get(length..).unwrap_or_default();
        // The character after a backslash may be a backslash itself.
        if length == 0
            && let Some(next) = rest.chars().next()
        {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out.push_str(rest);
    out
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The first of these members that is there and not null.
fn any<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names
        .iter()
        .find_map(|name| value.get(name).filter(|found| !found.is_null()))
}

fn any_text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    any(value, names)?.as_str()
}

/// The items of a list; none of anything else.
fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
