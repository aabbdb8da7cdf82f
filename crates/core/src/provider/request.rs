//! The request documents of providers, SDKs and adapters.

use serde_json::Value;

use super::message::plain;
use super::{Exchange, Message, ToolCall, any, any_text, items, text};

/// The APIs, by a part of the path of their requests.
const PATHS: &[(&str, &str)] = &[
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    ("/v1/messages", "anthropic"),
    ("eneratecontent", "gemini"),
    ("/converse", "bedrock"),
    ("/invoke", "bedrock"),
    ("/api/chat", "ollama"),
    ("/api/generate", "ollama"),
    ("/v2/chat", "cohere"),
    ("/embed", "embeddings"),
];

pub(super) fn read(kind: &str, document: &Value, exchange: &mut Exchange) {
    let asked = document.get("input").filter(|_| {
        // A prompt of an agent has no envelope.
        kind != "prompt" || document.get("messages").is_none()
    });
    let asked = asked.unwrap_or(document);
    if let (Some(method), Some(url)) = (text(asked, "method"), text(asked, "url")) {
        let path = path_of(url);
        exchange.endpoint = Some(format!("{method} {path}"));
        let lower = path.to_ascii_lowercase();
        let known = PATHS.iter().find(|(part, _)| lower.contains(part));
        exchange.api = known.map_or("http", |(_, api)| api);
        exchange.model = model_in(path);
        // JSON-RPC over HTTP is the transport of MCP.
        if let Some(body) = asked.get("body") {
            read_body(body, exchange);
        }
        return;
    }
    match kind {
        "tool" => {
            exchange.api = "tool";
            exchange.tool = Some(ToolCall {
                id: None,
                name: text(document, "name").unwrap_or_default().to_owned(),
                arguments: plain(asked),
            });
        }
        "mcp" => exchange.api = "mcp",
        "prompt" => exchange.api = "agent",
        _ if asked.get("provider").is_some() && asked.get("type").is_some() => {
            exchange.api = "ai-sdk";
        }
        _ => {}
    }
    if !matches!(kind, "tool" | "mcp") {
        read_body(asked, exchange);
    }
}

fn read_body(body: &Value, exchange: &mut Exchange) {
    let model = any(body, &["model", "modelId"]);
    let model = model.and_then(|model| model.as_str().or_else(|| text(model, "id")));
    exchange.model = model.map(str::to_owned).or(exchange.model.take());
    let system = any(
        body,
        &[
            "system",
            "instructions",
            "systemInstruction",
            "system_instruction",
        ],
    );
    if let Some(system) = system {
        let mut message = Message::new("system");
        message.add(any(system, &["parts"]).unwrap_or(system), &mut Vec::new());
        if !message.is_empty() {
            exchange.messages.push(message);
        }
    }
    match any(body, &["messages", "input", "contents", "prompt", "values"]) {
        Some(Value::Array(messages)) => {
            for message in messages {
                Message::read_into(message, "user", &mut exchange.messages);
            }
        }
        Some(Value::String(prompt)) => exchange.messages.push(Message {
            text: prompt.clone(),
            ..Message::new("user")
        }),
        _ => {}
    }
    let config = any(body, &["toolConfig"]).and_then(|config| config.get("tools"));
    exchange.tools = items(body.get("tools").or(config))
        .iter()
        .flat_map(tool_names)
        .collect();
}

fn tool_names(tool: &Value) -> Vec<String> {
    let declared = items(any(
        tool,
        &["functionDeclarations", "function_declarations"],
    ));
    let one = any(tool, &["function", "toolSpec"]).unwrap_or(tool);
    let all = declared.iter().chain([one]);
    all.filter_map(|tool| any_text(tool, &["name", "type"]))
        .map(str::to_owned)
        .collect()
}

/// The path of a URL, without the query.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or(path)
}

/// The model that a path names, as those of Gemini, Bedrock and Azure do.
fn model_in(path: &str) -> Option<String> {
    let mut segments = path.split('/');
    segments.find(|segment| matches!(*segment, "models" | "model" | "deployments"))?;
    let model = segments.next()?.split(':').next()?;
    // Colons and slashes in the ids of Bedrock are encoded.
    Some(model.replace("%3A", ":").replace("%2F", "/")).filter(|model| !model.is_empty())
}
