//! The answers of providers: whole documents, and what an HTTP response contains.

use serde::Serialize;
use serde_json::Value;

use super::message::{content_text, plain};
use super::stream::{Assembler, events_of_bytes, events_of_text};
use super::{Exchange, Message, any, any_text, items, parse, text};

/// The tokens of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// All tokens of the request, also those that the provider read from or wrote to a cache.
    pub prompt_tokens: u64,
    /// All tokens of the answer, also those of its reasoning.
    pub completion_tokens: u64,
    pub total_tokens: u64,
}

impl Tokens {
    /// Reads an object with counts under any provider's names. `None` if it has none.
    pub(super) fn read(usage: &Value) -> Option<Self> {
        // Cohere counts what it bills and what it processed.
        let usage = usage.get("tokens").unwrap_or(usage);
        let count = |names: &[&str]| {
            let found = any(usage, names)?;
            found.get("total").unwrap_or(found).as_u64()
        };
        let prompt = count(&[
            "prompt_tokens",
            "input_tokens",
            "promptTokens",
            "inputTokens",
            "promptTokenCount",
            "prompt_eval_count",
        ]);
        let completion = count(&[
            "completion_tokens",
            "output_tokens",
            "completionTokens",
            "outputTokens",
            "candidatesTokenCount",
            "eval_count",
        ]);
        let total = count(&["total_tokens", "totalTokens", "totalTokenCount"]);
        prompt.or(completion).or(total)?;
        // Anthropic counts cached tokens apart, Gemini those of thoughts.
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let cached: u64 = cached.iter().filter_map(|name| count(&[name])).sum();
        let thoughts = count(&["thoughtsTokenCount"]).unwrap_or(0);
        let prompt_tokens = prompt.unwrap_or(0).saturating_add(cached);
        let completion_tokens = completion.unwrap_or(0).saturating_add(thoughts);
        Some(Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: total.unwrap_or(prompt_tokens.saturating_add(completion_tokens)),
        })
    }
}

pub(super) fn read(output: &Value, exchange: &mut Exchange) {
    let mut assembler = Assembler::default();
    if exchange.api == "tool" || exchange.api == "mcp" {
        // The answer of an MCP server is in an envelope.
        let result = output.get("result").unwrap_or(output);
        let content = result.get("content").unwrap_or(result);
        exchange.answer = Some(Message {
            text: content_text(content),
            ..Message::new("tool")
        });
        return;
    }
    let status = output.get("status").and_then(Value::as_u64);
    match (status, output.get("body"), output.get("parts")) {
        (Some(status), body, _) if exchange.endpoint.is_some() => {
            exchange.status = Some(status);
            read_http(body.unwrap_or(&Value::Null), &mut assembler);
        }
        (_, _, Some(parts)) if exchange.api == "ai-sdk" => {
            for part in items(Some(parts)) {
                assembler.event(part);
            }
        }
        _ => read_answer(output, &mut assembler),
    }
    assembler.finish(exchange);
}

fn read_http(body: &Value, assembler: &mut Assembler) {
    if let Some(json) = body.get("json") {
        read_document(json, assembler);
    } else if let Some(written) = text(body, "text") {
        match parse(written) {
            Some(document) => read_document(&document, assembler),
            None => events_of_text(written).for_each(|event| assembler.event(&event)),
        }
    } else if let Some(bytes) = text(body, "bytes") {
        for event in events_of_bytes(bytes) {
            assembler.event(&event);
        }
    }
}

/// Gemini streams a list of answers if no events are asked for.
fn read_document(document: &Value, assembler: &mut Assembler) {
    match document {
        Value::Array(events) => events.iter().for_each(|event| assembler.event(event)),
        _ => read_answer(document, assembler),
    }
}

/// Reads a whole answer.
pub(super) fn read_answer(answer: &Value, to: &mut Assembler) {
    if let Some(error) = any(answer, &["error"]) {
        let message = any_text(error, &["message"]).map_or_else(|| plain(error), str::to_owned);
        to.message.text.push_str(&message);
        return;
    }
    to.note(answer);
    let mut others = Vec::new();
    let choice = items(any(answer, &["choices", "candidates"])).first();
    if let Some(choice) = choice {
        to.note(choice);
    }
    let source = choice.unwrap_or(answer);
    // Of OpenAI, Ollama, Cohere; of Bedrock; of Gemini.
    let message = any(source, &["message"])
        .or_else(|| source.get("output")?.get("message"))
        .or_else(|| source.get("content").filter(|_| choice.is_some()));
    if let Some(message) = message {
        to.message.add_members(message, true, &mut others);
    } else if source.get("role").is_some() && source.get("output").is_none() {
        to.message.add_members(source, true, &mut others);
    } else if source.is_string() {
        to.message.add(source, &mut others);
    } else if let Some(content) = any(source, &["content", "output", "response", "text"]) {
        // The AI SDK lists parts, Responses lists items.
        add_items(content, to, &mut others);
    }
    // Results of tools that the provider itself executed.
    to.others.append(&mut others);
}

fn add_items(content: &Value, to: &mut Assembler, others: &mut Vec<Message>) {
    let list = content
        .as_array()
        .map_or(std::slice::from_ref(content), Vec::as_slice);
    for item in list {
        if item.is_string() {
            to.message.add(item, others);
        } else {
            to.message
                .add_members(item, item.get("role").is_some(), others);
        }
    }
}
