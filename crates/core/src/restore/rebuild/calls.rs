//! Builds the calls of prompts, tools and other kinds.

use super::builder::{Builder, index_of};
use super::draft::{CallDraft, Index, NONE};
use super::outcome::outcome;
use crate::json::{JsonError, JsonStr, JsonText, Scanner};
use crate::model::{CallData, Kind, Outcome, RequestHash};
use crate::restore::read::event::{Event, Family, Phase, SpanIndex};
use crate::restore::read::fields::{Field, FieldSpan, Fields};
use crate::restore::read::payload::{Payload, Row};
use crate::restore::read::spans::NO_EVENT;
use crate::restore::read::warnings::code;
use crate::retry_rule::Mark;

impl<'t> Builder<'_, 't> {
    pub(crate) fn call_start(
        &mut self,
        order: u64,
        frame: Index,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) {
        let hash = self.take_hash(event);
        let call = match self.retried_call(frame, event, fields) {
            Some(call) => call,
            None => self.new_call(order, frame, event.span, event.kind.family, fields),
        };
        self.calls[call as usize].hash = hash;
        self.call_of[event.span as usize] = call;
        if let Some(lanes) = fields.text(Field::Lanes) {
            let generation = self.generation_at(event.span, frame);
            self.set_lanes(generation, lanes);
        }
    }

    /// Sets the lanes of open calls with equal requests. `lanes`: JSON text of an object by callId.
    fn set_lanes(&mut self, generation: Index, lanes: &str) {
        let mut lanes = lanes_of(lanes).unwrap_or_default();
        for call in self.generations[generation as usize].calls.iter().rev() {
            if lanes.is_empty() {
                return;
            }
            let draft = &mut self.calls[*call as usize];
            let found = lanes
                .iter()
                .position(|(id, _)| Some(id) == draft.call_id.as_ref());
            if let Some(found) = found {
                draft.data.lane = Some(lanes.swap_remove(found).1);
            }
        }
    }

    /// The call that a client retries. Only the outcome of the last attempt counts: until then the call is in
    /// flight.
    fn retried_call(
        &mut self,
        frame: Index,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) -> Option<Index> {
        fields.present(Field::Attempt)?;
        let call_id = fields.json_str(Field::CallId)?;
        let generation = self.generation_at(event.span, frame);
        let calls = &self.generations[generation as usize].calls;
        let call = *calls
            .iter()
            .rev()
            .find(|call| self.calls[**call as usize].call_id.as_ref() == Some(&call_id))?;
        let draft = &mut self.calls[call as usize];
        draft.span = event.span;
        (draft.answered, draft.end) = (None, None);
        (draft.outcome, draft.handled_when_recorded) = (None, false);
        draft.data = std::mem::take(&mut draft.data).of_start();
        Some(call)
    }

    fn take_hash(&mut self, event: &Event) -> Option<RequestHash> {
        match self.take_payload(event) {
            Some(Payload::Hash(hash)) => Some(hash),
            _ => None,
        }
    }

    fn new_call(
        &mut self,
        start: u64,
        frame: Index,
        span: SpanIndex,
        family: Family,
        fields: &Fields<'_, 't>,
    ) -> Index {
        let (kind, name, call_id) = match family {
            Family::Tool | Family::Batch => (
                Kind::Tool,
                fields.string(Field::ToolName),
                fields.json_str(Field::JournalCallId),
            ),
            Family::Call => {
                let kind = fields
                    .json_str(Field::Kind)
                    .unwrap_or_else(|| JsonStr::from_normalized_body("call"));
                (
                    Kind::from_name(kind),
                    fields.string(Field::Name),
                    fields.json_str(Field::CallId),
                )
            }
            _ => (Kind::Prompt, None, fields.json_str(Field::CallId)),
        };
        let generation = self.generation_at(span, frame);
        let index = index_of(self.calls.len());
        self.calls.push(CallDraft {
            kind,
            name,
            call_id,
            within: fields.json_str(Field::Within),
            hash: None,
            span,
            start,
            answered: None,
            end: None,
            outcome: None,
            data: CallData::default(),
            handled_when_recorded: false,
        });
        self.generations[generation as usize].calls.push(index);
        index
    }

    pub(crate) fn call_end(
        &mut self,
        order: u64,
        frame: Index,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) {
        let mut call = self.call_of[event.span as usize];
        if call == NONE {
            call = self.new_call(order, frame, event.span, event.kind.family, fields);
            self.call_of[event.span as usize] = call;
        }
        // The outcome of an earlier attempt does not count.
        if self.calls[call as usize].span != event.span {
            return;
        }
        let output = if event.kind.family == Family::Turn {
            Field::Message
        } else {
            Field::Output
        };
        let hash = self.take_hash(event);
        self.end_call(call, order, hash, outcome(fields, output), fields, event);
        let generation = self.generation_at(event.span, frame);
        self.stop_in(generation, fields);
    }

    /// The program received an answer before the call ended, or more of that answer has arrived. Without a later
    /// event, this is the outcome of the call.
    pub(crate) fn call_answer(
        &mut self,
        order: u64,
        frame: Index,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) {
        self.call_end(order, frame, event, fields);
        let call = self.call_of[event.span as usize];
        let draft = &mut self.calls[call as usize];
        if draft.span == event.span {
            // Later events of this type only extend the answer.
            draft.answered.get_or_insert(order);
        }
    }

    fn end_call(
        &mut self,
        call: Index,
        order: u64,
        hash: Option<RequestHash>,
        outcome: Outcome,
        fields: &Fields<'_, 't>,
        event: &Event,
    ) {
        let draft = &mut self.calls[call as usize];
        draft.hash = hash.or(draft.hash.take());
        draft.end = Some(order);
        // The failure was part of an answer that the program received before.
        let was_handled = draft.answered.is_some() && is_handled(draft.outcome.as_ref());
        draft.handled_when_recorded |= is_handled(Some(&outcome));
        if draft.hash.is_none() && matches!(outcome, Outcome::Output(_)) {
            let message = format!(
                "{} has no contentHash; its call cannot be replayed",
                event.kind.name()
            );
            let spans = &self.trace.spans;
            self.warnings
                .add_at(code::MISSING_HASH, event, spans, message);
        }
        draft.outcome = Some(outcome);
        if was_handled && let Some(outcome) = &mut draft.outcome {
            Mark::Handled.set_in(outcome);
        }
        for field in Field::CALL_DATA {
            if let Some(value) = fields.present(*field)
                && let Some(known) = draft.data.field_mut(field.key())
            {
                *known = Some(value);
            }
        }
        draft.data.meta = draft.data.meta.take().or_else(|| meta_of(fields));
    }

    /// Reads the model call of a turn. The id of its adapter is part of the prompt's callId if the events contain no
    /// callId. In traces of other recorders, it also contains the `meta` of the prompt.
    pub(crate) fn model_call(&mut self, event: &Event, fields: &Fields<'_, 't>) {
        let turn = self.trace.spans.get(event.span).parent;
        let Some(&call) = self
            .call_of
            .get(turn as usize)
            .filter(|call| **call != NONE)
        else {
            return;
        };
        let draft = &mut self.calls[call as usize];
        if draft.name.is_none() && draft.kind == Kind::Prompt {
            draft.name = fields.string(Field::AdapterId);
        }
        if !self.is_own && event.kind.phase == Phase::End {
            draft.data.meta = meta_of(fields).or(draft.data.meta.take());
        }
    }

    /// Restores calls whose own events are missing from the results that the end of their batch lists.
    pub(crate) fn batch_end(&mut self, order: u64, frame: Index, event: &Event) {
        let Some(Payload::Rows(rows)) = self.take_payload(event) else {
            return;
        };
        let batch_start = self.trace.spans.get(event.span).start;
        let start = if batch_start == NO_EVENT {
            order
        } else {
            u64::from(batch_start).min(order)
        };
        for Row { hash, fields } in rows {
            match fields {
                Some(fields) => self.batch_row((start, order), frame, event, hash, &fields),
                None => self.warn_field(event, Field::ToolResults, "an array of results"),
            }
        }
    }

    fn batch_row(
        &mut self,
        (start, end): (u64, u64),
        frame: Index,
        event: &Event,
        hash: Option<RequestHash>,
        row: &[FieldSpan],
    ) {
        let fields = Fields {
            source: self.trace.source,
            list: row,
        };
        let span = fields
            .string(Field::SpanId)
            .and_then(|id| self.trace.spans.find(&id));
        let known = span.map_or(NONE, |span| self.call_of[span as usize]);
        if known != NONE && self.calls[known as usize].outcome.is_some() {
            return;
        }
        let call = if known == NONE {
            let call = self.new_call(start, frame, event.span, Family::Batch, &fields);
            if let Some(span) = span {
                self.call_of[span as usize] = call;
            }
            call
        } else {
            known
        };
        let outcome = outcome(&fields, Field::Output);
        self.end_call(call, end, hash, outcome, &fields, event);
    }
}

fn lanes_of(text: &str) -> Result<Vec<(JsonStr, JsonText)>, JsonError> {
    let mut lanes = Vec::new();
    Scanner::new(text)
        .each_member(|scanner, call_id| {
            let lane = JsonText::trusted(scanner.value()?.to_owned());
            lanes.push((call_id.to_json_str(), lane));
            Ok(())
        })
        .map(|()| lanes)
}

fn is_handled(outcome: Option<&Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Failure { handled: true, .. }))
}

/// Builds `meta` from the fields of an event that has no `meta`.
fn meta_of(fields: &Fields<'_, '_>) -> Option<JsonText> {
    let known = [
        ("durationMs", Field::Duration),
        ("usage", Field::Usage),
        ("finishReason", Field::FinishReason),
    ];
    let mut meta = String::new();
    for (name, field) in known {
        let Some(value) = fields.text(field) else {
            continue;
        };
        meta.push(if meta.is_empty() { '{' } else { ',' });
        for part in ["\"", name, "\":", value] {
            meta.push_str(part);
        }
    }
    if meta.is_empty() {
        return None;
    }
    meta.push('}');
    Some(JsonText::trusted(meta))
}
