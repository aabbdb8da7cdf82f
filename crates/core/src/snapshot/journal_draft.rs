//! Reads the journal of a generation: its calls, and the rows with their outcomes.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::Fields;
use super::read_requests::{RequestDraft, TablesRead, index};
use super::stop::Stop;
use crate::json::{JsonStr, JsonText};
use crate::model::{Call, CallData, Generation, Kind, Outcome, Request, RequestHash, Row, Value};
use crate::util::IdHashing;

#[derive(Default)]
pub(super) struct JournalDraft {
    rows: Vec<RowDraft>,
    calls: Vec<CallFields>,
}

struct RowDraft {
    kind: Kind,
    hash: RequestHash,
    output: Option<JsonText>,
    error: Option<JsonText>,
}

/// The marks that calls and frames share.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) stopped: bool,
    pub(super) handled: bool,
    pub(super) carried_over: bool,
}

#[derive(Default)]
struct CallFields {
    kind: Option<Kind>,
    hash: Option<RequestHash>,
    call_id: Option<JsonStr>,
    within: Option<JsonStr>,
    start: Option<u64>,
    answered: Option<u64>,
    end: Option<u64>,
    in_row: bool,
    output: Option<JsonText>,
    types: Option<JsonText>,
    error: Option<JsonText>,
    marks: Marks,
    tombstone: Option<JsonStr>,
    // Boxed because it is large and few snapshots contain requests.
    request: Option<Box<RequestDraft>>,
    request_part: Option<usize>,
    dropped: bool,
    data: CallData,
}

impl JournalDraft {
    /// The field `journal`: outcomes by kind and hash.
    pub(super) fn read_rows(&mut self, fields: &mut Fields<'_>) -> Result<(), Stop> {
        let mut seen = [false; 2];
        let is_object = fields.members("expected an object", |fields, key| match key {
            "prompt" => {
                seen[0] = true;
                self.rows_of(&Kind::Prompt, fields)
            }
            "tool" => {
                seen[1] = true;
                self.rows_of(&Kind::Tool, fields)
            }
            "other" => {
                let kinds = fields.members("expected an object of kinds", |fields, kind| {
                    self.rows_of(&Kind::Other(JsonStr::from_normalized_body(kind)), fields)
                });
                kinds.map(|_| ())
            }
            _ => fields.skip(),
        })?;
        if is_object {
            for (name, seen) in ["prompt", "tool"].into_iter().zip(seen) {
                if !seen {
                    fields.require(name);
                }
            }
        }
        Ok(())
    }

    fn rows_of(&mut self, kind: &Kind, fields: &mut Fields<'_>) -> Result<(), Stop> {
        fields.members("expected an object of journal entries", |fields, hash| {
            let hash = RequestHash::read(hash);
            let mut row = RowDraft {
                kind: kind.clone(),
                hash,
                output: None,
                error: None,
            };
            let mut seen_hash = false;
            let is_object = fields.members("expected a journal entry", |fields, key| {
                match key {
                    "output" => row.output = Some(fields.span()?),
                    "contentHash" => {
                        seen_hash = true;
                        fields.string_body()?;
                    }
                    "error" => row.error = Some(fields.span()?),
                    _ => fields.skip()?,
                }
                Ok(())
            })?;
            if is_object && !seen_hash {
                fields.require("contentHash");
            }
            self.rows.push(row);
            Ok(())
        })?;
        Ok(())
    }

    /// The field `calls`: the calls in order of start.
    pub(super) fn read_calls(&mut self, fields: &mut Fields<'_>) -> Result<(), Stop> {
        fields.elements("expected an array of calls", |fields| {
            let mut call = CallFields::default();
            let is_object = fields.members("expected a call", |fields, key| {
                call.read_field(key, fields)
            })?;
            if is_object {
                for (name, missing) in [
                    ("kind", call.kind.is_none()),
                    ("contentHash", call.hash.is_none()),
                    ("callId", call.call_id.is_none()),
                    ("startOrder", call.start.is_none()),
                ] {
                    if missing {
                        fields.require(name);
                    }
                }
            }
            self.calls.push(call);
            Ok(())
        })
    }

    /// Joins calls with the rows that contain their outcomes. A row that no call refers to answers on
    /// its own. A call whose row was removed is removed too.
    pub(super) fn finish(self, tables: &TablesRead, generation: &mut Generation) {
        let mut index = RowIndex::new(&self.rows);
        let mut calls: Vec<Arc<Call>> = Vec::with_capacity(self.calls.len());
        // Prompts refer to each other by their positions in the list.
        let mut messages = vec![None; self.calls.len()];
        for (position, draft) in self.calls.into_iter().enumerate() {
            let request = match (&draft.request, draft.request_part) {
                (_, Some(index)) => Some(Request::Read {
                    table: Arc::clone(&tables.parts),
                    index,
                }),
                (Some(request), None) => request.finish(&mut messages, position, tables),
                (None, None) => None,
            };
            calls.extend(draft.finish(&mut index, request).map(Arc::new));
        }
        let named = index.named;
        // Replay answers occurrences in the order in which the calls started.
        calls.sort_by_key(|call| call.start);
        generation.calls = calls.into_iter().collect();
        let free = self.rows.into_iter().zip(named).filter(|(_, named)| !named);
        for (row, _) in free {
            generation.rows.push_back_mut(Arc::new(Row {
                outcome: row_outcome(row.output, row.error, None),
                kind: row.kind,
                hash: row.hash,
            }));
        }
    }
}

impl CallFields {
    fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "kind" => self.kind = fields.kind()?,
            "contentHash" => self.hash = fields.string_body()?.map(|body| RequestHash::read(&body)),
            "callId" => self.call_id = fields.string()?,
            "within" => self.within = fields.string()?,
            "startOrder" => self.start = fields.order()?,
            "answerOrder" => self.answered = fields.order()?,
            "endOrder" => self.end = fields.order()?,
            "row" => self.in_row = fields.flag()?,
            "output" => self.output = Some(fields.span()?),
            "types" => self.types = Some(fields.span()?),
            "error" => self.error = Some(fields.span()?),
            "stopped" => self.marks.stopped = fields.flag()?,
            "handled" => self.marks.handled = fields.flag()?,
            // Version 0.1.0 wrote "unreached".
            "carriedOver" | "unreached" => self.marks.carried_over = fields.flag()?,
            "tombstone" => self.tombstone = fields.string()?,
            "dropped" => self.dropped = fields.flag()?,
            "requestPart" => self.request_part = index(fields)?,
            "request" => self.request = Some(Box::new(RequestDraft::read(fields)?)),
            _ => match self.data.field_mut(key) {
                Some(field) => *field = Some(fields.span()?),
                None => fields.skip()?,
            },
        }
        Ok(())
    }

    fn finish(self, rows: &mut RowIndex<'_>, request: Option<Request>) -> Option<Call> {
        let (kind, hash) = (self.kind?, self.hash?);
        let outcome = if self.in_row {
            let row = rows.name(&kind, &hash)?;
            row_outcome(row.output.clone(), row.error.clone(), self.types)
        } else if let Some(text) = self.output {
            Outcome::Output(Value {
                text,
                types: self.types,
            })
        } else if let Some(error) = self.error {
            Outcome::Failure {
                error,
                stopped: self.marks.stopped,
                handled: self.marks.handled,
            }
        } else if let Some(reason) = self.tombstone {
            Outcome::Tombstone(reason)
        } else {
            Outcome::Pending
        };
        Some(Call {
            within: self.within,
            answered: self.answered,
            end: self.end,
            outcome,
            request,
            data: self.data,
            carried_over: self.marks.carried_over,
            dropped: self.dropped,
            ..Call::new(kind, hash, self.call_id?, self.start?)
        })
    }
}

/// The rows by kind and hash. Of rows with the same key, the last one counts.
struct RowIndex<'r> {
    rows: &'r [RowDraft],
    positions: HashMap<(&'r Kind, &'r RequestHash), usize, IdHashing>,
    /// True for rows that a call refers to, and for rows that do not count.
    named: Vec<bool>,
}

impl<'r> RowIndex<'r> {
    fn new(rows: &'r [RowDraft]) -> Self {
        let mut named = vec![false; rows.len()];
        let mut positions = HashMap::with_capacity_and_hasher(rows.len(), IdHashing::new());
        for (position, row) in rows.iter().enumerate() {
            if let Some(earlier) = positions.insert((&row.kind, &row.hash), position) {
                named[earlier] = true;
            }
        }
        Self {
            rows,
            positions,
            named,
        }
    }

    /// Finds the row that a call refers to.
    fn name(&mut self, kind: &Kind, hash: &RequestHash) -> Option<&'r RowDraft> {
        let position = *self.positions.get(&(kind, hash))?;
        self.named[position] = true;
        Some(&self.rows[position])
    }
}

fn row_outcome(
    output: Option<JsonText>,
    error: Option<JsonText>,
    types: Option<JsonText>,
) -> Outcome {
    match (error, output) {
        (Some(error), _) if error.as_str() != "null" => {
            Outcome::Tombstone(JsonStr::from_literal(error.as_str()))
        }
        (_, Some(text)) => Outcome::Output(Value { text, types }),
        // `JSON.stringify` leaves `undefined` out.
        (_, None) => Outcome::Output(Value::undefined()),
    }
}
