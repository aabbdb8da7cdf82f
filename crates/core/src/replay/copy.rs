//! Copies of a recorded tree for another place in the order of starts and ends.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::retry_rule::{Failed, Level};
use crate::json::JsonStr;
use crate::model::{Call, Frame, Outcome, Places, State};

/// A recorded frame on the way from the root.
#[derive(Clone)]
pub(crate) struct Recorded<'a> {
    frame: &'a Frame,
    last_start: Rc<OnceCell<Option<u64>>>,
}

impl<'a> Recorded<'a> {
    pub(crate) fn new(frame: &'a Frame) -> Self {
        Self {
            frame,
            last_start: Rc::default(),
        }
    }
}

impl Level for &Recorded<'_> {
    fn frame(&self) -> &Frame {
        self.frame
    }

    fn last_start(&self) -> Option<u64> {
        let find = || self.frame.generation.last_start();
        *self.last_start.get_or_init(find)
    }
}

/// A frame that gets another callId, and with it all that stands under it.
#[derive(Clone, Copy)]
pub(crate) struct Renamed<'a> {
    pub from: &'a JsonStr,
    pub to: &'a JsonStr,
}

impl Renamed<'_> {
    /// The callId of what stands under the frame.
    fn inside(self, call_id: &JsonStr) -> JsonStr {
        match call_id.body().strip_prefix(self.from.body()) {
            Some(rest) if self.from != self.to => {
                JsonStr::from_normalized_body(&format!("{}{rest}", self.to.body()))
            }
            _ => call_id.clone(),
        }
    }
}

impl Call {
    fn moved_to(&self, places: &Places) -> Self {
        Self {
            start: places.of(self.start),
            answered: self.answered.map(|place| places.of(place)),
            end: self.end.map(|end| places.of(end)),
            ..self.clone()
        }
    }

    /// Moved on, with the mark that its failure was handled: where only a part is left of what came after
    /// it, the order of places no longer tells. `levels`: the recorded frames from the root to its own.
    pub(crate) fn taken_over(&self, places: &Places, levels: &[Recorded<'_>]) -> Self {
        let mut call = self.moved_to(places);
        let failed = Failed::call(self);
        let was_handled = failed.is_some_and(|failed| !failed.ended_the_run(levels.iter().rev()));
        if let Outcome::Failure { handled, .. } = &mut call.outcome {
            *handled |= was_handled;
        }
        call
    }
}

impl Frame {
    /// Whether the run had gone on after this frame's failure. `above`: the frames from the root to its parent.
    pub(crate) fn was_handled(&self, above: &[Recorded<'_>]) -> bool {
        let failed = matches!(self.state, State::Failed(_));
        self.handled || failed && !Failed::frame(self).ended_the_run(above.iter().rev())
    }

    /// All places of calls and frames under this one, those of earlier generations aside.
    pub(crate) fn inner_places(&self) -> Vec<u64> {
        let mut places = Vec::new();
        let mut frames = vec![self];
        while let Some(frame) = frames.pop() {
            for call in &frame.generation.calls {
                places.push(call.start);
                places.extend(call.answered);
                places.extend(call.end);
            }
            for child in &frame.generation.children {
                places.extend(child.start);
                places.extend(child.end);
                frames.push(child);
            }
        }
        places
    }

    /// The frame and all under it at new places.
    pub(crate) fn moved_to(&self, places: &Places) -> Self {
        self.copied(Vec::new(), &|frame, _| {
            frame.alone_at(places, |call| call.moved_to(places))
        })
    }

    /// At new places, with the marks that failures were handled. `above`: the recorded frames from the root
    /// to the one that it is a child of.
    pub(crate) fn taken_over(
        &self,
        places: &Places,
        above: &[Recorded<'_>],
        renamed: Renamed<'_>,
    ) -> Self {
        self.copied(above.to_vec(), &|frame, levels| {
            let take_over = |call: &Call| {
                let call_id = renamed.inside(&call.call_id);
                Call {
                    call_id,
                    ..call.taken_over(places, levels)
                }
            };
            let mut copy = frame.alone_at(places, take_over);
            copy.call_id = renamed.inside(&frame.call_id);
            if let [above @ .., _] = levels {
                copy.handled = frame.was_handled(above);
            }
            copy
        })
    }

    /// Without its ties to the frames that it, and those under it, have replayed: nothing more of them is needed, and
    /// they are tied to those that they have replayed.
    pub(crate) fn cut_off(self: &Arc<Self>) -> Arc<Self> {
        if self.continues.is_none() {
            return Arc::clone(self);
        }
        Arc::new(self.copied(Vec::new(), &|frame, _| Self {
            continues: None,
            ..frame.clone()
        }))
    }

    /// A copy of the tree, in which `alone` has copied each frame. That is given the frames from the root to
    /// it, of which `above` are those above this one.
    fn copied<'a>(
        &'a self,
        above: Vec<Recorded<'a>>,
        alone: &impl Fn(&Self, &[Recorded<'a>]) -> Self,
    ) -> Self {
        let mut levels = above;
        levels.push(Recorded::new(self));
        let mut copy = alone(self, &levels);
        // The copies above the last one, each with its own position and that of its child that comes next.
        let mut open: Vec<(Self, usize, usize)> = Vec::new();
        let (mut position, mut next) = (0, 0);
        while let Some(level) = levels.last() {
            if let Some(child) = level.frame.generation.children.get(next) {
                levels.push(Recorded::new(child));
                let child = alone(child, &levels);
                open.push((std::mem::replace(&mut copy, child), position, next + 1));
                (position, next) = (next, 0);
                continue;
            }
            levels.pop();
            let Some((mut parent, above, following)) = open.pop() else {
                break;
            };
            parent.generation.children.set_mut(position, Arc::new(copy));
            copy = parent;
            (position, next) = (above, following);
        }
        copy
    }

    fn alone_at(&self, places: &Places, call: impl Fn(&Call) -> Call) -> Self {
        let mut frame = self.clone();
        frame.start = frame.start.map(|place| places.of(place));
        frame.end = frame.end.map(|place| places.of(place));
        let calls = self.generation.calls.iter();
        frame.generation.calls = calls.map(|each| Arc::new(call(each))).collect();
        frame
    }
}
