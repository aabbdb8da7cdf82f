//! A dump in the middle of a replay: what the run has not reached yet of its recording stays recorded,
//! so that a run that is resumed and fails early loses nothing. Its places come after all that has happened.

use std::collections::HashSet;
use std::sync::Arc;

use super::copy::{Recorded, Renamed};
use crate::json::JsonStr;
use crate::model::{Call, Clock, Course, Frame, Generation, Outcome, Places, State};

/// What a frame has not reached of the generation that it replays.
struct Unreached<'a> {
    recorded: &'a Generation,
    calls: Vec<usize>,
    children: Vec<usize>,
    /// Replayed calls whose end has not come.
    pending: Vec<Pending>,
}

/// A replayed call whose end has not come.
struct Pending {
    /// Which call of the live frame it is.
    position: usize,
    /// The recorded place of its answer, if that has not come either.
    answered: Option<u64>,
    /// That of its end.
    end: u64,
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
        Some(Self {
            recorded,
            // Those too that were in flight: the others would move up in the order of occurrences.
            calls: others(recorded.calls.len(), calls.collect()),
            children: others(recorded.children.len(), children.collect()),
            pending: pending(live, recorded),
        })
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

    /// Adds the recorded places of all that is not reached.
    fn add_places(&self, places: &mut Vec<u64>) {
        for call in self.calls() {
            places.push(call.start);
            places.extend(call.answered);
            places.extend(call.end);
        }
        for child in self.children() {
            places.extend(child.start);
            places.extend(child.end);
            places.extend(child.inner_places());
        }
        for pending in &self.pending {
            places.extend(pending.answered);
            places.push(pending.end);
        }
    }
}

fn others(count: usize, taken: HashSet<usize>) -> Vec<usize> {
    (0..count)
        .filter(|position| !taken.contains(position))
        .collect()
}

fn pending(live: &Generation, recorded: &Generation) -> Vec<Pending> {
    let calls = live.calls.iter().enumerate();
    calls
        .filter(|(_, call)| call.end.is_none() && call.outcome != Outcome::Pending)
        .filter_map(|(position, call)| {
            let recorded = recorded.calls.get(call.taken?)?;
            Some(Pending {
                position,
                answered: recorded.answered.filter(|_| call.answered.is_none()),
                end: recorded.end?,
            })
        })
        .collect()
}

/// Where a frame had ended that runs again, if it has not done otherwise than recorded so far.
fn recorded_end(frame: &Frame) -> Option<u64> {
    let is_open = frame.end.is_none() && !matches!(frame.state, State::Completed(_));
    let as_recorded = is_open && frame.course == Course::AsRecorded;
    frame.continues.as_ref()?.end.filter(|_| as_recorded)
}

impl Frame {
    /// The tree by itself: with what was not reached in frames that have not completed, and without its ties
    /// to the recording. `None` where it has none. `clock`: how far the run has come.
    #[must_use]
    pub fn settled(&self, clock: Clock) -> Option<Self> {
        let mut recorded = Vec::new();
        self.add_unreached_places(&mut recorded);
        // After all that has happened.
        let places = Places::new(recorded, clock.next);
        Settling::new(self, 0, Kept::Unreached).map(|root| root.run(&places))
    }

    /// The tree by itself, with what was reached alone: as if all of it had been made.
    #[must_use]
    pub fn reached(&self, clock: Clock) -> Option<Self> {
        let places = Places::new(Vec::new(), clock.next);
        Settling::new(self, 0, Kept::Reached).map(|root| root.run(&places))
    }

    fn add_unreached_places(&self, places: &mut Vec<u64>) {
        let mut open: Vec<_> = Settling::new(self, 0, Kept::Unreached)
            .into_iter()
            .collect();
        while let Some(top) = open.last_mut() {
            if let Some(child) = top.next_child() {
                open.push(child);
                continue;
            }
            if top.kept == Kept::Unreached
                && let Some(unreached) = Unreached::of(top.frame)
            {
                unreached.add_places(places);
                places.extend(recorded_end(top.frame));
            }
            open.pop();
        }
    }

    /// `levels`: the recorded frames from the root to the one that it replays.
    fn with_unreached(&self, places: &Places, levels: &[Recorded<'_>]) -> Self {
        let mut frame = Self {
            continues: None,
            ..self.clone()
        };
        let Some(unreached) = Unreached::of(self) else {
            return frame;
        };
        // The order of ends goes on as it was recorded, so that a race between agents does too. The run itself
        // is in none.
        if levels.len() > 1 {
            let recorded = recorded_end(self).map(|end| places.of(end));
            frame.end = frame.end.or(recorded);
        }
        let generation = &mut frame.generation;
        for pending in &unreached.pending {
            if let Some(call) = generation.calls.get_mut(pending.position) {
                let call = Arc::make_mut(call);
                call.answered = call
                    .answered
                    .or(pending.answered.map(|place| places.of(place)));
                call.end = Some(places.of(pending.end));
            }
        }
        let calls = generation.calls.iter();
        let mut names: HashSet<JsonStr> = calls.map(|call| call.call_id.clone()).collect();
        for call in unreached.calls() {
            let call_id = free_name(&call.call_id, &names);
            names.insert(call_id.clone());
            generation.calls.push_back_mut(Arc::new(Call {
                call_id,
                unreached: true,
                ..call.taken_over(places, levels)
            }));
        }
        let children = generation.children.iter();
        let mut names: HashSet<JsonStr> = children.map(|child| child.call_id.clone()).collect();
        for child in unreached.children() {
            let from = &child.call_id;
            let to = &free_name(from, &names);
            names.insert(to.clone());
            let mut child = child.taken_over(places, levels, Renamed { from, to });
            child.course = Course::Unreached;
            generation.children.push_back_mut(Arc::new(child));
        }
        generation.rows = unreached.recorded.rows.clone();
        frame
    }
}

/// What a frame keeps of the recording that it replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// What it has not reached.
    Unreached,
    /// Nothing, since one above it has completed.
    Nothing,
    /// Nothing, nor what it has taken and not given yet.
    Reached,
}

/// A frame that replays one and is being settled, its children before itself.
struct Settling<'a> {
    frame: &'a Frame,
    recorded: &'a Frame,
    /// Which child of its parent it is.
    position: usize,
    kept: Kept,
    next_child: usize,
    settled: Vec<(usize, Arc<Frame>)>,
}

impl<'a> Settling<'a> {
    /// `None` for a frame that replays none: then none under it does.
    fn new(frame: &'a Frame, position: usize, kept: Kept) -> Option<Self> {
        Some(Self {
            frame,
            recorded: frame.continues.as_ref()?,
            position,
            kept,
            next_child: 0,
            settled: Vec::new(),
        })
    }

    fn level(&self) -> Recorded<'a> {
        Recorded::new(self.recorded)
    }

    /// Settles the frame and all under it.
    fn run(self, places: &Places) -> Frame {
        let mut levels = vec![self.level()];
        let mut open: Vec<Self> = Vec::new();
        let mut top = self;
        loop {
            if let Some(child) = top.next_child() {
                levels.push(child.level());
                open.push(std::mem::replace(&mut top, child));
                continue;
            }
            let position = top.position;
            let settled = top.finish(places, &levels);
            levels.pop();
            match open.pop() {
                Some(mut parent) => {
                    parent.settled.push((position, Arc::new(settled)));
                    top = parent;
                }
                None => return settled,
            }
        }
    }

    fn next_child(&mut self) -> Option<Self> {
        let kept = match self.frame.state {
            State::Completed(_) if self.kept == Kept::Unreached => Kept::Nothing,
            _ => self.kept,
        };
        let children = &self.frame.generation.children;
        while let Some(child) = children.get(self.next_child) {
            let position = self.next_child;
            self.next_child += 1;
            if let Some(settling) = Self::new(child, position, kept) {
                return Some(settling);
            }
        }
        None
    }

    fn finish(self, places: &Places, levels: &[Recorded<'_>]) -> Frame {
        let alone = || Frame {
            continues: None,
            ..self.frame.clone()
        };
        let mut frame = match self.kept {
            Kept::Unreached => self.frame.with_unreached(places, levels),
            Kept::Nothing => alone(),
            Kept::Reached => {
                let mut frame = alone();
                frame.generation.take_back_pending();
                frame
            }
        };
        for (position, child) in self.settled {
            // The frame's own children come first in the settled one too.
            frame.generation.children.set_mut(position, child);
        }
        frame
    }
}

impl Generation {
    /// Replayed calls whose answers are not given yet are in flight.
    fn take_back_pending(&mut self) {
        for position in 0..self.calls.len() {
            let is_pending = |call: &Arc<Call>| {
                call.end.is_none() && call.answered.is_none() && call.outcome != Outcome::Pending
            };
            if self.calls.get(position).is_some_and(is_pending)
                && let Some(call) = self.calls.get_mut(position)
            {
                Arc::make_mut(call).outcome = Outcome::Pending;
            }
        }
    }
}

/// The callId, or the next one of its kind that is not taken.
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
