//! The outputs of adapters. They replay an output only in the form in which they recorded it.

use crate::json::{JsonText, Scanner, quoted};
use crate::model::{Kind, Value};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `rewindFetch`.
    Response,
    /// The middleware for the AI SDK: a result, and a stream.
    Generated,
    Streamed,
    Embeddings,
}

impl Form {
    fn of(kind: &Kind, output: &str) -> Option<Self> {
        let is_list = |value: Option<&str>| value.is_some_and(|text| text.starts_with('['));
        match kind.name() {
            "fetch" => {
                let [status, headers] = members(output, ["status", "headers"]);
                let is_number = status
                    .is_some_and(|text| text.starts_with(|first: char| first.is_ascii_digit()));
                (is_number && is_list(headers)).then_some(Self::Response)
            }
            "model" => {
                let [content, reason, parts, result] =
                    members(output, ["content", "finishReason", "parts", "result"]);
                if is_list(parts) && result.is_some() {
                    Some(Self::Streamed)
                } else {
                    (is_list(content) && reason.is_some()).then_some(Self::Generated)
                }
            }
            "embedding" => {
                let [embeddings] = members(output, ["embeddings"]);
                is_list(embeddings).then_some(Self::Embeddings)
            }
            _ => None,
        }
    }

    const fn expected(self) -> &'static str {
        match self {
            Self::Response => {
                "a response, such as { status: 200, headers: [], body: { json: … } }, like the recorded output of the fetch; or a text, if the recorded response is a text of a model and no stream"
            }
            Self::Generated => {
                r#"a result of the model, such as { content: [{ type: "text", text: "…" }], finishReason, usage, warnings }, like the recorded output; or a text, if the recorded content is a text"#
            }
            Self::Streamed => {
                "a stream of the model, such as { result: {}, parts: [ … ] }, like the recorded output"
            }
            Self::Embeddings => {
                "embeddings, such as { embeddings: [[0.1, … ]] }, like the recorded output"
            }
        }
    }
}

/// The places of the text in the answers of models: chats and responses of `OpenAI`, Anthropic, Gemini, Bedrock, Cohere,
/// Ollama. `*` is the only element that is no reasoning.
const TEXTS: [&[&str]; 7] = [
    &["choices", "*", "message", "content"],
    &["output", "*", "content", "*", "text"],
    &["content", "*", "text"],
    &["candidates", "*", "content", "parts", "*", "text"],
    &["output", "message", "content", "*", "text"],
    &["message", "content", "*", "text"],
    &["message", "content"],
];
const REASONING: [&str; 3] = [r#""reasoning""#, r#""thinking""#, r#""redacted_thinking""#];

/// Checks that an adapter can replay a new output of a call. A text becomes the recorded answer with that text.
///
/// # Errors
/// Returns what was expected.
pub(super) fn fitting(
    kind: &Kind,
    recorded: &Value,
    given: &Value,
) -> Result<Option<Value>, String> {
    let Some(form) = Form::of(kind, recorded.text.as_str()) else {
        return Ok(None);
    };
    let text = given.text.as_str();
    if Form::of(kind, text) == Some(form) {
        return Ok(None);
    }
    let answer = (text.starts_with('"') && given.types.is_none())
        .then(|| with_text(form, recorded.text.as_str(), text))
        .flatten();
    let Some(answer) = answer else {
        return Err(format!("expected {}.", form.expected()));
    };
    Ok(Some(Value {
        text: JsonText::trusted(answer),
        types: recorded.types.clone(),
    }))
}

/// The recorded answer of a model with another text.
fn with_text(form: Form, recorded: &str, text: &str) -> Option<String> {
    match form {
        Form::Generated => replaced(recorded, at(recorded, &["content", "*", "text"])?, text),
        Form::Response => {
            let [body] = members(recorded, ["body"]);
            let [json, written] = members(body?, ["json", "text"]);
            if let Some(json) = json {
                return replaced(recorded, text_of(json)?, text);
            }
            // JSON that is written in another way, for example over several lines.
            let document: String = serde_json::from_str(written?).ok()?;
            JsonText::parse(document.clone()).ok()?;
            let document = replaced(&document, text_of(&document)?, text)?;
            replaced(recorded, written?, &quoted(&document))
        }
        Form::Streamed | Form::Embeddings => None,
    }
}

fn text_of(document: &str) -> Option<&str> {
    TEXTS.iter().find_map(|path| at(document, path))
}

fn at<'a>(document: &'a str, path: &[&str]) -> Option<&'a str> {
    let mut value = document;
    for step in path {
        if *step == "*" {
            let elements = Scanner::new(value).elements().ok()?;
            let mut answers = elements.into_iter().filter(|element| {
                let [kind] = members(element, ["type"]);
                !kind.is_some_and(|kind| REASONING.contains(&kind))
            });
            value = answers.next()?;
            if answers.next().is_some() {
                return None;
            }
        } else {
            let [member, calls] = members(value, [step, "tool_calls"]);
            if calls.is_some_and(|calls| calls != "null" && calls != "[]") {
                return None;
            }
            value = member?;
        }
    }
    value.starts_with('"').then_some(value)
}

fn members<'a, const N: usize>(object: &'a str, names: [&str; N]) -> [Option<&'a str>; N] {
    Scanner::new(object).members(names).unwrap_or([None; N])
}

/// `whole` with another text in the place of `part`, which is a slice of it.
fn replaced(whole: &str, part: &str, with: &str) -> Option<String> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let before = whole.get(..start)?;
    let after = whole.get(start + part.len()..)?;
    Some([before, with, after].concat())
}
