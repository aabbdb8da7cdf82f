//! Reads the outcome of calls and frames from the fields of their end events.

use super::draft::unknown_error;
use crate::json::{JsonStr, JsonText};
use crate::model::{Outcome, State, Value};
use crate::restore::read::fields::{Field, Fields};
use crate::util::limits::MAX_JSON_DEPTH;

pub(crate) fn value(fields: &Fields<'_, '_>, field: Field, types: Field) -> Option<Value> {
    Some(Value {
        text: fields.json(field)?,
        types: fields.present(types),
    })
}

/// The outcome of a call whose value is in the field `output`.
pub(crate) fn outcome(fields: &Fields<'_, '_>, output: Field) -> Outcome {
    if let Some(reason) = fields.json_str(Field::Tombstone) {
        return Outcome::Tombstone(reason);
    }
    if failed(fields) {
        return Outcome::Failure {
            error: error(fields).unwrap_or_else(unknown_error),
            stopped: false,
            handled: fields.flag(Field::Handled) == Some(true),
        };
    }
    if fields.is_too_deep(output) {
        return Outcome::Tombstone(JsonStr::from_plain(&format!(
            "nested more than {MAX_JSON_DEPTH} levels deep"
        )));
    }
    match value(fields, output, Field::OutputTypes) {
        Some(value) => Outcome::Output(value),
        None if output == Field::Message => {
            Outcome::Tombstone(JsonStr::from_plain("the event contains no message"))
        }
        // `JSON.stringify` leaves `undefined` out.
        None => Outcome::Output(Value::undefined()),
    }
}

/// The state of a frame that has ended.
pub(crate) fn state(fields: &Fields<'_, '_>) -> State {
    if failed(fields) {
        return State::Failed(error(fields));
    }
    match value(fields, Field::Result, Field::ResultTypes) {
        Some(value) => State::Completed(value),
        // The result cannot be restored. A dump also contains `null` and this type instead.
        None if fields.range(Field::Tombstone).is_some() || fields.is_too_deep(Field::Result) => {
            State::Completed(Value {
                text: JsonText::trusted("null".to_owned()),
                types: Some(JsonText::trusted(r#"{"":"tombstone"}"#.to_owned())),
            })
        }
        None => State::Completed(Value::undefined()),
    }
}

fn failed(fields: &Fields<'_, '_>) -> bool {
    match fields.flag(Field::Success) {
        Some(success) => !success,
        None => fields.text(Field::Error).is_some(),
    }
}

/// The error as an object. Another value becomes the message of an error.
fn error(fields: &Fields<'_, '_>) -> Option<JsonText> {
    let error = fields.present(Field::Error)?;
    if error.as_str().starts_with('{') {
        return Some(error);
    }
    let message = fields
        .json_str(Field::Error)
        .unwrap_or_else(|| JsonStr::from_plain(error.as_str()));
    let mut text = String::from(r#"{"name":"Error","message":"#);
    message.write_quoted(&mut text);
    text.push('}');
    Some(JsonText::trusted(text))
}
