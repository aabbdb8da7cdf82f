//! Determines the state of frames without an end event.

use super::builder::Builder;
use super::draft::RUN_FRAME;
use crate::model::{State, orphaned_error};
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
}
