//! Messages and their parts, in the forms of all providers.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{any, any_text, items, text};

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`, or another one of the provider.
    pub role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// In the result of a tool: the id of its call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool or participant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kinds of parts that are not text, such as `image`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ToolCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    /// JSON text, as the model wrote it. Serialized as JSON if it is valid, otherwise as a string.
    #[serde(serialize_with = "arguments")]
    pub arguments: String,
}

fn arguments<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    match super::parse(text) {
        Some(value) => value.serialize(to),
        None => to.serialize_str(text),
    }
}

impl Message {
    pub(super) fn new(role: &str) -> Self {
        let role = match role {
            "model" => "assistant",
            "developer" => "system",
            "function" => "tool",
            other => other,
        };
        Self {
            role: role.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
            && self.reasoning.is_empty()
            && self.tool_calls.is_empty()
            && self.media.is_empty()
    }

    /// Adds a text, a part or a list of parts. Results of tools become messages of their own in `others`.
    pub(super) fn add(&mut self, content: &Value, others: &mut Vec<Message>) {
        match content {
            Value::String(content) => self.text.push_str(content),
            Value::Array(parts) => parts.iter().for_each(|part| self.add(part, others)),
            Value::Object(_) => self.add_part(content, others),
            _ => {}
        }
    }

    fn add_part(&mut self, part: &Value, others: &mut Vec<Message>) {
        let kind = text(part, "type").unwrap_or_default();
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        if let Some(call) = ToolCall::read(part) {
            self.tool_calls.push(call);
        } else if let Some(result) = result_in(part) {
            others.push(result);
        } else if kind == "reasoning" || kind == "thinking" || is_thought {
            self.reasoning.push_str(&thought(part));
        } else if let Some(reasoning) = part.get("reasoningContent") {
            let inner = reasoning.get("reasoningText").unwrap_or(reasoning);
            self.reasoning.push_str(&thought(inner));
        } else if let Some(written) = any_text(part, &["text", "refusal"]) {
            self.text.push_str(written);
        } else if let Some(json) = part.get("json") {
            self.text.push_str(&json.to_string());
        } else if let Some(kind) = media_kind(part, kind) {
            self.media.push(kind.to_owned());
        }
    }

    /// Reads a message, or an item of a Responses request, and adds it to a conversation.
    pub(super) fn read_into(message: &Value, default_role: &str, all: &mut Vec<Message>) {
        let role = text(message, "role");
        let mut read = Self::new(role.unwrap_or_else(|| default_role_of(message, default_role)));
        let mut results = Vec::new();
        read.add_members(message, role.is_some(), &mut results);
        read.tool_call_id = any_text(message, &["tool_call_id", "toolCallId"]).map(str::to_owned);
        read.name = any_text(message, &["name", "tool_name"])
            .filter(|_| role.is_some())
            .map(str::to_owned);
        // A message that only carries results is not one of its own.
        let is_carrier = read.is_empty() && !results.is_empty();
        all.append(&mut results);
        if !is_carrier && (!read.is_empty() || role.is_some()) {
            all.push(read);
        }
    }

    /// Adds the content of a message, an answer or a piece of one.
    pub(super) fn add_members(
        &mut self,
        message: &Value,
        has_role: bool,
        others: &mut Vec<Message>,
    ) {
        match any(message, &["content", "parts"]) {
            Some(content) if has_role || text(message, "type") == Some("message") => {
                self.add(content, others);
            }
            _ if !has_role => self.add(message, others),
            _ => {}
        }
        let thoughts = ["reasoning_content", "reasoning", "thinking"];
        if has_role && let Some(thought) = any_text(message, &thoughts) {
            self.reasoning.push_str(thought);
        }
        if has_role && let Some(refusal) = text(message, "refusal") {
            self.text.push_str(refusal);
        }
        let calls = items(any(message, &["tool_calls", "toolCalls"]));
        self.tool_calls.extend(calls.iter().map(|call| {
            ToolCall::read_members(call.get("function").unwrap_or(call), text(call, "id"))
        }));
        let images = items(message.get("images")).iter();
        self.media.extend(images.map(|_| "image".to_owned()));
    }
}

fn default_role_of<'a>(message: &Value, default_role: &'a str) -> &'a str {
    match text(message, "type") {
        Some("function_call" | "reasoning") => "assistant",
        _ => default_role,
    }
}

impl ToolCall {
    /// Reads a part that is a call of a tool.
    fn read(part: &Value) -> Option<Self> {
        if let Some(call) = any(part, &["toolUse", "functionCall"]) {
            return Some(Self::read_members(call, None));
        }
        let kind = text(part, "type")?;
        let is_call = kind.ends_with("tool_use") || kind.ends_with("_call") || kind == "tool-call";
        is_call.then(|| {
            let mut call = Self::read_members(part, None);
            if call.name.is_empty() {
                // Tools of the provider have no name.
                kind.clone_into(&mut call.name);
            }
            call
        })
    }

    fn read_members(call: &Value, id: Option<&str>) -> Self {
        let id = id.or_else(|| any_text(call, &["call_id", "toolCallId", "toolUseId", "id"]));
        let arguments = any(call, &["arguments", "input", "args", "action"]);
        Self {
            id: id.map(str::to_owned),
            name: any_text(call, &["name", "toolName"])
                .unwrap_or_default()
                .to_owned(),
            arguments: arguments.map(plain).unwrap_or_default(),
        }
    }
}

/// The result of a tool, as a message.
fn result_in(part: &Value) -> Option<Message> {
    let result = any(part, &["toolResult", "functionResponse"]).or_else(|| {
        let kind = text(part, "type")?;
        let is_result = kind.ends_with("tool_result")
            || kind.ends_with("_call_output")
            || kind == "tool-result";
        is_result.then_some(part)
    })?;
    let ids = ["tool_use_id", "toolUseId", "call_id", "toolCallId", "id"];
    Some(Message {
        text: any(result, &["content", "output", "response", "result"])
            .map(content_text)
            .unwrap_or_default(),
        tool_call_id: any_text(result, &ids).map(str::to_owned),
        name: any_text(result, &["name", "toolName"]).map(str::to_owned),
        ..Message::new("tool")
    })
}

/// The text of a tool's output: its text parts, or its JSON.
pub(super) fn content_text(output: &Value) -> String {
    if let Some(value) = output.get("value").filter(|_| output.get("type").is_some()) {
        return content_text(value);
    }
    let is_parts = |part: &Value| any(part, &["type", "text", "json"]).is_some();
    if items(Some(output)).iter().any(is_parts) {
        let mut message = Message::default();
        message.add(output, &mut Vec::new());
        let media = message.media.iter().map(|kind| format!("[{kind}]"));
        return message.text + &media.collect::<String>();
    }
    plain(output)
}

/// A string as it is, everything else as JSON text.
pub(super) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn thought(part: &Value) -> String {
    let mut message = Message::default();
    for content in ["thinking", "text", "content", "summary"] {
        if let Some(content) = part.get(content) {
            message.add(content, &mut Vec::new());
        }
    }
    message.text
}

fn media_kind<'a>(part: &'a Value, kind: &'a str) -> Option<&'a str> {
    if !kind.is_empty() {
        return Some(kind.trim_start_matches("input_").trim_end_matches("_url"));
    }
    part.as_object()?.keys().next().map(String::as_str)
}
