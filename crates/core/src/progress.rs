//! How far a replay has come in the recorded order of starts and ends.

use crate::frame::Frame;

/// The recorded places, and which of them the replay has reached.
#[derive(Debug)]
pub struct Progress {
    /// In ascending order.
    places: Vec<u64>,
    reached: Vec<bool>,
    /// Position of the first place that was not reached.
    first_open: usize,
}

impl Progress {
    /// Over a recorded tree. Costs one pass over its calls.
    #[must_use]
    pub fn new(root: &Frame) -> Self {
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
    pub fn reach(&mut self, place: u64) -> bool {
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
