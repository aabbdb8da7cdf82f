//! Determines the state of frames without an end event, and the failure that ended a frame.

use super::builder::Builder;
use super::draft::{Index, RUN_FRAME};
use super::failure::{Identity, causes, identity};
use crate::model::{Outcome, State, orphaned_error};
use crate::restore::read::spans::NO_EVENT;
use crate::restore::read::warnings::code;

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
            let has_failures = generation
                .calls
                .iter()
                .any(|call| self.call_failure(*call).is_some())
                || generation
                    .children
                    .iter()
                    .any(|child| self.frame_failure(*child).is_some());
            if !has_failures {
                continue;
            }
            let ends = causes(error);
            let is_end =
                |failure: Option<Identity>| failure.is_some_and(|failure| ends.contains(&failure));
            let calls = generation
                .calls
                .iter()
                .copied()
                .filter(|call| is_end(self.call_failure(*call)));
            let children = generation
                .children
                .iter()
                .copied()
                .filter(|child| is_end(self.frame_failure(*child)));
            let call = calls.max_by_key(|call| self.calls[*call as usize].end);
            let child = children.max_by_key(|child| self.frames[*child as usize].end);
            let call_end = call.and_then(|call| self.calls[call as usize].end);
            let child_end = child.and_then(|child| self.frames[child as usize].end);
            // Of several with the same error, the last one ended the frame. The others had been handled.
            match (call, child) {
                (Some(call), _) if call_end >= child_end => {
                    if let Some(Outcome::Failure { stopped, .. }) =
                        &mut self.calls[call as usize].outcome
                    {
                        *stopped = true;
                    }
                }
                (_, Some(child)) => self.frames[child as usize].stopped = true,
                _ => {}
            }
        }
    }

    fn call_failure(&self, call: Index) -> Option<Identity> {
        match &self.calls[call as usize].outcome {
            Some(Outcome::Failure { error, .. }) => identity(error),
            _ => None,
        }
    }

    fn frame_failure(&self, frame: Index) -> Option<Identity> {
        match &self.frames[frame as usize].state {
            State::Failed(Some(error)) => identity(error),
            _ => None,
        }
    }
}
