//! The failures that a live frame ends with or handles.

use super::LiveFrame;
use crate::json::JsonStr;
use crate::model::Flag;
use crate::record::run::{CallSlot, FramePath};
use crate::retry_rule::{Failed, Mark, Moment};

/// A call of a frame, or a sub-agent, that failed.
#[derive(Debug, Clone)]
pub(super) enum FailedAt {
    Call(CallSlot),
    Frame(FramePath),
}

impl LiveFrame {
    /// Notes that the program receives a call's failure now. `alone`: nothing else of the frame is open.
    pub fn hand_out(&self, slot: CallSlot, moment: Moment, alone: bool) {
        let failed = self.run().call(&self.path, slot).and_then(Failed::call);
        if failed.is_some_and(|failed| !failed.is_marked()) {
            self.pending.add(FailedAt::Call(slot), moment, alone);
        }
    }

    /// Notes that the program receives this frame's failure now. `alone`: nothing else of the frame above is open.
    pub fn hand_out_frame(&self, moment: Moment, alone: bool) {
        if let Some(above) = &self.pending_above
            && !self.was_handled()
        {
            above.add(FailedAt::Frame(self.path.clone()), moment, alone);
        }
    }

    /// Marks the earlier failures of this frame as handled that the program has seen if it starts something now. Returns
    /// the callIds of their calls and sub-agents. Call this before any await that precedes [`Self::begin_call`]: the
    /// recording must show the failure as handled even if the run is dumped during that await.
    pub fn continues(&self, start: &Moment) -> Vec<JsonStr> {
        // What leftover code of a failed frame starts proves nothing about the failure.
        if self.lifecycle.get().has_failed() {
            return Vec::new();
        }
        let seen = if self.flags().has(Flag::SeenFailures) {
            self.pending.take_seen(start)
        } else {
            self.pending.take_all()
        };
        self.mark_handled(seen)
    }

    /// True if a start may show that a failure was handled.
    #[must_use]
    pub fn has_pending_failures(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn mark_handled(&self, failures: Vec<FailedAt>) -> Vec<JsonStr> {
        let mut run = self.run();
        let marked = failures.into_iter().map(|failed| match failed {
            FailedAt::Call(slot) => run.mark_call(&self.path, slot, Mark::Handled),
            FailedAt::Frame(path) => run.mark_frame(&path, Mark::Handled),
        });
        marked.flatten().collect()
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
        self.run().mark_frame(&self.path, Mark::STOPPED);
    }

    /// The next dump shows this call's failure as the end of the run.
    pub fn name_call(&self, slot: CallSlot) {
        let named = (self.path.clone(), Some(slot));
        self.shared.named.borrow_mut().push(named);
    }

    /// The next dump shows this frame's failure as the end of the run.
    pub fn name_frame(&self) {
        let named = (self.path.clone(), None);
        self.shared.named.borrow_mut().push(named);
    }
}
