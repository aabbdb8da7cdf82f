//! Frames while they are read: fields come in any order, and are put together at the end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rpds::VectorSync;

use super::fields::{Fields, Segment};
use super::requests::{RequestDraft, TABLE_FIELD, read_table};
use super::stop::Stop;
use crate::frame::{Course, Frame, Generation, State};
use crate::hash::{ContentHash, content_hash_any};
use crate::id_hash::IdHashing;
use crate::journal::{Call, Kind, Outcome, RequestHash, Row, Value};
use crate::json::{JsonStr, JsonText};
use crate::memory::Memory;
use crate::ordered::OrderedMap;
use crate::request::{Request, TextTable};
use crate::sort::sort_by_number;
use crate::usage::{Budget, Usage};

/// What a frame's last generation and an earlier one have in common.
#[derive(Default)]
pub(super) struct BodyDraft {
    pub(super) seen_children: bool,
    pub(super) children: VectorSync<Arc<Frame>>,
    seen_journal: bool,
    rows: Vec<RowDraft>,
    calls: Vec<CallDraft>,
    start: StartDraft,
}

/// How a generation started.
#[derive(Default)]
struct StartDraft {
    id: u64,
    props: Option<JsonText>,
    props_types: Option<JsonText>,
    memory: Option<Memory>,
}

struct RowDraft {
    kind: Kind,
    hash: RequestHash,
    output: Option<JsonText>,
    error: Option<JsonText>,
}

#[derive(Default)]
struct Marks {
    stopped: bool,
    handled: bool,
    unreached: bool,
}

#[derive(Default)]
struct CallDraft {
    kind: Option<Kind>,
    hash: Option<RequestHash>,
    call_id: Option<JsonStr>,
    start: Option<u64>,
    answered: Option<u64>,
    end: Option<u64>,
    in_row: bool,
    output: Option<JsonText>,
    types: Option<JsonText>,
    error: Option<JsonText>,
    marks: Marks,
    tombstone: Option<JsonStr>,
    // Large beside the rest, and in few snapshots.
    request: Option<Box<RequestDraft>>,
    meta: Option<JsonText>,
}

#[derive(Default)]
pub(super) struct FrameDraft {
    pub(super) body: BodyDraft,
    pub(super) earlier: VectorSync<Arc<Generation>>,
    call_id: Option<JsonStr>,
    agent_id: Option<JsonStr>,
    memory: Option<Memory>,
    memory_hashes: Option<OrderedMap<JsonStr, JsonStr>>,
    state: Option<State>,
    output_types: Option<JsonText>,
    budget: Option<Budget>,
    input_hash: Option<ContentHash>,
    start: Option<u64>,
    end: Option<u64>,
    marks: Marks,
}

impl FrameDraft {
    pub(super) fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "callId" => self.call_id = fields.string()?,
            "agentId" => self.agent_id = fields.string()?,
            "memory" => self.memory = memory(fields)?,
            "memoryHashes" => self.memory_hashes = Some(memory_hashes(fields)?),
            "state" => self.state = state(fields)?,
            "outputTypes" => self.output_types = Some(fields.span()?),
            "budgetState" => self.budget = budget(fields)?,
            "inputHash" => {
                self.input_hash = fields.string_body()?.and_then(|body| body.parse().ok());
            }
            "startOrder" => self.start = fields.place()?,
            "endOrder" => self.end = fields.place()?,
            "stopped" => self.marks.stopped = fields.flag()?,
            "handled" => self.marks.handled = fields.flag()?,
            "unreached" => self.marks.unreached = fields.flag()?,
            TABLE_FIELD => {
                let texts = read_table(fields)?;
                // Only the root's counts, which is read to its end last.
                let _ = fields.request_texts.set(texts);
            }
            "generation" => {
                let start = &mut self.body.start;
                fields.members("expected an object", |fields, key| {
                    start.read_field(key, fields)
                })?;
            }
            _ => self.body.read_field(key, fields)?,
        }
        Ok(())
    }

    /// Puts the frame together; `None` after noting what is missing.
    pub(super) fn finish(mut self, fields: &mut Fields<'_>) -> Option<Frame> {
        for (name, missing) in [
            ("callId", self.call_id.is_none()),
            ("agentId", self.agent_id.is_none()),
            ("memory", self.memory.is_none()),
            ("journal", !self.body.seen_journal),
            ("children", !self.body.seen_children),
            ("state", self.state.is_none()),
            ("budgetState", self.budget.is_none()),
        ] {
            if missing {
                fields.require(name);
            }
        }
        let memory = self.memory?;
        let mut edited = Vec::new();
        if let Some(hashes) = &self.memory_hashes {
            edited = edited_keys(&memory, hashes);
            let at_start = &mut self.body.start.memory;
            *at_start = at_start
                .take()
                .map(|at_start| with_edits(&at_start, &memory, &edited));
        }
        let state = match self.state? {
            State::Completed(value) => State::Completed(Value {
                types: self.output_types.or(value.types),
                text: value.text,
            }),
            other => other,
        };
        Some(Frame {
            call_id: self.call_id?,
            agent_id: self.agent_id?,
            input_hash: self.input_hash,
            start: self.start,
            end: self.end,
            state,
            stopped: self.marks.stopped,
            handled: self.marks.handled,
            memory,
            edited,
            generation: self.body.finish(&fields.request_texts),
            earlier: self.earlier,
            budget: self.budget?,
            continues: None,
            taken: None,
            course: if self.marks.unreached {
                Course::Unreached
            } else {
                Course::default()
            },
        })
    }
}

/// What the user changed in the memory as it stands: a key whose value no longer matches its hash was
/// edited, one without a hash was added, one without a value was removed.
fn edited_keys(now: &Memory, hashes: &OrderedMap<JsonStr, JsonStr>) -> Vec<JsonStr> {
    let is_changed = |(key, value): &(&JsonStr, &JsonText)| {
        let hash = content_hash_any(value.as_str()).map(|hash| hash.to_string());
        let known = hashes.get(key);
        !known.is_some_and(|known| hash.is_ok_and(|hash| hash == known.body()))
    };
    let removed = hashes.iter().filter(|(key, _)| now.get(key).is_none());
    let changed = now.iter().filter(is_changed);
    let keys = removed
        .map(|(key, _)| key)
        .chain(changed.map(|(key, _)| key));
    keys.cloned().collect()
}

/// The memory at the start, with the edits that were made to the memory as it stands.
fn with_edits(at_start: &Memory, now: &Memory, edited: &[JsonStr]) -> Memory {
    let keys: HashSet<&JsonStr> = edited.iter().collect();
    let mut memory: Memory = at_start
        .iter()
        .filter(|(key, _)| now.get(key).is_some() || !keys.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for key in edited {
        if let Some(value) = now.get(key) {
            memory.insert(key.clone(), value.clone());
        }
    }
    memory
}

impl BodyDraft {
    pub(super) fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "journal" => {
                self.seen_journal = true;
                self.journal(fields)
            }
            "calls" => self.call_list(fields),
            _ => self.start.read_field(key, fields),
        }
    }

    fn journal(&mut self, fields: &mut Fields<'_>) -> Result<(), Stop> {
        let mut seen = [false; 2];
        let is_object = fields.members("expected an object", |fields, key| match key {
            "prompt" => {
                seen[0] = true;
                self.rows(&Kind::Prompt, fields)
            }
            "tool" => {
                seen[1] = true;
                self.rows(&Kind::Tool, fields)
            }
            "other" => {
                fields.members("expected an object of kinds", |fields, kind| {
                    self.rows(&Kind::Other(JsonStr::from_normalized_body(kind)), fields)
                })?;
                Ok(())
            }
            _ => {
                fields.scanner.skip_value()?;
                Ok(())
            }
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

    fn rows(&mut self, kind: &Kind, fields: &mut Fields<'_>) -> Result<(), Stop> {
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
                    _ => {
                        fields.scanner.skip_value()?;
                    }
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

    fn call_list(&mut self, fields: &mut Fields<'_>) -> Result<(), Stop> {
        if fields.scanner.peek() != Some(b'[') {
            return fields.unexpected("expected an array of calls");
        }
        fields.scanner.enter_array()?;
        let mut first = true;
        let mut index = 0;
        while fields.scanner.next_element(&mut first)? {
            fields.path.push(Segment::Index(index));
            let mut call = CallDraft::default();
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
            fields.path.pop();
            index += 1;
        }
        Ok(())
    }

    pub(super) fn finish_generation(self, fields: &mut Fields<'_>) -> Generation {
        if !self.seen_journal {
            fields.require("journal");
        }
        self.finish(&fields.request_texts)
    }

    /// Joins calls with the rows that hold their outcomes. A row that no call names answers by
    /// itself; a call whose row was taken out is gone with it.
    fn finish(self, table: &Arc<TextTable>) -> Generation {
        let StartDraft {
            id,
            props,
            props_types,
            memory,
        } = self.start;
        let props = props.map(|text| Value {
            text,
            types: props_types,
        });
        let mut generation = Generation::new(id, props, memory);
        generation.children = self.children;
        let mut index = RowIndex::new(&self.rows);
        let mut calls: Vec<Arc<Call>> = Vec::with_capacity(self.calls.len());
        // Prompts name each other by their places in the list as it stands.
        let mut requests: Vec<Option<Request>> = Vec::new();
        let keeps_requests = self.calls.iter().any(|draft| draft.request.is_some());
        for draft in self.calls {
            let request = draft
                .request
                .as_ref()
                .and_then(|request| request.finish(&requests, table));
            if keeps_requests {
                requests.push(request.clone());
            }
            calls.extend(draft.finish(&mut index, request).map(Arc::new));
        }
        let named = index.named;
        // Occurrences are handed out in the order in which the calls were started.
        sort_by_number(&mut calls, |call| call.start);
        generation.calls = calls.into_iter().collect();
        let free = self.rows.into_iter().zip(named).filter(|(_, named)| !named);
        for (row, _) in free {
            generation.rows.push_back_mut(Arc::new(Row {
                outcome: row_outcome(row.output, row.error, None),
                kind: row.kind,
                hash: row.hash,
            }));
        }
        generation
    }
}

/// The rows by what they answer. Of rows with the same key the last one counts.
struct RowIndex<'r> {
    rows: &'r [RowDraft],
    places: HashMap<(&'r Kind, &'r RequestHash), usize, IdHashing>,
    /// The rows that a call named, and those that do not count.
    named: Vec<bool>,
}

impl<'r> RowIndex<'r> {
    fn new(rows: &'r [RowDraft]) -> Self {
        let mut named = vec![false; rows.len()];
        let mut places = HashMap::with_capacity_and_hasher(rows.len(), IdHashing::new());
        for (place, row) in rows.iter().enumerate() {
            if let Some(earlier) = places.insert((&row.kind, &row.hash), place) {
                named[earlier] = true;
            }
        }
        Self {
            rows,
            places,
            named,
        }
    }

    /// The row that a call names.
    fn name(&mut self, kind: &Kind, hash: &RequestHash) -> Option<&'r RowDraft> {
        let place = *self.places.get(&(kind, hash))?;
        self.named[place] = true;
        Some(&self.rows[place])
    }
}

fn row_outcome(
    output: Option<JsonText>,
    error: Option<JsonText>,
    types: Option<JsonText>,
) -> Outcome {
    match (error, output) {
        (Some(error), _) if error.as_str() != "null" => Outcome::Tombstone(error_text(&error)),
        (_, Some(text)) => Outcome::Output(Value { text, types }),
        // What JSON leaves out was undefined.
        (_, None) => Outcome::Output(Value::undefined()),
    }
}

/// A reason given as a string, or whatever else was written there as its text.
fn error_text(error: &JsonText) -> JsonStr {
    let text = error.as_str();
    match text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(body) => JsonStr::from_normalized_body(body),
        None => JsonStr::from_plain(text),
    }
}

impl StartDraft {
    fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "id" => self.id = fields.count()?.unwrap_or(0),
            "props" => self.props = Some(fields.span()?),
            "propsTypes" => self.props_types = Some(fields.span()?),
            "memory" => self.memory = memory(fields)?,
            _ => {
                fields.scanner.skip_value()?;
            }
        }
        Ok(())
    }
}

impl CallDraft {
    fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "kind" => self.kind = fields.kind()?,
            "contentHash" => self.hash = fields.string_body()?.map(|body| RequestHash::read(&body)),
            "callId" => self.call_id = fields.string()?,
            "startOrder" => self.start = fields.place()?,
            "answerOrder" => self.answered = fields.place()?,
            "endOrder" => self.end = fields.place()?,
            "row" => self.in_row = fields.flag()?,
            "output" => self.output = Some(fields.span()?),
            "types" => self.types = Some(fields.span()?),
            "error" => self.error = Some(fields.span()?),
            "stopped" => self.marks.stopped = fields.flag()?,
            "handled" => self.marks.handled = fields.flag()?,
            "unreached" => self.marks.unreached = fields.flag()?,
            "tombstone" => self.tombstone = fields.string()?,
            "request" => self.request = Some(Box::new(RequestDraft::read(fields)?)),
            "meta" => self.meta = Some(fields.span()?),
            _ => {
                fields.scanner.skip_value()?;
            }
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
        let (call_id, start) = (self.call_id?, self.start?);
        Some(Call {
            kind,
            hash,
            call_id,
            start,
            answered: self.answered,
            end: self.end,
            outcome,
            request,
            meta: self.meta,
            taken: None,
            unreached: self.marks.unreached,
        })
    }
}

fn memory(fields: &mut Fields<'_>) -> Result<Option<Memory>, Stop> {
    let mut memory = Memory::default();
    let is_object = fields.members("expected an object", |fields, key| {
        let value = fields.span()?;
        memory.insert(JsonStr::from_normalized_body(key), value);
        Ok(())
    })?;
    Ok(is_object.then_some(memory))
}

fn memory_hashes(fields: &mut Fields<'_>) -> Result<OrderedMap<JsonStr, JsonStr>, Stop> {
    let mut hashes = OrderedMap::default();
    fields.members("expected an object", |fields, key| {
        if let Some(hash) = fields.string()? {
            hashes.insert(JsonStr::from_normalized_body(key), hash);
        }
        Ok(())
    })?;
    Ok(hashes)
}

#[derive(Clone, Copy)]
enum Status {
    Running,
    Completed,
    Failed,
}

fn state(fields: &mut Fields<'_>) -> Result<Option<State>, Stop> {
    let mut status = None;
    let mut seen_status = false;
    let mut output = None;
    let mut error = None;
    let is_object = fields.members("expected an object", |fields, key| {
        match key {
            "status" => {
                seen_status = true;
                status = fields.choice(&[
                    ("running", Status::Running),
                    ("completed", Status::Completed),
                    ("failed", Status::Failed),
                ])?;
            }
            "output" => output = Some(fields.span()?),
            "error" => error = Some(fields.span()?),
            _ => {
                fields.scanner.skip_value()?;
            }
        }
        Ok(())
    })?;
    if is_object && !seen_status {
        fields.require("status");
    }
    Ok(status.map(|status| match status {
        Status::Running => State::Running,
        Status::Completed => State::Completed(output.map_or_else(Value::undefined, Value::plain)),
        Status::Failed => State::Failed(error),
    }))
}

fn budget(fields: &mut Fields<'_>) -> Result<Option<Budget>, Stop> {
    let mut own = None;
    let mut aggregate = None;
    let is_object = fields.members("expected an object", |fields, key| {
        let usage = match key {
            "own" => &mut own,
            "aggregate" => &mut aggregate,
            _ => {
                fields.scanner.skip_value()?;
                return Ok(());
            }
        };
        let text = fields.span()?;
        match Usage::read(text.as_str(), "") {
            Ok(read) => *usage = Some(read),
            Err(faults) => {
                // A path holds all callIds on the way: it is written for faults only.
                let above = fields.path_text();
                fields.faults.extend(faults.into_iter().map(|mut fault| {
                    fault.path.insert_str(0, &above);
                    fault
                }));
            }
        }
        Ok(())
    })?;
    if is_object {
        for (name, missing) in [("own", own.is_none()), ("aggregate", aggregate.is_none())] {
            if missing {
                fields.require(name);
            }
        }
    }
    Ok(own
        .zip(aggregate)
        .map(|(own, aggregate)| Budget { own, aggregate }))
}
