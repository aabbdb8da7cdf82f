//! A dump in the middle of a replay: what the run has not reached yet of its recording stays recorded,
//! so that a run that is resumed and fails early loses nothing.

use std::collections::HashSet;
use std::sync::Arc;

use crate::frame::{Frame, State};
use crate::journal::Call;
use crate::json::JsonStr;
use crate::sort::sort_by_number;

impl Frame {
    /// This frame with the recorded calls and sub-agents that it has not reached; `None` where there
    /// are none. A frame that completed had asked for all that it needed.
    #[must_use]
    pub fn with_unreached(&self) -> Option<Self> {
        let recorded = &self.continues.as_ref()?.generation;
        if matches!(self.state, State::Completed(_)) {
            return None;
        }
        let live = &self.generation;
        let taken: HashSet<usize> = live.calls.iter().filter_map(|call| call.taken).collect();
        let mut calls: Vec<Arc<Call>> = live.calls.iter().map(Arc::clone).collect();
        for (position, call) in recorded.calls.iter().enumerate() {
            // Those too that were in flight: the others would move up in the order of occurrences.
            if !taken.contains(&position) {
                calls.push(Arc::clone(call));
            }
        }
        // Replayed calls have the places that they were recorded with, so the order goes on.
        sort_by_number(&mut calls, |call| call.start);

        let taken: HashSet<usize> = live
            .children
            .iter()
            .filter_map(|child| child.taken)
            .collect();
        let mut names: HashSet<JsonStr> = live
            .children
            .iter()
            .map(|child| child.call_id.clone())
            .collect();
        let mut children = live.children.clone();
        for (position, child) in recorded.children.iter().enumerate() {
            if taken.contains(&position) {
                continue;
            }
            let call_id = free_name(&child.call_id, &names);
            names.insert(call_id.clone());
            if call_id == child.call_id {
                children.push_back_mut(Arc::clone(child));
            } else {
                children.push_back_mut(Arc::new(Self {
                    call_id,
                    ..Self::clone(child)
                }));
            }
        }
        let mut frame = Self {
            continues: None,
            ..self.clone()
        };
        frame.generation.calls = calls.into_iter().collect();
        frame.generation.children = children;
        frame.generation.rows = recorded.rows.clone();
        Some(frame)
    }

    /// The tree with what was not reached in all frames that have not completed; `None` where nothing
    /// is added.
    #[must_use]
    pub fn settled(&self) -> Option<Self> {
        let mut open = vec![Settling::new(self, 0)];
        loop {
            let top = open.last_mut()?;
            if let Some((position, child)) = top.next_unfinished() {
                open.push(Settling::new(child, position));
                continue;
            }
            let done = open.pop()?;
            let position = done.position;
            let settled = done.finish();
            match (open.last_mut(), settled) {
                (None, settled) => return settled,
                (Some(parent), Some(child)) => parent.settled.push((position, Arc::new(child))),
                (Some(_), None) => {}
            }
        }
    }

    /// The first place that comes after all starts and ends in the tree.
    #[must_use]
    pub fn next_place(&self) -> u64 {
        let mut next = 0;
        let mut frames = vec![self];
        while let Some(frame) = frames.pop() {
            let generations = frame
                .earlier
                .iter()
                .map(AsRef::as_ref)
                .chain([&frame.generation]);
            for generation in generations {
                for call in &generation.calls {
                    next = next.max(call.end.unwrap_or(call.start).saturating_add(1));
                }
                for child in &generation.children {
                    let place = child.end.or(child.start).unwrap_or(0);
                    next = next.max(place.saturating_add(1));
                    frames.push(child);
                }
            }
        }
        next
    }
}

/// A frame that is being settled, its children before itself.
struct Settling<'a> {
    frame: &'a Frame,
    /// Which child of its parent it is.
    position: usize,
    next_child: usize,
    settled: Vec<(usize, Arc<Frame>)>,
}

impl<'a> Settling<'a> {
    fn new(frame: &'a Frame, position: usize) -> Self {
        Self {
            frame,
            position,
            next_child: 0,
            settled: Vec::new(),
        }
    }

    /// The next child that has not completed. What is under a completed frame has nothing to add.
    fn next_unfinished(&mut self) -> Option<(usize, &'a Frame)> {
        if matches!(self.frame.state, State::Completed(_)) {
            return None;
        }
        let children = &self.frame.generation.children;
        while let Some(child) = children.get(self.next_child) {
            let position = self.next_child;
            self.next_child += 1;
            if !matches!(child.state, State::Completed(_)) {
                return Some((position, child));
            }
        }
        None
    }

    fn finish(self) -> Option<Frame> {
        let mut settled = self.frame.with_unreached();
        for (position, child) in self.settled {
            let frame = settled.get_or_insert_with(|| self.frame.clone());
            // The frame's own children come first in the settled one too.
            frame.generation.children.set_mut(position, child);
        }
        settled
    }
}

/// The callId, or the next one of its kind that no other child has.
fn free_name(call_id: &JsonStr, names: &HashSet<JsonStr>) -> JsonStr {
    if !names.contains(call_id) {
        return call_id.clone();
    }
    let body = call_id.body();
    let stem = body.rsplit_once(':').map_or(body, |(stem, _)| stem);
    // One of so many must be free.
    let last = names.len() * 2;
    (names.len()..=last)
        .map(|seq| JsonStr::from_normalized_body(&format!("{stem}:{seq}")))
        .find(|name| !names.contains(name))
        .unwrap_or_else(|| call_id.clone())
}
