//! Determines the state of frames without an end event, and the failure that ended a frame.

use super::builder::Builder;
use super::draft::{Index, RUN_FRAME};
use crate::model::{Outcome, State, orphaned_error};
use crate::restore::read::spans::NO_EVENT;
use crate::restore::read::warnings::code;
use crate::retry_rule::{Mark, failure_that_ended};

impl Builder<'_, '_> {
    /// Closes agents that are still running although their calling agent has ended or was reborn.
    pub(crate) fn close_orphans(&mut self) {
        // Parents come before their children in the list, so they are closed first.
        for index in 1..self.frames.len() {
            let frame = &self.frames[index];
            if frame.state != State::Running {
                continue;
            }
            let parent = &self.frames[frame.parent as usize];
            let generation = &self.generations[frame.in_generation as usize];
            let was_reborn = frame.parent != RUN_FRAME
                && (parent.generations.last() != Some(&frame.in_generation)
                    || generation.end.as_ref().is_some_and(|end| end.reborn));
            if parent.state != State::Running || was_reborn {
                let orphaned = State::Failed(Some(orphaned_error(&parent.agent_id)));
                self.frames[index].state = self.lost_end(index).unwrap_or(orphaned);
            }
        }
    }

    /// The end of an agent whose end event is missing although its last generation ended.
    fn lost_end(&mut self, index: usize) -> Option<State> {
        let frame = &self.frames[index];
        let end = self.generations[*frame.generations.last()? as usize]
            .end
            .as_ref()?;
        let span = self.trace.spans.get(frame.span);
        if end.reborn || span.end != NO_EVENT {
            return None;
        }
        let message =
            "agent:end is missing; the end of the last generation is used instead".to_owned();
        self.warnings
            .add(code::MISSING_END, None, Some(&span.id), message);
        Some(end.state.clone())
    }

    /// Marks the call or sub-agent whose failure ended its frame.
    pub(crate) fn mark_stopped(&mut self) {
        for index in 0..self.frames.len() {
            let frame = &self.frames[index];
            let (State::Failed(Some(error)), Some(last)) = (&frame.state, frame.generations.last())
            else {
                continue;
            };
            let generation = &self.generations[*last as usize];
            let calls = generation.calls.iter().filter_map(|index| {
                let call = &self.calls[*index as usize];
                match &call.outcome {
                    // The frame did not end with a failure that came after its end.
                    Some(Outcome::Failure { error, .. })
                        if frame.end.is_none_or(|end| call.end < Some(end)) =>
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
            match failure_that_ended(error, children.chain(calls)) {
                Some(Failure::Call(index)) => {
                    if let Some(outcome) = &mut self.calls[index as usize].outcome {
                        Mark::STOPPED.set_in(outcome);
                    }
                }
                Some(Failure::Frame(index)) => self.frames[index as usize].stopped = true,
                None => {}
            }
        }
    }
}

enum Failure {
    Call(Index),
    Frame(Index),
}
