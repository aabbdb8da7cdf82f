//! Marks the failures that a frame had handled or ended with.

use super::builder::Builder;
use super::draft::{Index, NONE, RUN_FRAME};
use crate::json::{JsonStr, JsonText};
use crate::model::{Outcome, State};
use crate::restore::read::fields::{Field, Fields};
use crate::retry_rule::{Mark, failure_that_ended};

/// A call or sub-agent that failed.
#[derive(Clone, Copy)]
enum Failure {
    Call(Index),
    Frame(Index),
}

impl<'t> Builder<'_, 't> {
    /// Marks the failures as handled that a start in this generation names.
    pub(crate) fn mark_handled_in(&mut self, generation: Index, fields: &Fields<'_, 't>) {
        if generation == NONE {
            return;
        }
        for call_id in fields.json_strs(Field::HandledFailures).unwrap_or_default() {
            match self.failure(generation, &call_id) {
                Some(Failure::Call(index)) => {
                    if let Some(outcome) = &mut self.calls[index as usize].outcome {
                        Mark::Handled.set_in(outcome);
                    }
                }
                Some(Failure::Frame(index)) => {
                    let agent = &mut self.frames[index as usize];
                    agent.handled = true;
                    self.went_on |= agent.parent == RUN_FRAME;
                }
                None => {}
            }
        }
    }

    /// Marks the failures in this generation that the end of a call names: they were inside the call, which failed with
    /// them.
    pub(crate) fn stop_in(&mut self, generation: Index, fields: &Fields<'_, 't>) {
        for call_id in fields.json_strs(Field::FailedBy).unwrap_or_default() {
            if let Some(failure) = self.failure(generation, &call_id) {
                self.stop(failure);
            }
        }
    }

    /// The failed call or sub-agent with this callId.
    fn failure(&self, generation: Index, call_id: &JsonStr) -> Option<Failure> {
        let generation = &self.generations[generation as usize];
        let call = generation.calls.iter().rev().find(|index| {
            let call = &self.calls[**index as usize];
            call.call_id.as_ref() == Some(call_id)
                && matches!(call.outcome, Some(Outcome::Failure { .. }))
        });
        let frame = || {
            let mut children = generation.children.iter().rev();
            children.find(|index| self.frames[**index as usize].call_id == *call_id)
        };
        match call {
            Some(index) => Some(Failure::Call(*index)),
            None => frame().map(|index| Failure::Frame(*index)),
        }
    }

    /// Marks the calls and sub-agents whose failure ended their frame.
    pub(crate) fn mark_stopped(&mut self) {
        for index in 0..self.frames.len() {
            let frame = &self.frames[index];
            let (State::Failed(Some(error)), Some(last)) = (&frame.state, frame.generations.last())
            else {
                continue;
            };
            let failures: Vec<Failure> = match &frame.failed_by {
                Some(named) => {
                    let named = named.iter();
                    named
                        .filter_map(|call_id| self.failure(*last, call_id))
                        .collect()
                }
                None => failure_that_ended(error, self.failures(*last, frame.end))
                    .into_iter()
                    .collect(),
            };
            for failure in failures {
                self.stop(failure);
            }
        }
    }

    /// The failures in a generation of a frame that `ended` there, each with its error and the order of its end.
    fn failures(
        &self,
        generation: Index,
        ended: Option<u64>,
    ) -> impl Iterator<Item = (Failure, &JsonText, Option<u64>)> {
        let generation = &self.generations[generation as usize];
        let calls = generation.calls.iter().filter_map(move |index| {
            let call = &self.calls[*index as usize];
            match &call.outcome {
                // The frame did not end with a failure that came after its end.
                Some(Outcome::Failure { error, .. })
                    if ended.is_none_or(|end| call.end < Some(end)) =>
                {
                    Some((Failure::Call(*index), error, call.end))
                }
                _ => None,
            }
        });
        let children = generation.children.iter().filter_map(|index| {
            let child = &self.frames[*index as usize];
            match &child.state {
                State::Failed(Some(error)) => Some((Failure::Frame(*index), error, child.end)),
                _ => None,
            }
        });
        children.chain(calls)
    }

    fn stop(&mut self, failure: Failure) {
        match failure {
            Failure::Call(index) => {
                let call = &mut self.calls[index as usize];
                let mark = Mark::Stopped {
                    handled_when_recorded: call.handled_when_recorded,
                };
                if let Some(outcome) = &mut call.outcome {
                    mark.set_in(outcome);
                }
            }
            Failure::Frame(index) => {
                let frame = &mut self.frames[index as usize];
                (frame.stopped, frame.handled) = (true, false);
            }
        }
    }
}
