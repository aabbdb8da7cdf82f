//! The differences for people: the first one in a few words, and the changed lines.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::{Change, Diff, Difference, Nature, explain};

/// Differences whose lines are shown.
const MAX_SHOWN: usize = 3;
/// Lines of one difference.
const MAX_LINES: usize = 40;
/// Characters of a line.
const MAX_LINE: usize = 160;
/// Unchanged lines around changed ones.
const CONTEXT: usize = 2;
/// Characters of a value that fits into the cause.
const MAX_INLINE: usize = 30;
/// Bytes of a text that is compared line by line.
const MAX_TEXT: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The first difference, such as `temperature: 0.2 → 0.7` or `messages[0].content (system) changed`.
    pub cause: String,
    /// Lines of a diff: `- ` is recorded, `+ ` is new, two spaces are context.
    pub lines: Vec<String>,
}

/// Summarizes the differences of two request documents.
#[must_use]
pub fn summarize(recorded: &str, actual: &str, diff: &Diff) -> Summary {
    let documents = [recorded, actual].map(|text| serde_json::from_str(text).unwrap_or_default());
    let shown: Vec<_> = diff.differences.iter().take(MAX_SHOWN).collect();
    let (mut cause, is_whole) = match shown.first() {
        Some(first) => cause(first, &documents),
        None => (explain(diff), true),
    };
    let others = (diff.differences.len() + diff.more).saturating_sub(1);
    if others > 0 {
        let _ = write!(cause, ", and {others} more");
    }
    let mut lines = Vec::new();
    for difference in shown.iter().filter(|_| !is_whole || others > 0) {
        if others > 0 {
            lines.push(format!("@ {}", Place::of(difference, &documents).path));
        }
        lines.extend(changed_lines(difference, &documents));
    }
    Summary { cause, lines }
}

/// Also returns true if it shows all of both values.
fn cause(difference: &Difference, documents: &[Value; 2]) -> (String, bool) {
    let Place { path, label } = Place::of(difference, documents);
    let values = [&difference.recorded, &difference.actual];
    // Texts are shown as lines.
    let is_whole = values
        .iter()
        .filter_map(|text| text.as_deref())
        .all(|text| {
            let is_line = text.starts_with('"') && !path.ends_with("model");
            !is_line && !text.starts_with(['{', '[']) && text.chars().count() <= MAX_INLINE
        });
    let [recorded, actual] = values.map(|text| text.as_deref().unwrap_or_default());
    let cause = match difference.change {
        Change::Reordered => return (format!("{path} reordered"), false),
        Change::Changed if is_whole => format!("{path}{label}: {recorded} → {actual}"),
        Change::Changed if difference.nature == Nature::Whitespace => {
            format!("{path}{label} changed in white space")
        }
        Change::Changed => format!("{path}{label} changed"),
        Change::Added if is_whole => format!("{path}{label} added: {actual}"),
        Change::Added => format!("{path}{label} added"),
        Change::Removed if is_whole => format!("{path}{label} removed: {recorded}"),
        Change::Removed => format!("{path}{label} removed"),
    };
    (cause, is_whole)
}

/// A place in a request, in the words of the program that made it.
struct Place {
    /// Such as `messages[0].content`.
    path: String,
    /// The role of the message or the name of the tool that contains it, such as ` (system)`.
    label: String,
}

impl Place {
    fn of(difference: &Difference, documents: &[Value; 2]) -> Self {
        let document = &documents[usize::from(difference.change != Change::Removed)];
        let mut value = Some(document);
        let mut path = String::new();
        let mut label = String::new();
        for (depth, token) in difference.pointer.split('/').skip(1).enumerate() {
            let key = token.replace("~1", "/").replace("~0", "~");
            let parent = value;
            value = parent.and_then(|parent| match parent {
                Value::Array(list) => list.get(key.parse::<usize>().ok()?),
                Value::Object(members) => members.get(&key),
                _ => None,
            });
            // The document around what the program passed.
            let is_http = parent.is_some_and(|parent| parent.get("url").is_some());
            if (depth == 0 && key == "input") || (depth == 1 && key == "body" && is_http) {
                continue;
            }
            if parent.is_some_and(Value::is_array) {
                let _ = write!(path, "[{key}]");
                if label.is_empty() {
                    label = value
                        .and_then(name_of)
                        .map(|name| format!(" ({name})"))
                        .unwrap_or_default();
                }
            } else if key
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == '$')
            {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{key}");
            } else {
                let _ = write!(path, "[{}]", Value::from(key));
            }
        }
        if path.is_empty() {
            "the request".clone_into(&mut path);
        }
        Self { path, label }
    }
}

fn name_of(element: &Value) -> Option<&str> {
    let named = element.get("function").unwrap_or(element);
    ["role", "name", "type"]
        .iter()
        .find_map(|key| named.get(key)?.as_str())
}

fn changed_lines(difference: &Difference, documents: &[Value; 2]) -> Vec<String> {
    let excerpts = [&difference.recorded, &difference.actual];
    let texts: [String; 2] = std::array::from_fn(|side| {
        let excerpt = excerpts[side].as_deref();
        // A pointer of a changed value is one into the actual document. Lists may be aligned in another way.
        let whole = documents[side]
            .pointer(&difference.pointer)
            .filter(|_| difference.change != Change::Reordered && excerpt.is_some());
        match whole {
            Some(Value::String(text)) if text.len() <= MAX_TEXT && agrees(text, excerpt) => {
                text.clone()
            }
            Some(value @ (Value::Object(_) | Value::Array(_)))
                if excerpt.is_some_and(|text| text.starts_with(['{', '['])) =>
            {
                serde_json::to_string_pretty(value).unwrap_or_default()
            }
            _ => excerpt.unwrap_or_default().to_owned(),
        }
    });
    let diff = TextDiff::from_lines(texts[0].as_str(), texts[1].as_str());
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push("  …".to_owned());
        }
        for operation in group {
            let [old, new] = [operation.old_range(), operation.new_range()];
            for change in diff.iter_changes(operation) {
                let line = change.value().trim_end_matches(['\n', '\r']);
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => ' ',
                };
                // The line that it replaces, or that replaces it.
                let other = match (change.old_index(), change.new_index()) {
                    (Some(at), None) => diff
                        .new_slice(new.start + at - old.start)
                        .filter(|_| at - old.start < new.len()),
                    (None, Some(at)) => diff
                        .old_slice(old.start + at - new.start)
                        .filter(|_| at - new.start < old.len()),
                    _ => None,
                };
                lines.push(
                    format!("{sign} {}", around_change(line, other.unwrap_or_default()))
                        .trim_end()
                        .to_owned(),
                );
            }
        }
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("  … {more} more lines"));
    }
    lines
}

/// True if the text is what an excerpt shows: a pointer into one document may lead elsewhere in the other.
fn agrees(text: &str, excerpt: Option<&str>) -> bool {
    let Some(excerpt) = excerpt else { return false };
    let literal = Value::from(text).to_string();
    let shown = excerpt.trim_matches(['"', '…']);
    shown.contains("\\u") || literal.contains(shown)
}

/// A long line, cut to the part that differs from another one.
fn around_change(line: &str, other: &str) -> String {
    let count = line.chars().count();
    if count <= MAX_LINE {
        return line.to_owned();
    }
    let common = line
        .chars()
        .zip(other.chars())
        .take_while(|(left, right)| left == right)
        .count();
    let from = common.saturating_sub(MAX_LINE / 4).min(count - MAX_LINE);
    let part: String = line.chars().skip(from).take(MAX_LINE).collect();
    let [before, after] = [from > 0, from + MAX_LINE < count].map(|cut| if cut { "…" } else { "" });
    format!("{before}{part}{after}")
}
