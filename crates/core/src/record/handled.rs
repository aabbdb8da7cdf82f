//! Failures that the program may still handle.
//!
//! A failure is pending until something is started in its frame, or the frame completes: then the program has
//! handled it. If the frame ends with the failure instead, the frame above decides.

use std::cell::RefCell;
use std::collections::HashSet;

use super::run::{CallSlot, FramePath, Run};

/// The pending failures of a frame: nothing was started in it after them.
#[derive(Debug, Default)]
pub(super) struct PendingFailures {
    calls: RefCell<Vec<CallSlot>>,
    frames: RefCell<Vec<FramePath>>,
    /// Replayed calls whose failure was handled when it was recorded, here or in a frame above.
    handled_when_recorded: RefCell<HashSet<CallSlot>>,
}

impl PendingFailures {
    pub(super) fn add_call(&self, slot: CallSlot) {
        self.calls.borrow_mut().push(slot);
    }

    /// Adds the failure of a frame that was opened in this one.
    pub(super) fn add_frame(&self, path: FramePath) {
        self.frames.borrow_mut().push(path);
    }

    /// Marks all of them as handled. `path`: that of this frame.
    pub(super) fn mark_handled(&self, run: &RefCell<Run>, path: &FramePath) {
        let calls = self.calls.take();
        let frames = self.frames.take();
        if calls.is_empty() && frames.is_empty() {
            return;
        }
        let mut run = run.borrow_mut();
        for slot in calls {
            run.mark_handled(path, slot);
        }
        for path in frames {
            run.mark_frame_handled(&path);
        }
    }

    pub(super) fn note_handled_when_recorded(&self, slot: Option<CallSlot>) {
        self.handled_when_recorded.borrow_mut().extend(slot);
    }

    pub(super) fn was_handled_when_recorded(&self, slot: CallSlot) -> bool {
        self.handled_when_recorded.borrow().contains(&slot)
    }

    /// Notes that a replayed call is executed again: its recorded failure no longer counts.
    pub(super) fn forget_recorded(&self, slot: CallSlot) {
        self.handled_when_recorded.borrow_mut().remove(&slot);
    }

    /// Forgets all of them: those of an earlier generation do not concern the next one.
    pub(super) fn clear(&self) {
        self.calls.take();
        self.frames.take();
        self.handled_when_recorded.take();
    }
}
