//! How calls and frames ended, from the fields of their end events.

use std::ops::Range;

use super::draft::unknown_error;
use super::fields::{Field, FieldSpan, Fields, Source};
use super::members::Members;
use crate::frame::State;
use crate::journal::{Outcome, RequestHash, Value};
use crate::json::{JsonError, JsonStr, JsonText, Scanner};
use crate::limits::MAX_JSON_DEPTH;
use crate::memory::Memory;

/// A value with its types.
pub(super) fn value(fields: &Fields<'_, '_>, field: Field, types: Field) -> Option<Value> {
    Some(Value {
        text: fields.json(field)?,
        types: fields.present(types),
    })
}

/// How a call ended whose value stands in `output`.
pub(super) fn outcome(fields: &Fields<'_, '_>, output: Field) -> Outcome {
    if let Some(reason) = fields.json_str(Field::Tombstone) {
        return Outcome::Tombstone(reason);
    }
    if failed(fields) {
        return Outcome::Failure {
            error: error(fields).unwrap_or_else(unknown_error),
            stopped: false,
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
            Outcome::Tombstone(JsonStr::from_plain("the event holds no message"))
        }
        // What JSON leaves out was undefined.
        None => Outcome::Output(Value::undefined()),
    }
}

/// How a frame ended.
pub(super) fn state(fields: &Fields<'_, '_>) -> State {
    if failed(fields) {
        return State::Failed(error(fields));
    }
    match value(fields, Field::Result, Field::ResultTypes) {
        Some(value) => State::Completed(value),
        // The result cannot be brought back; a run keeps `null` in its place.
        None if fields.range(Field::Tombstone).is_some() || fields.is_too_deep(Field::Result) => {
            State::Completed(Value::plain(JsonText::trusted("null".to_owned())))
        }
        None => State::Completed(Value::undefined()),
    }
}

fn failed(fields: &Fields<'_, '_>) -> bool {
    match fields.flag(Field::Success) {
        Some(success) => !success,
        None => fields.present(Field::Error).is_some(),
    }
}

/// An error is an object; another value becomes the message of one.
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

pub(super) fn request_hash(fields: &Fields<'_, '_>) -> Option<RequestHash> {
    let body = fields.string(Field::ContentHash)?;
    Some(match body.parse() {
        Ok(hash) => RequestHash::Sha256(hash),
        Err(_) => RequestHash::Foreign(JsonStr::from_normalized_body(&body)),
    })
}

/// The memory that an event holds; `None` if it holds none, `Err` if it is no object.
pub(super) fn memory(fields: &Fields<'_, '_>) -> Option<Result<Memory, ()>> {
    let range = fields.range(Field::Memory)?;
    Some(read_memory(fields.source, range).ok_or(()))
}

fn read_memory(source: Source<'_>, range: &Range<usize>) -> Option<Memory> {
    let mut scanner = Scanner::new(source.slice(range));
    let mut memory = Memory::default();
    scanner.enter_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first).ok()? {
        let value = scanner.skip_value().ok()?;
        memory.insert(
            key.to_json_str(),
            source.json(&(range.start + value.start..range.start + value.end)),
        );
    }
    Some(memory)
}

/// The rows of a batch of tool calls: the kept fields of each, or `None` for one that is no row.
pub(super) fn rows(source: Source<'_>, range: &Range<usize>) -> Vec<Option<Vec<FieldSpan>>> {
    elements(source, range)
        .into_iter()
        .map(|row| row_fields(source, row).ok())
        .collect()
}

fn elements(source: Source<'_>, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut elements = Vec::new();
    let mut scanner = Scanner::new(source.slice(range));
    let mut first = true;
    if scanner.enter_array().is_ok() {
        while scanner.next_element(&mut first) == Ok(true)
            && let Ok(element) = scanner.skip_value()
        {
            elements.push(range.start + element.start..range.start + element.end);
        }
    }
    elements
}

fn row_fields(source: Source<'_>, range: Range<usize>) -> Result<Vec<FieldSpan>, JsonError> {
    let mut fields = Vec::new();
    let mut members = Members::enter(source, range)?;
    while let Some(key) = members.next()? {
        let range = members.value()?;
        if let Some(field) = Field::from_key(key) {
            fields.push(FieldSpan { field, range });
        }
    }
    Ok(fields)
}
