//! Values that are parsed as soon as their event has been read: its text is then still in the processor's caches, and
//! several threads share the work for a long text.

use std::ops::Range;

use super::event::{EventKind, Family, Phase};
use super::fields::{Field, FieldSpan, Fields, TraceText};
use super::members::Members;
use super::usage_sum::UsageSum;
use crate::hash::{InputHash, input_hash};
use crate::json::{JsonError, JsonStr, Scanner};
use crate::model::{Memory, RequestHash};

#[derive(Debug)]
pub(crate) enum Payload {
    /// The contentHash of a call.
    Hash(RequestHash),
    /// The hash of an agent's input.
    Input(InputHash),
    /// `None` if the value is not an object.
    Memory(Option<Memory>),
    /// `None` if the value is not an object.
    Usage(Option<Box<UsageSum>>),
    Rows(Vec<Row>),
}

/// A result in the list of a batch.
#[derive(Debug)]
pub(crate) struct Row {
    pub hash: Option<RequestHash>,
    /// `None` if the entry is not an object.
    pub fields: Option<Vec<FieldSpan>>,
}

pub(crate) fn payload_of(kind: EventKind, fields: &Fields<'_, '_>) -> Option<Payload> {
    match (kind.family, kind.phase) {
        (Family::Turn | Family::Tool | Family::Call, _) => request_hash(fields).map(Payload::Hash),
        (Family::Agent, Phase::Start) => input_of(fields).map(Payload::Input),
        (Family::Run | Family::Generation, _) => {
            let range = fields.range(Field::Memory)?;
            Some(Payload::Memory(memory(fields.source, range)))
        }
        (Family::Budget, _) => {
            // An event without `delta` has the sum so far in `own`.
            let text = fields
                .text(Field::Delta)
                .or_else(|| fields.text(Field::Own))?;
            let mut usage = Box::<UsageSum>::default();
            let is_usage = usage.add_json(text).is_ok();
            Some(Payload::Usage(is_usage.then_some(usage)))
        }
        (Family::Batch, Phase::End) => {
            let range = fields.range(Field::ToolResults)?;
            Some(Payload::Rows(rows(fields.source, range)))
        }
        _ => None,
    }
}

fn request_hash(fields: &Fields<'_, '_>) -> Option<RequestHash> {
    let body = fields.string(Field::ContentHash)?;
    Some(match body.parse() {
        Ok(hash) => RequestHash::Sha256(hash),
        Err(_) => RequestHash::Foreign(JsonStr::from_normalized_body(&body)),
    })
}

/// The hash of an agent's input: from its event, else from its props. Missing props are the same input as an
/// empty object.
pub(crate) fn input_of(fields: &Fields<'_, '_>) -> Option<InputHash> {
    if let Some(hash) = fields
        .string(Field::InputHash)
        .and_then(|text| text.parse().ok())
    {
        return Some(hash);
    }
    let props = match fields.range(Field::Props) {
        None => "{}",
        Some(range) => fields.source.slice(range),
    };
    // Props that are nested too deep have no hash: their text here is empty, which is not JSON.
    let hash = input_hash(props, fields.text(Field::PropsTypes)).ok()?;
    Some(hash.into())
}

fn memory(source: TraceText<'_>, range: &Range<usize>) -> Option<Memory> {
    let mut memory = Memory::default();
    let read = Scanner::new(source.slice(range)).each_member(|scanner, key| {
        let value = scanner.skip_value()?;
        let value = source.json(&(range.start + value.start..range.start + value.end));
        memory.insert(key.to_json_str(), value);
        Ok::<_, JsonError>(())
    });
    read.ok().map(|()| memory)
}

fn rows(source: TraceText<'_>, range: &Range<usize>) -> Vec<Row> {
    let mut rows = Vec::new();
    // Of a faulty list, the rows before the fault count.
    let _ = Scanner::new(source.slice(range)).each_element(|scanner| {
        let row = scanner.skip_value()?;
        rows.push(Row::read(
            source,
            range.start + row.start..range.start + row.end,
        ));
        Ok::<_, JsonError>(())
    });
    rows
}

impl Row {
    fn read(source: TraceText<'_>, range: Range<usize>) -> Self {
        let fields = row_fields(source, range).ok();
        let hash = fields
            .as_ref()
            .and_then(|list| request_hash(&Fields { source, list }));
        Self { hash, fields }
    }
}

fn row_fields(source: TraceText<'_>, range: Range<usize>) -> Result<Vec<FieldSpan>, JsonError> {
    let mut fields = Vec::with_capacity(8);
    let mut members = Members::enter(source, range)?;
    while let Some(key) = members.next()? {
        let range = members.value()?;
        if let Some(field) = Field::from_key(key) {
            fields.push(FieldSpan { field, range });
        }
    }
    Ok(fields)
}
