//! A dump in the middle of a replay: what the run has not reached yet of its recording stays recorded,
//! so that a run that is resumed and fails early loses nothing. Its places come after all that has happened.

use std::collections::HashSet;
use std::sync::Arc;

use crate::clock::Clock;
use crate::frame::{Frame, Generation, State};
use crate::journal::{Call, Outcome};
use crate::json::JsonStr;
use crate::tree_copy::Recorded;

/// What a frame has not reached of the generation that it replays.
struct Unreached<'a> {
    recorded: &'a Generation,
    calls: Vec<usize>,
    children: Vec<usize>,
    /// Replayed calls whose end has not come: their position, and the place of their recorded end.
    pending: Vec<(usize, u64)>,
}

impl<'a> Unreached<'a> {
    /// `None` where the frame replays nothing, or has completed: then it had asked for all that it needed.
    fn of(frame: &'a Frame) -> Option<Self> {
        let recorded = &frame.continues.as_ref()?.generation;
        if matches!(frame.state, State::Completed(_)) {
            return None;
        }
        let live = &frame.generation;
        let calls = live.calls.iter().filter_map(|call| call.taken);
        let children = live.children.iter().filter_map(|child| child.taken);
        let unreached = Self {
            recorded,
            // Those too that were in flight: the others would move up in the order of occurrences.
            calls: others(recorded.calls.len(), calls.collect()),
            children: others(recorded.children.len(), children.collect()),
            pending: pending(live, recorded),
        };
        let is_empty = unreached.calls.is_empty()
            && unreached.children.is_empty()
            && unreached.pending.is_empty()
            && recorded.rows.is_empty();
        (!is_empty).then_some(unreached)
    }

    fn calls(&self) -> impl Iterator<Item = &'a Arc<Call>> {
        let calls = &self.recorded.calls;
        self.calls
            .iter()
            .filter_map(|position| calls.get(*position))
    }

    fn children(&self) -> impl Iterator<Item = &'a Arc<Frame>> {
        let children = &self.recorded.children;
        self.children
            .iter()
            .filter_map(|position| children.get(*position))
    }

    fn first_place(&self) -> Option<u64> {
        let calls = self.calls().map(|call| call.start);
        let children = self.children().filter_map(|child| child.start);
        let pending = self.pending.iter().map(|(_, end)| *end);
        calls.chain(children).chain(pending).min()
    }
}

fn others(count: usize, taken: HashSet<usize>) -> Vec<usize> {
    (0..count)
        .filter(|position| !taken.contains(position))
        .collect()
}

fn pending(live: &Generation, recorded: &Generation) -> Vec<(usize, u64)> {
    let calls = live.calls.iter().enumerate();
    calls
        .filter(|(_, call)| call.end.is_none() && call.outcome != Outcome::Pending)
        .filter_map(|(position, call)| {
            let end = recorded.calls.get(call.taken?)?.end?;
            Some((position, end))
        })
        .collect()
}

impl Frame {
    /// With the recorded calls and sub-agents that it has not reached, moved on; `None` where there are
    /// none. `levels`: the recorded frames from the root to the one that it replays.
    fn with_unreached(&self, by: u64, levels: &[Recorded<'_>]) -> Option<Self> {
        let unreached = Unreached::of(self)?;
        let mut frame = Self {
            continues: None,
            ..self.clone()
        };
        let generation = &mut frame.generation;
        for (position, end) in &unreached.pending {
            if let Some(call) = generation.calls.get_mut(*position) {
                Arc::make_mut(call).end = Some(end.saturating_add(by));
            }
        }
        for call in unreached.calls() {
            let mut call = call.taken_over(by, levels);
            call.unreached = true;
            generation.calls.push_back_mut(Arc::new(call));
        }
        let names = generation.children.iter();
        let mut names: HashSet<JsonStr> = names.map(|child| child.call_id.clone()).collect();
        for child in unreached.children() {
            let mut child = child.taken_over(by, levels);
            child.unreached = true;
            child.call_id = free_name(&child.call_id, &names);
            names.insert(child.call_id.clone());
            generation.children.push_back_mut(Arc::new(child));
        }
        generation.rows = unreached.recorded.rows.clone();
        Some(frame)
    }

    /// The tree with what was not reached in all frames that have not completed; `None` where nothing
    /// is added. `clock`: how far the run has come.
    #[must_use]
    pub fn settled(&self, clock: Clock) -> Option<Self> {
        // Only under a frame that replays one are there others.
        let recorded = self.continues.as_ref()?;
        let first = self.first_unreached()?;
        // After all that has happened. In a run that follows its recording they are so without more.
        let by = clock.moved.max(clock.next.saturating_sub(first));
        let mut levels = vec![Recorded::new(recorded)];
        let mut open = vec![Settling::new(self, 0)];
        loop {
            let top = open.last_mut()?;
            if let Some((position, child, recorded)) = top.next_unfinished() {
                open.push(Settling::new(child, position));
                levels.push(Recorded::new(recorded));
                continue;
            }
            let done = open.pop()?;
            let position = done.position;
            let settled = done.finish(by, &levels);
            levels.pop();
            match (open.last_mut(), settled) {
                (None, settled) => return settled,
                (Some(parent), Some(child)) => parent.settled.push((position, Arc::new(child))),
                (Some(_), None) => {}
            }
        }
    }

    /// The first recorded place of what was not reached; `None` where all was. What has no place counts as
    /// the last.
    fn first_unreached(&self) -> Option<u64> {
        let mut first = None;
        let mut open = vec![Settling::new(self, 0)];
        while let Some(mut top) = open.pop() {
            if let Some((position, child, _)) = top.next_unfinished() {
                open.push(top);
                open.push(Settling::new(child, position));
            } else if let Some(unreached) = Unreached::of(top.frame) {
                let place = unreached.first_place().unwrap_or(u64::MAX);
                first = Some(first.map_or(place, |known: u64| known.min(place)));
            }
        }
        first
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

    /// The next child that replays a frame and has not completed, and that frame. What is under a completed
    /// frame has nothing to add.
    fn next_unfinished(&mut self) -> Option<(usize, &'a Frame, &'a Frame)> {
        if matches!(self.frame.state, State::Completed(_)) {
            return None;
        }
        let children = &self.frame.generation.children;
        while let Some(child) = children.get(self.next_child) {
            let position = self.next_child;
            self.next_child += 1;
            if let Some(recorded) = &child.continues
                && !matches!(child.state, State::Completed(_))
            {
                return Some((position, child, recorded));
            }
        }
        None
    }

    fn finish(self, by: u64, levels: &[Recorded<'_>]) -> Option<Frame> {
        let mut settled = self.frame.with_unreached(by, levels);
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
