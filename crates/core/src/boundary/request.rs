//! The parts of a request body for any supported API.

use std::ops::Range;

use crate::json::{JsonError, Scanner};

/// The names of the parts in the supported APIs. The first match wins.
const MESSAGES: [&str; 3] = ["messages", "contents", "input"];
const SYSTEM: [&str; 4] = [
    "system",
    "instructions",
    "system_instruction",
    "systemInstruction",
];
const TOOLS: [&str; 2] = ["tools", "functions"];

/// The positions of the parts of a request body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSpans {
    /// The key of the messages.
    pub messages_name: Option<&'static str>,
    pub messages: Option<Range<usize>>,
    /// A system prompt outside the messages.
    pub system: Option<Range<usize>>,
    pub tools: Option<Range<usize>>,
    /// JSON text of an object with all other members in their original order.
    pub parameters: String,
}

/// Finds the parts of a request body, which is JSON text of an object. `None` if it is not an object.
///
/// # Errors
/// Text that is not JSON, or too deep nesting.
pub fn request_spans(text: &str) -> Result<Option<RequestSpans>, JsonError> {
    let mut scanner = Scanner::new(text);
    if scanner.peek() != Some(b'{') {
        scanner.skip_value()?;
        scanner.finish()?;
        return Ok(None);
    }
    let mut members = Vec::new();
    scanner.each_member(|scanner, key| -> Result<(), JsonError> {
        members.push((key, scanner.skip_value()?));
        Ok(())
    })?;
    scanner.finish()?;
    let mut spans = RequestSpans {
        parameters: "{".to_owned(),
        ..RequestSpans::default()
    };
    spans.messages_name = MESSAGES
        .into_iter()
        .find(|name| members.iter().any(|(key, _)| key.is(name)));
    for (key, span) in members {
        let name = key.normalized();
        if spans.messages_name == Some(&*name) {
            spans.messages = Some(span);
        } else if SYSTEM.contains(&&*name) {
            spans.system = Some(span);
        } else if TOOLS.contains(&&*name) {
            spans.tools = Some(span);
        } else {
            let comma = if spans.parameters.len() > 1 { "," } else { "" };
            let (key, value) = (key.body(), scanner.slice(span));
            spans
                .parameters
                .push_str(&format!("{comma}\"{key}\":{value}"));
        }
    }
    spans.parameters.push('}');
    Ok(Some(spans))
}
