//! Streamed answers: events as text, JSON lines or the frames of AWS, assembled to one message.

use serde_json::Value;

use super::answer::{Tokens, read_answer};
use super::message::ToolCall;
use super::{Exchange, Message, any, any_text, items, parse, text};

const FINISH: &[&str] = &[
    "finish_reason",
    "stop_reason",
    "finishReason",
    "stopReason",
    "done_reason",
];

/// An answer while its events are read.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    pub message: Message,
    pub others: Vec<Message>,
    /// For each call of a tool, the index that its events name it by.
    indexes: Vec<Option<u64>>,
    model: Option<String>,
    finish: Option<String>,
    usage: Option<Tokens>,
}

impl Assembler {
    /// Reads model, finish reason and tokens, which documents and events have under the same names.
    pub fn note(&mut self, value: &Value) {
        if let Some(model) = any_text(value, &["model", "modelVersion", "modelId"]) {
            self.model = Some(model.to_owned());
        }
        let finish = any(value, FINISH);
        let finish = finish.and_then(|finish| finish.as_str().or_else(|| text(finish, "unified")));
        // The API for Responses has a status instead.
        let finish = finish.or_else(|| {
            let details = value.get("incomplete_details")?;
            text(details, "reason").or_else(|| text(value, "status"))
        });
        if let Some(finish) = finish {
            self.finish = Some(finish.to_owned());
        }
        let usage = any(value, &["usage", "usageMetadata"]).unwrap_or(value);
        if let Some(usage) = Tokens::read(usage) {
            self.add_usage(usage);
        }
    }

    /// Later counts replace earlier ones. Anthropic reports those of the request first.
    fn add_usage(&mut self, new: Tokens) {
        let old = self.usage.unwrap_or_default();
        let newer = |new: u64, old: u64| if new == 0 { old } else { new };
        let prompt_tokens = newer(new.prompt_tokens, old.prompt_tokens);
        let completion_tokens = newer(new.completion_tokens, old.completion_tokens);
        self.usage = Some(Tokens {
            prompt_tokens,
            completion_tokens,
            total_tokens: new
                .total_tokens
                .max(prompt_tokens.saturating_add(completion_tokens)),
        });
    }

    /// Adds an event of any provider.
    pub fn event(&mut self, event: &Value) {
        let kind = text(event, "type").unwrap_or_default();
        let index =
            any(event, &["index", "contentBlockIndex", "output_index"]).and_then(Value::as_u64);
        match kind {
            "response.completed" | "response.incomplete" | "response.failed" => {
                if let Some(response) = event.get("response") {
                    // It repeats the whole answer, unless the server leaves it out.
                    let pieces = std::mem::take(&mut self.message);
                    read_answer(response, self);
                    if self.message.is_empty() {
                        self.message = pieces;
                    }
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text(event.get("delta"));
            }
            "response.reasoning_summary_text.delta" | "reasoning-delta" => {
                self.message
                    .reasoning
                    .push_str(text(event, "delta").unwrap_or_default());
            }
            "response.output_item.added" => self.start_call(event.get("item"), index),
            "response.function_call_arguments.delta" => self.arguments(index, text(event, "delta")),
            // Parts of the AI SDK.
            "text-delta" => self.text(any(event, &["delta", "text"])),
            "tool-call" => self.add(event),
            _ => self.other_event(event, index),
        }
    }

    fn other_event(&mut self, event: &Value, index: Option<u64>) {
        self.note(event);
        if let Some(message) = event.get("message") {
            self.note(message);
            self.message.add_members(message, true, &mut self.others);
        }
        // Ollama's completions.
        self.text(
            event
                .get("response")
                .filter(|response| response.is_string()),
        );
        let block = any(event, &["content_block", "start"]);
        if block.is_some_and(|block| text(block, "type") == Some("text")) {
            self.text(block.and_then(|block| block.get("text")));
        }
        self.start_call(block, index);
        if let Some(choice) = items(any(event, &["choices", "candidates"])).first() {
            self.note(choice);
            if let Some(content) = any(choice, &["content"]) {
                self.message.add_members(content, true, &mut self.others);
            }
            self.text(choice.get("text"));
            self.delta(choice.get("delta"), None);
        }
        self.delta(event.get("delta"), index);
    }

    /// Adds a piece of a message or of one of its blocks.
    fn delta(&mut self, delta: Option<&Value>, index: Option<u64>) {
        let Some(delta) = delta else { return };
        self.note(delta);
        // Cohere's pieces are messages.
        let piece = delta.get("message").unwrap_or(delta);
        self.text(piece.get("text"));
        self.text(piece.get("content"));
        let thought = any(
            piece,
            &[
                "reasoning_content",
                "reasoning",
                "thinking",
                "reasoningContent",
            ],
        );
        let thought = thought.map(|thought| thought.get("text").unwrap_or(thought));
        let thought = thought.and_then(Value::as_str).unwrap_or_default();
        self.message.reasoning.push_str(thought);
        let input = piece.get("toolUse").and_then(|tool| text(tool, "input"));
        self.arguments(index, text(piece, "partial_json").or(input));
        let calls = any(piece, &["tool_calls"]);
        for call in calls.map_or(&[][..], |calls| {
            calls
                .as_array()
                .map_or(std::slice::from_ref(calls), Vec::as_slice)
        }) {
            let index = call.get("index").and_then(Value::as_u64).or(index);
            let function = call.get("function").unwrap_or(call);
            if text(function, "name").is_some_and(|name| !name.is_empty()) {
                self.start(text(call, "id"), text(function, "name"), index);
            }
            self.arguments(index, text(function, "arguments"));
        }
    }

    /// Starts a call whose arguments follow in pieces.
    fn start_call(&mut self, block: Option<&Value>, index: Option<u64>) {
        let Some(block) = block else { return };
        let is_call = text(block, "type")
            .is_some_and(|kind| kind.ends_with("tool_use") || kind.ends_with("function_call"));
        let call = block.get("toolUse").or(is_call.then_some(block));
        if let Some(call) = call {
            let id = any_text(call, &["call_id", "toolUseId", "id"]);
            self.start(id, text(call, "name"), index);
        }
    }

    fn start(&mut self, id: Option<&str>, name: Option<&str>, index: Option<u64>) {
        self.indexes.resize(self.message.tool_calls.len(), None);
        self.indexes.push(index);
        self.message.tool_calls.push(ToolCall {
            id: id.map(str::to_owned),
            name: name.unwrap_or_default().to_owned(),
            arguments: String::new(),
        });
    }

    fn arguments(&mut self, index: Option<u64>, piece: Option<&str>) {
        let at = self.indexes.iter().rposition(|known| *known == index);
        let call = at.and_then(|at| self.message.tool_calls.get_mut(at));
        if let (Some(call), Some(piece)) = (call, piece) {
            call.arguments.push_str(piece);
        }
    }

    fn text(&mut self, content: Option<&Value>) {
        if let Some(content) = content {
            self.add(content);
        }
    }

    fn add(&mut self, content: &Value) {
        self.message.add(content, &mut self.others);
    }

    /// Adds the answer to the exchange, if there is any.
    pub fn finish(mut self, exchange: &mut Exchange) {
        exchange.model = exchange.model.take().or(self.model);
        exchange.finish_reason = self.finish;
        exchange.usage = self.usage;
        if self.message.is_empty() {
            return;
        }
        if self.message.role.is_empty() {
            "assistant".clone_into(&mut self.message.role);
        }
        exchange.answer = Some(self.message);
    }
}

/// The events in a text: server-sent events, or lines of JSON.
pub(super) fn events_of_text(body: &str) -> impl Iterator<Item = Value> {
    let lines = body.split(['\n', '\r']);
    lines.filter_map(|line| {
        let data = line.strip_prefix("data:").unwrap_or(line).trim();
        data.starts_with(['{', '[']).then(|| parse(data)).flatten()
    })
}

/// The events in frames of `application/vnd.amazon.eventstream`, as base64.
pub(super) fn events_of_bytes(base64: &str) -> Vec<Value> {
    let bytes = decode_base64(base64);
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        let number = four
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte));
        Some(number)
    };
    let mut events = Vec::new();
    let mut at = 0;
    while let (Some(length), Some(headers)) = (number(at), number(at + 4)) {
        // Around the payload: two lengths and their checksum before the headers, a checksum at the end.
        let payload = bytes.get(at + 12 + headers..(at + length).saturating_sub(4));
        let event = payload.and_then(|payload| parse(&String::from_utf8_lossy(payload)));
        if length < 16 {
            break;
        }
        if let Some(event) = event {
            // Models of Anthropic come in an envelope.
            let inner = text(&event, "bytes").map(decode_base64);
            let inner = inner.and_then(|inner| parse(&String::from_utf8_lossy(&inner)));
            events.push(inner.unwrap_or(event));
        }
        at += length;
    }
    events
}

/// Decodes base64 up to the first character of another alphabet.
fn decode_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for character in text.bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held).to_le_bytes()[0]);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
