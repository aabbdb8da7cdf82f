//! Estimated token counts: a quarter of a token for an ASCII character, 1.3 tokens for any other.

use memchr::memchr;

use super::hashes::python_length;
use super::number::Numbers;
use crate::json::{JsonError, RawStr, Scanner, decode_escape};

type Result<T> = std::result::Result<T, JsonError>;

const PER_MESSAGE: u32 = 4;
const PER_TOOL_CALL: u32 = 10;
const TOOL_CALL_ID: u32 = 10;
/// An image, a file or a sound, whatever its size.
const MEDIA: u32 = 85;

/// The counts for a list of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageTokens {
    pub each: Vec<u32>,
    /// Messages with the role "user".
    pub turns: u32,
    pub tool_calls: u32,
}

/// Character counts by code point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Characters {
    ascii: usize,
    other: usize,
}

impl Characters {
    fn tokens(self) -> u32 {
        if self.ascii + self.other == 0 {
            return 0;
        }
        #[allow(clippy::cast_precision_loss)]
        let tokens = self.ascii as f64 * 0.25 + self.other as f64 * 1.3;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let tokens = tokens as u32;
        tokens.max(1)
    }

    /// For decoded text.
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self {
                ascii: text.len(),
                other: 0,
            };
        }
        let bytes = text.as_bytes();
        Self {
            ascii: count(bytes, |byte| byte < 0x80),
            // Counts the first byte of each character.
            other: count(bytes, |byte| byte >= 0xC0),
        }
    }

    /// For a string literal in any form.
    fn of_literal(raw: RawStr<'_>) -> Self {
        let body = raw.body();
        let mut all = Self::of(body);
        let mut at = 0;
        while let Some(escape) = memchr(b'\\', &body.as_bytes()[at..]) {
            at += escape;
            // Of other escapes, only the length counts.
            let (character, length) = match body.as_bytes().get(at + 1) {
                Some(b'u') => decode_escape(&body[at..]),
                _ => (0, 2.min(body.len() - at)),
            };
            // The escape was counted as ASCII.
            all.ascii -= length;
            if character < 0x80 {
                all.ascii += 1;
            } else {
                all.other += 1;
            }
            at += length;
        }
        all
    }
}

/// Counts bytes in `u8` accumulators, which the compiler vectorizes.
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    const MOST: usize = u8::MAX as usize;
    bytes
        .chunks(MOST)
        .map(|chunk| usize::from(chunk.iter().map(|byte| u8::from(is(*byte))).sum::<u8>()))
        .sum()
}

/// The tokens of a text: 0 if it is empty, otherwise at least 1.
pub fn text_tokens(text: &str) -> u32 {
    Characters::of(text).tokens()
}

/// The tokens of a list of tool schemas: those of its JSON text as Python writes it.
///
/// # Errors
/// Text that is not JSON.
pub fn count_tools(text: &str, numbers: Numbers) -> Result<u32> {
    let mut scanner = Scanner::new(text);
    let value = scanner.value()?;
    scanner.finish()?;
    let is_empty = value == "null"
        || value
            .strip_prefix('[')
            .is_some_and(|rest| rest.trim_start() == "]");
    if is_empty {
        Ok(0)
    } else {
        json_tokens(value, numbers)
    }
}

/// Counts a list of messages. A value that is not a list counts as empty.
///
/// # Errors
/// Text that is not JSON.
pub fn message_tokens(text: &str, numbers: Numbers) -> Result<MessageTokens> {
    let mut counts = MessageTokens::default();
    let mut scanner = Scanner::new(text);
    if scanner.peek() != Some(b'[') {
        return scanner.skip().map(|()| counts);
    }
    scanner.each_element(|scanner| {
        if scanner.peek() == Some(b'{') {
            return count_message(scanner, numbers, &mut counts);
        }
        counts.each.push(PER_MESSAGE);
        scanner.skip()
    })?;
    scanner.finish()?;
    Ok(counts)
}

fn count_message(
    scanner: &mut Scanner<'_>,
    numbers: Numbers,
    counts: &mut MessageTokens,
) -> Result<()> {
    let [role, content, parts, images, name, tool_call_id, tool_calls] = scanner.members([
        "role",
        "content",
        "parts",
        "images",
        "name",
        "tool_call_id",
        "tool_calls",
    ])?;
    counts.turns += u32::from(is_text(role, "user"));
    let mut tokens = PER_MESSAGE;
    tokens += content_tokens(content.or(parts).unwrap_or("null"), numbers)?;
    for _ in Scanner::new(images.unwrap_or("null")).elements()? {
        tokens += MEDIA;
    }
    tokens += value_tokens(name.unwrap_or("null"), numbers)?;
    if tool_call_id.is_some_and(|id| !matches!(id, "null" | "\"\"")) {
        tokens += TOOL_CALL_ID;
    }
    for call in Scanner::new(tool_calls.unwrap_or("null")).elements()? {
        counts.tool_calls += 1;
        tokens += PER_TOOL_CALL + call_tokens(call, numbers)?;
    }
    counts.each.push(tokens);
    Ok(())
}

/// The tokens of a tool call's name and arguments, which may be nested in its `function`.
fn call_tokens(call: &str, numbers: Numbers) -> Result<u32> {
    let [mut name, mut arguments, function] =
        Scanner::new(call).members(["name", "arguments", "function"])?;
    if let Some(function) = function.filter(|function| function.starts_with('{')) {
        [name, arguments] = Scanner::new(function).members(["name", "arguments"])?;
    }
    Ok(value_tokens(name.unwrap_or("null"), numbers)?
        + value_tokens(arguments.unwrap_or("null"), numbers)?)
}

fn content_tokens(content: &str, numbers: Numbers) -> Result<u32> {
    if !content.starts_with('[') {
        return value_tokens(content, numbers);
    }
    let mut tokens = 0;
    for part in Scanner::new(content).elements()? {
        let [kind, text] = Scanner::new(part).members(["type", "text"])?;
        tokens += match text {
            _ if is_media(part)? => MEDIA,
            Some(text) if is_text(kind, "text") => value_tokens(text, numbers)?,
            _ => part_tokens(part, numbers)?,
        };
    }
    Ok(tokens)
}

/// The tokens of a part of another type. The result of a tool may contain media.
fn part_tokens(part: &str, numbers: Numbers) -> Result<u32> {
    let [content, result, output] =
        Scanner::new(part).members(["content", "toolResult", "output"])?;
    let [inner] = Scanner::new(result.unwrap_or("null")).members(["content"])?;
    let [value] = Scanner::new(output.unwrap_or("null")).members(["value"])?;
    for list in [content, inner, value].into_iter().flatten() {
        let mut media = 0;
        let mut rest = part.to_owned();
        for element in Scanner::new(list).elements()? {
            if is_media(element)? {
                media += MEDIA;
                rest = rest.replacen(element, "null", 1);
            }
        }
        if media > 0 {
            return Ok(media + value_tokens(&rest, numbers)?);
        }
    }
    value_tokens(part, numbers)
}

/// The types of parts with an image, a file or a sound, of `OpenAI`, Anthropic, MCP and the AI SDK.
static MEDIA_TYPES: &[&str] = &[
    "image_url",
    "input_image",
    "image",
    "input_file",
    "file",
    "input_audio",
    "audio",
    "media",
    "image-data",
    "image-url",
    "file-data",
    "file-url",
];

/// True for a part that is an image, a file or a sound.
fn is_media(part: &str) -> Result<bool> {
    let [
        kind,
        source,
        inline,
        inline_snake,
        file,
        image,
        document,
        video,
    ] = Scanner::new(part).members([
        "type",
        "source",
        "inlineData",
        "inline_data",
        "fileData",
        "image",
        "document",
        "video",
    ])?;
    if let Some(kind) = kind {
        let [form] = Scanner::new(source.unwrap_or("null")).members(["type"])?;
        // Anthropic's documents may also be texts.
        let is_file =
            is_text(Some(kind), "document") && !is_text(form, "text") && !is_text(form, "content");
        return Ok(is_file || MEDIA_TYPES.iter().any(|media| is_text(Some(kind), media)));
    }
    // Gemini's and Bedrock's parts have no type.
    let parts = [inline, inline_snake, file, image, document, video];
    Ok(parts
        .into_iter()
        .flatten()
        .any(|part| part.starts_with('{')))
}

fn is_text(value: Option<&str>, text: &str) -> bool {
    value.is_some_and(|value| {
        Scanner::new(value)
            .string()
            .is_ok_and(|literal| literal.is(text))
    })
}

/// A string counts as its text, `null` as nothing, any other value as its JSON text.
fn value_tokens(value: &str, numbers: Numbers) -> Result<u32> {
    match value.as_bytes().first() {
        Some(b'"') => Ok(Characters::of_literal(Scanner::new(value).string()?).tokens()),
        Some(b'n') => Ok(0),
        _ => json_tokens(value, numbers),
    }
}

fn json_tokens(text: &str, numbers: Numbers) -> Result<u32> {
    let ascii = python_length(text, numbers)?;
    Ok(Characters { ascii, other: 0 }.tokens())
}

#[cfg(test)]
#[path = "../../tests/unit/boundary/tokens.rs"]
mod tests;
