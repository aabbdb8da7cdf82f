//! Collects the fields of a frame, which come in any order, and builds the frame at its end.

use std::sync::Arc;

use rpds::VectorSync;

use super::fields::Fields;
use super::generation_draft::BodyDraft;
use super::journal_draft::Marks;
use super::memory::{edited_keys, read_hashes, read_memory};
use super::read_requests::TablesRead;
use super::stop::Stop;
use super::write_requests::{PARTS_FIELD, TEXTS_FIELD};
use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{
    Budget, Divergence, Frame, Generation, Memory, OrderedMap, State, Usage, Value, with_edits,
};

#[derive(Default)]
pub(super) struct FrameFields {
    pub(super) body: BodyDraft,
    pub(super) earlier: VectorSync<Arc<Generation>>,
    call_id: Option<JsonStr>,
    agent_id: Option<JsonStr>,
    within: Option<JsonStr>,
    memory: Option<Memory>,
    memory_hashes: Option<OrderedMap<JsonStr, JsonStr>>,
    state: Option<State>,
    output_types: Option<JsonText>,
    budget: Option<Budget>,
    input_hash: Option<InputHash>,
    start: Option<u64>,
    end: Option<u64>,
    marks: Marks,
}

impl FrameFields {
    pub(super) fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "callId" => self.call_id = fields.string()?,
            "agentId" => self.agent_id = fields.string()?,
            "within" => self.within = fields.string()?,
            "memory" => self.memory = read_memory(fields)?,
            "memoryHashes" => self.memory_hashes = Some(read_hashes(fields)?),
            "state" => self.state = read_state(fields)?,
            "outputTypes" => self.output_types = Some(fields.span()?),
            "budgetState" => self.budget = read_budget(fields)?,
            "inputHash" => {
                self.input_hash = fields.string_body()?.and_then(|body| body.parse().ok());
            }
            "startOrder" => self.start = fields.order()?,
            "endOrder" => self.end = fields.order()?,
            "stopped" => self.marks.stopped = fields.flag()?,
            "handled" => self.marks.handled = fields.flag()?,
            // Version 0.1.0 wrote "unreached".
            "carriedOver" | "unreached" => self.marks.carried_over = fields.flag()?,
            // Only the tables of the root count. The root is the last frame that is read to its end.
            TEXTS_FIELD => TablesRead::read_texts(fields)?,
            PARTS_FIELD => TablesRead::read_parts(fields)?,
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

    /// Builds the frame. If fields are missing, reports them and returns `None`.
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
        let generation = self.body.finish(&fields.requests);
        Some(Frame {
            within: self.within,
            input_hash: self.input_hash,
            start: self.start,
            end: self.end,
            state,
            stopped: self.marks.stopped,
            handled: self.marks.handled,
            memory,
            edited,
            earlier: self.earlier,
            budget: self.budget?,
            divergence: if self.marks.carried_over {
                Divergence::NotReplayedYet
            } else {
                Divergence::default()
            },
            ..Frame::new(self.call_id?, self.agent_id?, generation)
        })
    }
}

#[derive(Clone, Copy)]
enum Status {
    Running,
    Completed,
    Failed,
}

fn read_state(fields: &mut Fields<'_>) -> Result<Option<State>, Stop> {
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
            _ => fields.skip()?,
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

fn read_budget(fields: &mut Fields<'_>) -> Result<Option<Budget>, Stop> {
    let mut own = None;
    let mut aggregate = None;
    let is_object = fields.members("expected an object", |fields, key| {
        let usage = match key {
            "own" => &mut own,
            "aggregate" => &mut aggregate,
            _ => return fields.skip(),
        };
        let text = fields.span()?;
        match Usage::read(text.as_str(), "") {
            Ok(read) => *usage = Some(read),
            Err(faults) => {
                // A path contains all callIds above the value, so it is written only for faults.
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
