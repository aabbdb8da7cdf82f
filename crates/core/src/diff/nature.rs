//! Classifies differing values.

use super::literal::{Window, characters, is_white_space};
use super::path::{Token, part};
use super::tree::{Kind, Value};
use super::{Change, Nature, Part, date, volatile};

/// A value in one or both documents.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sides<'t> {
    Both(Value<'t>, Value<'t>),
    Recorded(Value<'t>),
    Actual(Value<'t>),
}

pub(super) fn of(change: Change, sides: Sides<'_>, tokens: &[Token<'_>]) -> Nature {
    let part = part(tokens);
    let of_place = of_place(part);
    match sides {
        _ if change == Change::Reordered => Nature::Order,
        Sides::Both(recorded, actual) => {
            let of_value = of_change(recorded, actual);
            let tells_more = of_value.is_volatile() || of_value == Nature::Whitespace;
            match of_place {
                // A date in a model's name is a version.
                Some(Nature::Model) => Nature::Model,
                Some(of_place) if !tells_more => of_place,
                _ => of_value,
            }
        }
        Sides::Recorded(_) | Sides::Actual(_) if part == Part::Messages && tokens.len() <= 2 => {
            Nature::Message
        }
        Sides::Recorded(value) | Sides::Actual(value) => {
            of_place.unwrap_or_else(|| of_value(value))
        }
    }
}

fn of_place(part: Part) -> Option<Nature> {
    match part {
        Part::Tools => Some(Nature::ToolSchema),
        Part::Schema => Some(Nature::Schema),
        Part::Options => Some(Nature::ModelOption),
        Part::Model => Some(Nature::Model),
        Part::Messages | Part::Input | Part::Other => None,
    }
}

fn of_change(recorded: Value<'_>, actual: Value<'_>) -> Nature {
    match (recorded.kind(), actual.kind()) {
        (Kind::String, Kind::String) => of_texts(recorded.body(), actual.body()),
        (Kind::Number, Kind::Number) => {
            let are_dates = [recorded, actual]
                .iter()
                .all(|value| date::is_epoch(value.text()));
            if are_dates {
                Nature::Date
            } else {
                Nature::Number
            }
        }
        (Kind::Boolean, Kind::Boolean) => Nature::Boolean,
        (Kind::Null, _) | (_, Kind::Null) => Nature::Null,
        _ => Nature::Type,
    }
}

/// For the bodies of two string literals.
fn of_texts(recorded: &str, actual: &str) -> Nature {
    let black = |body| characters(body).filter(|character| !is_white_space(character));
    if black(recorded).eq(black(actual)) {
        Nature::Whitespace
    } else if lower_case(recorded).eq(lower_case(actual)) {
        Nature::Case
    } else {
        let window = Window::of(recorded, actual);
        volatile::nature(recorded, actual, window).unwrap_or(Nature::Text)
    }
}

fn lower_case(body: &str) -> impl Iterator<Item = char> {
    body.chars().flat_map(char::to_lowercase)
}

/// For a value that only one document contains.
fn of_value(value: Value<'_>) -> Nature {
    match value.kind() {
        Kind::Object | Kind::Array => Nature::Structure,
        Kind::String => volatile::whole(value.body()).unwrap_or(Nature::Text),
        Kind::Number if date::is_epoch(value.text()) => Nature::Date,
        Kind::Number => Nature::Number,
        Kind::Boolean => Nature::Boolean,
        Kind::Null => Nature::Null,
    }
}
