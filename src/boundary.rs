//! The LLM call boundary. Its text arrives as UTF-8 bytes that are read in place.

use agent_rewind_core::boundary::{self, Numbers};
use agent_rewind_core::diff::{MAX_DIFFERENCES, diff};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::error::{Result, invalid_argument, json_error};
use crate::text::utf8;

/// The positions of the parts of a request body in its bytes, each as [start, end].
#[napi(object)]
pub struct BindingBoundaryParts {
    /// The key of the messages.
    pub messages_name: Option<String>,
    pub messages: Option<Vec<u32>>,
    pub system: Option<Vec<u32>>,
    pub tools: Option<Vec<u32>>,
    /// JSON text of an object with the other members.
    pub parameters: String,
}

fn numbers(source: bool) -> Numbers {
    if source {
        Numbers::Source
    } else {
        Numbers::JavaScript
    }
}

/// Hashes and counts messages and tools. With `source`, number tokens count as written; otherwise the text must have
/// the form of `JSON.stringify`.
///
/// Returns these values separated by spaces: SHA-256 (64 hex digits) of the messages and of the tools as Python's
/// `json.dumps` writes them with sorted keys; the number of messages; the tokens of all messages; the tokens of the
/// tools; the number of messages with the role "user"; the number of tool calls. One string, because creating an
/// object costs more than the rest of a small request.
#[napi(catch_unwind)]
pub fn measure_boundary(messages: &[u8], tools: &[u8], source: bool) -> Result<String> {
    let (messages, tools, numbers) = (utf8(messages)?, utf8(tools)?, numbers(source));
    let measure = || {
        let tokens = boundary::message_tokens(messages, numbers)?;
        Ok(format!(
            "{} {} {} {} {} {} {}",
            boundary::python_hash(messages, numbers)?,
            boundary::python_hash(tools, numbers)?,
            tokens.each.len(),
            tokens.each.iter().copied().map(u64::from).sum::<u64>(),
            boundary::count_tools(tools, numbers)?,
            tokens.turns,
            tokens.tool_calls,
        ))
    };
    measure().map_err(json_error)
}

/// SHA-256 (64 hex digits) of a value as Python's `json.dumps` writes it with sorted keys.
#[napi(catch_unwind)]
pub fn python_hash(json: &[u8], source: bool) -> Result<String> {
    let hash = boundary::python_hash(utf8(json)?, numbers(source));
    hash.map(|hash| hash.to_string()).map_err(json_error)
}

/// The text that `pythonHash` hashes.
#[napi(catch_unwind)]
pub fn python_json(json: &[u8], source: bool) -> Result<String> {
    boundary::python_json(utf8(json)?, numbers(source)).map_err(json_error)
}

/// `pythonHash` of each element of an array.
#[napi(catch_unwind)]
pub fn element_hashes(json: &[u8], source: bool) -> Result<Vec<String>> {
    let hashes = boundary::element_hashes(utf8(json)?, numbers(source)).map_err(json_error)?;
    Ok(hashes.iter().map(ToString::to_string).collect())
}

/// The estimated tokens of a text.
#[napi(catch_unwind)]
pub fn text_tokens(plain: &[u8]) -> Result<u32> {
    Ok(boundary::text_tokens(utf8(plain)?))
}

/// The estimated tokens of each message of a JSON array.
#[napi(catch_unwind)]
pub fn message_tokens(json: &[u8], source: bool) -> Result<Vec<u32>> {
    let tokens = boundary::message_tokens(utf8(json)?, numbers(source));
    Ok(tokens.map_err(json_error)?.each)
}

/// The parts of a request body. Absent if it is not an object.
#[napi(catch_unwind)]
pub fn boundary_parts(body: &[u8]) -> Result<Option<BindingBoundaryParts>> {
    let spans = boundary::request_spans(utf8(body)?).map_err(json_error)?;
    let ends = |span: Option<std::ops::Range<usize>>| {
        let span = span?;
        Some(vec![
            u32::try_from(span.start).ok()?,
            u32::try_from(span.end).ok()?,
        ])
    };
    Ok(spans.map(|spans| BindingBoundaryParts {
        messages_name: spans.messages_name.map(str::to_owned),
        messages: ends(spans.messages),
        system: ends(spans.system),
        tools: ends(spans.tools),
        parameters: spans.parameters,
    }))
}

/// The differences between two JSON documents, as JSON text of `{ differences, more }`.
#[napi(catch_unwind)]
pub fn diff_documents(before: &[u8], after: &[u8]) -> Result<String> {
    let diff = diff(utf8(before)?, utf8(after)?, MAX_DIFFERENCES).map_err(json_error)?;
    Ok(diff.to_json())
}

/// The text of the monitor's file. `document` is JSON text.
#[napi(catch_unwind)]
pub fn format_monitor(document: &[u8], human: bool) -> Result<String> {
    let document = utf8(document)?;
    if human {
        boundary::format_human(document)
    } else {
        boundary::format_json(document)
    }
    .map_err(|error| invalid_argument(&error.to_string()))
}

/// As `formatMonitor`, on another thread. `null` for a document that cannot be formatted.
#[napi]
pub async fn format_monitor_bytes(document: Buffer, human: bool) -> Option<Buffer> {
    let text = format_monitor(&document, human).ok()?;
    Some(Buffer::from(text.into_bytes()))
}
