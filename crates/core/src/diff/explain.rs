use std::fmt::Write;

use super::{Change, Diff, Difference, Nature};

/// Differences described in full.
const MAX_EXPLAINED: usize = 3;

/// Describes the differences in one sentence. It starts with a lower-case letter and has no full stop, so it can
/// follow a colon.
#[must_use]
pub fn explain(diff: &Diff) -> String {
    let count = diff.differences.len() + diff.more;
    if count == 0 {
        return "the request equals its recording".to_owned();
    }
    let places = if count == 1 { "place" } else { "places" };
    let mut text = format!("the request differs in {count} {places}");
    let explained = diff.differences.iter().take(MAX_EXPLAINED);
    let others = count - explained.len();
    for (index, difference) in explained.enumerate() {
        text.push_str(if index == 0 { ": " } else { "; " });
        write_difference(difference, &mut text);
    }
    if (1..count).contains(&others) {
        let _ = write!(text, "; … and {others} more");
    }
    text
}

fn write_difference(difference: &Difference, out: &mut String) {
    let Difference {
        pointer,
        change,
        nature,
        recorded,
        actual,
        ..
    } = difference;
    let pointer = if pointer.is_empty() {
        "the whole document"
    } else {
        pointer
    };
    let [recorded, actual] = [recorded, actual].map(|text| text.as_deref().unwrap_or("nothing"));
    let nature = phrase(*nature);
    let _ = match change {
        Change::Changed | Change::Reordered => {
            write!(
                out,
                "{pointer}: {nature} (recorded {recorded}, now {actual})"
            )
        }
        Change::Added => write!(out, "{pointer}: {nature}, not recorded (now {actual})"),
        Change::Removed => {
            write!(
                out,
                "{pointer}: {nature}, missing now (recorded {recorded})"
            )
        }
    };
}

fn phrase(nature: Nature) -> &'static str {
    match nature {
        Nature::Date => "a date",
        Nature::Uuid => "a UUID",
        Nature::RandomId => "a random id",
        Nature::Whitespace => "white space",
        Nature::Case => "upper and lower case",
        Nature::Order => "the order of a list",
        Nature::Number => "a number",
        Nature::Text => "a text",
        Nature::Boolean => "a boolean",
        Nature::Null => "a null",
        Nature::Type => "another type",
        Nature::Structure => "an object or a list",
        Nature::ToolSchema => "a tool",
        Nature::Schema => "the output schema",
        Nature::ModelOption => "a model option",
        Nature::Model => "the model",
        Nature::Message => "a message",
    }
}
