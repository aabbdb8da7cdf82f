//! The ends of a live frame and of its generations.

use std::sync::Arc;

use super::LiveFrame;
use crate::model::{Frame, State, Value};
use crate::record::lifecycle::Returned;
use crate::replay::ReplaySource;

impl LiveFrame {
    /// The recorded order of this frame's end.
    fn recorded_end(&self) -> Option<u64> {
        self.recorded().and_then(|frame| frame.end)
    }

    /// The order in which the frame's end is released. A frame that had not ended in the recording comes after
    /// everything that had.
    #[must_use]
    pub fn release_order(&self) -> Option<u64> {
        let recorded = self.recorded()?;
        recorded.end.or(recorded.start.map(|_| u64::MAX))
    }

    /// Notes that the frame has reached its recorded end. `true` if it overtook an earlier recorded
    /// start or end.
    pub fn reach_end(&self) -> bool {
        self.shared.progress.reach(self.recorded_end())
    }

    /// True if the recorded frame failed, and a resumed run executes it again for that.
    #[must_use]
    pub fn failure_is_retried(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::failure_is_retried)
    }

    /// True if the recorded failure of the frame was handled.
    #[must_use]
    pub fn was_handled(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::failure_was_handled)
    }

    /// Ends the frame as it ended in the recording, without executing it.
    pub fn adopt(&self) -> bool {
        let Some(recorded) = self.recorded() else {
            return false;
        };
        if self.shared.options.recording {
            self.run().adopt(&self.path, recorded, self.was_handled());
        }
        self.shared.progress.close(recorded.end);
        true
    }

    pub fn next_generation(&self, props: Option<Value>) {
        // The run enters the last recorded generation, so the next one is past the recording. Recordings without
        // generations keep the entries of all of them in one.
        let has_generations = |recorded: &Arc<Frame>| recorded.generation.memory.is_some();
        let past_recording = self.recorded().is_some_and(has_generations);
        let lifecycle = self.lifecycle.get().next_generation(past_recording);
        self.lifecycle.set(lifecycle);
        self.pending.take_all();
        self.handled_when_recorded.take();
        self.identity.next_generation();
        self.outers.take();
        if self.shared.options.recording {
            self.run().next_generation(&self.path, props);
        }
    }

    /// The recorded order of the frame's end, if the frame has not diverged.
    fn end_as_recorded(&self) -> Option<u64> {
        let recorded = self.recorded().filter(|_| !self.ledger.has_diverged());
        recorded.and_then(|recorded| recorded.end)
    }

    pub fn end(&self, state: State) {
        self.shared.progress.close(self.recorded_end());
        if self.shared.options.recording {
            let end = self.end_as_recorded();
            match state {
                State::Failed(_) => self.note_returned(Returned::Failed),
                State::Completed(_) => self.note_returned(Returned::Completed),
                State::Running => {}
            }
            self.run().end_frame(&self.path, state, end);
        }
    }

    /// A frame that completes has handled the failures in it.
    fn note_returned(&self, returned: Returned) {
        let Some(lifecycle) = self.lifecycle.get().returned(returned) else {
            return;
        };
        self.lifecycle.set(lifecycle);
        if returned == Returned::Completed {
            self.mark_handled(self.pending.take_all());
        }
    }
}
