//! How far a replay has come in the recorded order of starts and ends.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::Frame;

/// The recorded places, and which of them the replay has reached.
#[derive(Debug)]
struct Progress {
    /// In ascending order.
    places: Vec<u64>,
    reached: Vec<bool>,
    /// Position of the first place that was not reached.
    first_open: usize,
}

impl Progress {
    /// Over a recorded tree. Costs one pass over its calls.
    fn new(root: &Frame) -> Self {
        let mut places = Vec::new();
        let mut frames = vec![root];
        while let Some(frame) = frames.pop() {
            let generation = &frame.generation;
            for call in &generation.calls {
                places.push(call.start);
                places.extend(call.answered);
                places.extend(call.end);
            }
            for child in &generation.children {
                places.extend(child.start);
                places.extend(child.end);
                frames.push(child);
            }
        }
        places.sort_unstable();
        places.dedup();
        let reached = vec![false; places.len()];
        Self {
            places,
            reached,
            first_open: 0,
        }
    }

    /// Notes that a place was reached. `true` if an earlier one was not: this one overtook it.
    fn reach(&mut self, place: u64) -> bool {
        let Ok(position) = self.places.binary_search(&place) else {
            return false;
        };
        self.reached[position] = true;
        while self.reached.get(self.first_open) == Some(&true) {
            self.first_open += 1;
        }
        self.first_open < position
    }
}

/// Where a run stands in the order of its recording.
#[derive(Debug)]
pub(crate) struct Places {
    recording: Option<Arc<Frame>>,
    /// Over the recording, from the first release on.
    progress: RefCell<Option<Progress>>,
    /// Recorded ends of what has started again and not ended yet.
    open_ends: RefCell<BTreeSet<u64>>,
}

impl Places {
    pub(crate) fn new(recording: Option<Arc<Frame>>) -> Self {
        Self {
            recording,
            progress: RefCell::new(None),
            open_ends: RefCell::new(BTreeSet::new()),
        }
    }

    pub(crate) fn are_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// Something recorded has started again.
    pub(crate) fn open(&self, end: Option<u64>) {
        self.open_ends.borrow_mut().extend(end);
    }

    /// It has ended again.
    pub(crate) fn close(&self, end: Option<u64>) {
        if let Some(end) = end {
            self.open_ends.borrow_mut().remove(&end);
        }
    }

    /// Whether all that is open ended after `start` in the recording. While something that ended before is
    /// open, what started at `start` may still come.
    pub(crate) fn has_come_to(&self, start: Option<u64>) -> bool {
        match (self.open_ends.borrow().first(), start) {
            (Some(first), Some(start)) => *first > start,
            _ => true,
        }
    }

    pub(crate) fn reach(&self, place: Option<u64>) -> bool {
        let (Some(place), Some(recording)) = (place, &self.recording) else {
            return false;
        };
        self.progress
            .borrow_mut()
            .get_or_insert_with(|| Progress::new(recording))
            .reach(place)
    }
}
