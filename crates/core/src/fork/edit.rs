//! New outcomes and memory values.

use std::ptr;
use std::sync::Arc;

use super::tree::{Entry, Subject, Tree, generation_at, generation_mut};
use super::{Edit, MemoryEdits, NewOutcome, Outcomes};
use crate::json::JsonStr;
use crate::model::{Call, Outcome, State, with_edits};

impl Tree<'_> {
    /// Applies keys that were edited by hand since the recording to the start of every generation.
    pub(super) fn settle_memory(&mut self) {
        for id in 0..self.nodes.len() {
            let frame = self.frame(id);
            if frame.edited.is_empty() || frame.generation.memory.is_none() {
                continue;
            }
            let edits = MemoryEdits {
                keys: frame.edited.clone(),
                values: frame.memory.clone(),
            };
            self.edit(id).edited.clear();
            self.edit_memory(id, &edits);
        }
    }

    /// Sets or removes keys of a frame's memory: at the start of each generation, and in the memory of the dump.
    fn edit_memory(&mut self, id: usize, edits: &MemoryEdits) {
        let frame = self.edit(id);
        if frame.generation.memory.is_none() && !frame.memory.is_empty() {
            let before = &frame.memory;
            let changed = |key: &&JsonStr| before.get(key) != edits.values.get(key);
            let changed: Vec<_> = edits.keys.iter().filter(changed).cloned().collect();
            frame.edited.retain(|key| !changed.contains(key));
            frame.edited.extend(changed);
        }
        frame.memory = with_edits(&frame.memory, &edits.values, &edits.keys);
        for index in 0..=frame.earlier.len() {
            // Generations without a recorded start are left as they are, and stay shared.
            if let Some(memory) = generation_at(frame, index)
                .and_then(|generation| generation.memory.as_ref())
                .map(|memory| with_edits(memory, &edits.values, &edits.keys))
                && let Some(generation) = generation_mut(frame, index)
            {
                generation.memory = Some(memory);
            }
        }
    }

    pub(super) fn apply(&mut self, edits: &[Edit<'_>], outcomes: &Outcomes<'_>) {
        for edit in edits {
            let Entry { node, subject } = edit.entry;
            if edit.change.outcome.is_none() && edit.change.memory.is_none() {
                continue;
            }
            // A frame whose result is replaced is not executed again, but those above it are.
            let own_result = subject == Subject::Frame && edit.change.memory.is_none();
            let frames = self.up_from(node).skip(usize::from(own_result));
            // The frames keep their ends, so that races are decided as recorded.
            for id in frames.collect::<Vec<_>>() {
                self.edit(id).state = State::Running;
            }
        }
        for edit in edits {
            if let Some(memory) = &edit.change.memory {
                self.edit_memory(edit.entry.node, memory);
            }
        }
        for edit in edits {
            if let Some(outcome) = &edit.change.outcome
                && let Some(last) = outcomes.get(&edit.entry)
                && ptr::eq(outcome, *last)
            {
                self.set_outcome(edit.entry, outcome);
            }
        }
    }

    fn set_outcome(&mut self, entry: Entry, outcome: &NewOutcome) {
        match entry.subject {
            Subject::Frame => {
                self.edit(entry.node).state = match outcome {
                    NewOutcome::Output(value) => State::Completed(value.clone()),
                    NewOutcome::Error(error) => State::Failed(Some(error.clone())),
                };
            }
            Subject::Call(..) => {
                if let Some(call) = self.call_mut(entry) {
                    call.outcome = outcome.of_call();
                    // Durations and usage belong to the recorded answer.
                    call.data = std::mem::take(&mut call.data).of_start();
                }
            }
            Subject::Row(_, position) => self.set_row(entry, position, outcome),
        }
    }

    /// A row can contain only JSON. For any other outcome, a call that answers once replaces it.
    fn set_row(&mut self, entry: Entry, position: usize, outcome: &NewOutcome) {
        let body = &mut self.edit(entry.node).generation;
        let Some(row) = body.rows.get_mut(position) else {
            return;
        };
        if let NewOutcome::Output(value) = outcome
            && value.types.is_none()
        {
            Arc::make_mut(row).outcome = Outcome::Output(value.clone());
            return;
        }
        let (kind, hash) = (row.kind.clone(), row.hash.clone());
        let same = body.calls.iter();
        let same = same.filter(|call| call.kind == kind && call.hash == hash);
        // The order of a row is not known. The call comes after those with the same request.
        let (count, start) = same.fold((0, 0), |(count, start), call| {
            (count + 1, call.start.max(start))
        });
        let mut call_id = format!("{}/{}:", self.frame(entry.node).call_id.body(), kind.name());
        hash.push_to(&mut call_id);
        call_id.push_str(&format!(":{count}"));
        self.gone_rows.insert(entry);
        let call_id = JsonStr::from_normalized_body(&call_id);
        let mut call = Call::new(kind, hash, call_id, start);
        call.outcome = outcome.of_call();
        self.new_calls.push((entry.node, call));
    }
}

impl NewOutcome {
    fn of_call(&self) -> Outcome {
        match self {
            Self::Output(value) => Outcome::Output(value.clone()),
            Self::Error(error) => Outcome::Failure {
                error: error.clone(),
                stopped: false,
                handled: false,
            },
        }
    }
}
