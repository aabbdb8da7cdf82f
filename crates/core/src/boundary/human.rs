use std::collections::HashMap;

use super::document::Document;
use crate::json::{JsonError, Scanner};

const WIDTH: usize = 80;
/// Characters shown per message.
const SHOWN: usize = 200;

pub(super) fn write(document: &Document<'_>) -> Result<String, JsonError> {
    let mut out = String::new();
    let double = "=".repeat(WIDTH);
    out.push_str(&format!("{double}\nPRAISONAI CONTEXT SNAPSHOT\n{double}\n"));
    let limit = |name: &str| document.budget.get(name).copied().unwrap_or(0.0);
    for (name, value) in [
        ("Timestamp", document.timestamp.clone()),
        ("Session ID", plain(document.session_id.get())?),
        ("Agent", plain(document.agent_name.get())?),
        ("Model", plain(document.model_name.get())?),
        ("Model Limit", tokens(limit("model_limit"))),
        ("Output Reserve", tokens(limit("output_reserve"))),
        ("Usable Budget", tokens(limit("usable"))),
        ("Message Hash", document.message_hash.clone()),
        ("Tools Hash", document.tools_hash.clone()),
    ] {
        out.push_str(&format!("{name}: {value}\n"));
    }
    section(&mut out, "TOKEN LEDGER");
    table(&mut out, document);
    if !document.warnings.is_empty() {
        section(&mut out, "WARNINGS");
        for warning in &document.warnings {
            out.push_str(&format!("⚠ {warning}\n"));
        }
    }
    let count = document.history.len();
    section(
        &mut out,
        &format!("CONVERSATION HISTORY ({count} messages)"),
    );
    for (index, message) in document.history.iter().enumerate() {
        out.push_str(&format!("[{}] ", index + 1));
        message_line(message.get(), &mut out)?;
        out.push('\n');
    }
    out.push_str(&format!("\n{double}\nEND CONTEXT SNAPSHOT\n{double}"));
    Ok(out)
}

fn section(out: &mut String, title: &str) {
    let single = "-".repeat(WIDTH);
    out.push_str(&format!("\n{single}\n{title}\n{single}\n"));
}

fn table(out: &mut String, Document { ledger, budget, .. }: &Document<'_>) {
    let of = |counts: &HashMap<String, f64>, name| counts.get(name).copied().unwrap_or(0.0);
    let line = "---------------------+------------+------------+---------\n";
    out.push_str("Component            |     Tokens |     Budget |   % Used\n");
    out.push_str(line);
    let mut total = of(ledger, "buffer");
    for (title, name, limit) in [
        ("System Prompt", "system_prompt", "system_prompt"),
        ("Rules", "rules", "rules"),
        ("Skills", "skills", "skills"),
        ("Memory", "memory", "memory"),
        ("Tool Schemas", "tools_schema", "tools_schema"),
        ("History", "history", "history_budget"),
        ("Tool Outputs", "tool_outputs", "tool_outputs"),
    ] {
        let used = of(ledger, name);
        row(out, title, used, of(budget, limit));
        total += used;
    }
    out.push_str(line);
    row(out, "TOTAL", total, of(budget, "usable"));
}

fn row(out: &mut String, name: &str, used: f64, of: f64) {
    let (used_text, of_text, percent) = (grouped(used), grouped(of), percent(used, of));
    out.push_str(&format!(
        "{name:<20} | {used_text:>10} | {of_text:>10} | {percent:>8}\n"
    ));
}

fn percent(used: f64, of: f64) -> String {
    let percent = if of > 0.0 { used / of * 100.0 } else { 0.0 };
    if percent == 0.0 {
        "0.00%".to_owned()
    } else if percent < 0.1 {
        "<0.1%".to_owned()
    } else if percent < 1.0 {
        format!("{percent:.2}%")
    } else {
        format!("{percent:.1}%")
    }
}

fn tokens(count: f64) -> String {
    format!("{} tokens", grouped(count))
}

/// With a comma between groups of three digits.
fn grouped(count: f64) -> String {
    let digits = format!("{:.0}", count.abs());
    let mut out = String::new();
    if count < 0.0 {
        out.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Appends `ROLE: text` and the tool calls of the message.
fn message_line(message: &str, out: &mut String) -> Result<(), JsonError> {
    if !message.starts_with('{') {
        out.push_str(&shortened(&plain(message)?));
        return Ok(());
    }
    let [role, content, calls] =
        Scanner::new(message).members(["role", "content", "tool_calls"])?;
    let mut shown = shortened(&content_text(content.unwrap_or("null"))?);
    for call in Scanner::new(calls.unwrap_or("null")).elements()? {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(&format!("-> {}", shortened(&call_text(call)?)));
    }
    let role = plain(role.unwrap_or("null"))?.to_uppercase();
    out.push_str(&format!("{role}: {shown}"));
    Ok(())
}

fn content_text(content: &str) -> Result<String, JsonError> {
    if !content.starts_with('[') {
        return plain(content);
    }
    let parts = Scanner::new(content).elements()?.into_iter().map(|part| {
        match Scanner::new(part).members(["type", "text"])? {
            [_, Some(text)] => plain(text),
            [Some(kind), None] => Ok(format!("[{}]", plain(kind)?)),
            [None, None] => plain(part),
        }
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// `name(arguments)`.
fn call_text(call: &str) -> Result<String, JsonError> {
    let [function] = Scanner::new(call).members(["function"])?;
    let [name, arguments] =
        Scanner::new(function.unwrap_or(call)).members(["name", "arguments"])?;
    let (name, arguments) = (name.unwrap_or("null"), arguments.unwrap_or("null"));
    Ok(format!("{}({})", plain(name)?, plain(arguments)?))
}

/// A string as its text, `null` as nothing, any other value as its JSON text. Lone surrogates stay escapes because a
/// UTF-8 file cannot contain them.
fn plain(value: &str) -> Result<String, JsonError> {
    let mut scanner = Scanner::new(value);
    match scanner.peek() {
        Some(b'"') => Ok(scanner.string()?.to_json_str().to_display().into_owned()),
        Some(b'n') => Ok(String::new()),
        _ => Ok(value.to_owned()),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
