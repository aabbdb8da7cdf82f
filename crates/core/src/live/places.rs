//! Where a run stands in the order of its recording.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::frame::Frame;
use crate::progress::Progress;

#[derive(Debug)]
pub(super) struct Places {
    recording: Option<Arc<Frame>>,
    /// Over the recording, from the first release on.
    progress: RefCell<Option<Progress>>,
    /// Recorded ends of what has started again and not ended yet.
    open_ends: RefCell<BTreeSet<u64>>,
}

impl Places {
    pub(super) fn new(recording: Option<Arc<Frame>>) -> Self {
        Self {
            recording,
            progress: RefCell::new(None),
            open_ends: RefCell::new(BTreeSet::new()),
        }
    }

    pub(super) fn are_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// Something recorded has started again.
    pub(super) fn open(&self, end: Option<u64>) {
        self.open_ends.borrow_mut().extend(end);
    }

    /// It has ended again.
    pub(super) fn close(&self, end: Option<u64>) {
        if let Some(end) = end {
            self.open_ends.borrow_mut().remove(&end);
        }
    }

    /// Whether all that is open ended after `start` in the recording. While something that ended before is
    /// open, what started at `start` may still come.
    pub(super) fn has_come_to(&self, start: Option<u64>) -> bool {
        match (self.open_ends.borrow().first(), start) {
            (Some(first), Some(start)) => *first > start,
            _ => true,
        }
    }

    pub(super) fn reach(&self, place: Option<u64>) -> bool {
        let (Some(place), Some(recording)) = (place, &self.recording) else {
            return false;
        };
        self.progress
            .borrow_mut()
            .get_or_insert_with(|| Progress::new(recording))
            .reach(place)
    }
}
