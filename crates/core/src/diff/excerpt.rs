//! Short excerpts of JSON text for people.

use std::borrow::Cow;
use std::ops::Range;

use super::literal::{Window, characters, floor};
use super::tree::{Kind, Value};

const MAX_CHARACTERS: usize = 80;
const LEFT_OUT: char = '…';

/// Bytes shown before the first difference.
const LEAD: usize = 32;

/// Excerpts of two values that differ. Texts are cut around the first difference.
pub(super) fn both(recorded: Value<'_>, actual: Value<'_>) -> [String; 2] {
    if recorded.kind() != Kind::String || actual.kind() != Kind::String {
        return [recorded, actual].map(|value| start(value.text()));
    }
    let bodies = [recorded.body(), actual.body()];
    let at = Window::of(bodies[0], bodies[1]).start;
    bodies.map(|body| around(body, at))
}

/// The start of a JSON text.
pub(super) fn start(text: &str) -> String {
    let mut excerpt = String::new();
    push_cut(&mut excerpt, text, MAX_CHARACTERS);
    excerpt
}

/// The elements of a list in `window`, which are in another order: by name if they have names.
pub(super) fn order(elements: &[Value<'_>], window: Range<usize>) -> String {
    let before = if window.start > 0 { "[…," } else { "[" };
    let after = if window.end < elements.len() {
        ",…]"
    } else {
        "]"
    };
    let mut labels = String::new();
    for element in &elements[window] {
        if !labels.is_empty() {
            labels.push(',');
        }
        // Tools have names, with some providers one level down.
        let named = element.member("function").unwrap_or(*element);
        let label = named.member("name").unwrap_or(*element);
        push_cut(&mut labels, label.text(), MAX_CHARACTERS);
        if labels.chars().count() > MAX_CHARACTERS {
            break;
        }
    }
    let mut excerpt = before.to_owned();
    push_cut(
        &mut excerpt,
        &labels,
        MAX_CHARACTERS - before.len() - after.len(),
    );
    excerpt.push_str(after);
    excerpt
}

/// An excerpt of the body of a string literal, with quotes.
fn around(body: &str, at: usize) -> String {
    const ROOM: usize = MAX_CHARACTERS - 2;
    let mut excerpt = String::from("\"");
    let from = floor(body, at.saturating_sub(LEAD));
    if push_cut(&mut excerpt, body, ROOM) && from > 0 {
        excerpt.truncate(1);
        excerpt.push(LEFT_OUT);
        push_cut(&mut excerpt, &body[from..], ROOM - 1);
    }
    excerpt.push('"');
    excerpt
}

/// Appends at most `room` characters, cutting only between whole characters and escapes. Returns true if it left
/// something out.
fn push_cut(out: &mut String, text: &str, room: usize) -> bool {
    let mut used = 0;
    // The last cut that leaves room for the mark.
    let mut end = out.len();
    for character in characters(text) {
        let shown = visible(character);
        used += shown.chars().count();
        if used > room {
            out.truncate(end);
            out.push(LEFT_OUT);
            return true;
        }
        out.push_str(&shown);
        if used < room {
            end = out.len();
        }
    }
    false
}

/// Shows white space and invisible characters as escapes.
fn visible(character: &str) -> Cow<'_, str> {
    match character.chars().next() {
        Some('\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}') => {}
        Some(first) if first != ' ' && first.is_whitespace() => {}
        _ => return Cow::Borrowed(character),
    }
    let escapes = character
        .encode_utf16()
        .map(|unit| format!("\\u{unit:04x}"));
    Cow::Owned(escapes.collect())
}
