//! The ends of a live frame and of its generations, and the failures that it ends with or handles.

use std::sync::Arc;

use super::{FailedAt, LiveFrame};
use crate::model::{Frame, State, Value};
use crate::record::lifecycle::Returned;
use crate::record::run::CallSlot;
use crate::replay::ReplaySource;
use crate::retry_rule::Mark;

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

    /// True if the recorded frame failed, and that failure ended the run.
    #[must_use]
    pub fn failure_ended_the_run(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::failure_ended_the_run)
    }

    /// Ends the frame as it ended in the recording, without executing it.
    pub fn adopt(&self) -> bool {
        let Some(recorded) = self.recorded() else {
            return false;
        };
        if self.shared.options.recording {
            self.run().adopt(&self.path, recorded);
        }
        self.shared.progress.close(recorded.end);
        true
    }

    /// Marks the earlier failures of this frame as handled, because the program starts something new or completes.
    /// Call this before any await that precedes [`Self::begin_call`]: the recording must show the failure as handled
    /// even if the run is dumped during that await.
    pub fn mark_pending_failures_handled(&self) {
        // What leftover code of a failed frame starts proves nothing about the failure.
        if self.lifecycle.get().has_failed() {
            return;
        }
        for failed in self.pending.take_handled() {
            let mut run = self.run();
            match failed {
                FailedAt::Call(slot) => run.mark_call(&self.path, slot, Mark::Handled),
                FailedAt::Frame(path) => run.mark_frame(&path, Mark::Handled),
            }
        }
    }

    /// Notes that the frame is about to end with this call's failure.
    pub fn mark_stopped(&self, slot: CallSlot) {
        let handled_when_recorded = self.handled_when_recorded.borrow().contains(&slot);
        let mark = Mark::Stopped {
            handled_when_recorded,
        };
        self.run().mark_call(&self.path, slot, mark);
    }

    /// Notes that the parent is about to end with this frame's failure.
    pub fn mark_frame_stopped(&self) {
        self.mark_frame(Mark::STOPPED);
    }

    fn mark_frame(&self, mark: Mark) {
        self.run().mark_frame(&self.path, mark);
    }

    pub fn next_generation(&self, props: Option<Value>) {
        // The run enters the last recorded generation, so the next one is past the recording. Recordings without
        // generations keep the entries of all of them in one.
        let has_generations = |recorded: &Arc<Frame>| recorded.generation.memory.is_some();
        let past_recording = self.recorded().is_some_and(has_generations);
        let lifecycle = self.lifecycle.get().next_generation(past_recording);
        self.lifecycle.set(lifecycle);
        self.pending.clear();
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

    /// A frame that completes has handled the failures in it. If it fails, the frame above decides if that is handled.
    fn note_returned(&self, returned: Returned) {
        let Some(lifecycle) = self.lifecycle.get().returned(returned) else {
            return;
        };
        self.lifecycle.set(lifecycle);
        match returned {
            Returned::Completed => self.mark_pending_failures_handled(),
            Returned::Failed => self.note_failed(),
        }
    }

    /// The recording shows if this failure was handled. If the failure was not recorded, the next action of the parent
    /// shows it.
    fn note_failed(&self) {
        let failed_before = |recorded: &&Arc<Frame>| matches!(recorded.state, State::Failed(_));
        if self.recorded().as_ref().is_some_and(failed_before) && !self.failure_ended_the_run() {
            self.mark_frame(Mark::Handled);
        } else if let Some(above) = &self.pending_above {
            above.add(FailedAt::Frame(self.path.clone()));
        }
    }
}
