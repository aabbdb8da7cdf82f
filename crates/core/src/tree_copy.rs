//! Copies of a recorded tree for another place in the order of starts and ends.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::failed::{Failed, Level};
use crate::frame::{Frame, State};
use crate::journal::{Call, Outcome};

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

impl Call {
    fn moved_by(&self, by: u64) -> Self {
        Self {
            start: self.start.saturating_add(by),
            end: self.end.map(|end| end.saturating_add(by)),
            ..self.clone()
        }
    }

    /// Moved on, with the mark that its failure was handled: where only a part is left of what came after
    /// it, the order of places no longer tells. `levels`: the recorded frames from the root to its own.
    pub(crate) fn taken_over(&self, by: u64, levels: &[Recorded<'_>]) -> Self {
        let mut call = self.moved_by(by);
        let failed = Failed::call(self);
        let was_handled = failed.is_some_and(|failed| !failed.ended_the_run(levels.iter().rev()));
        if let Outcome::Failure { handled, .. } = &mut call.outcome {
            *handled |= was_handled;
        }
        call
    }
}

impl Frame {
    /// The frame and all under it with their places moved on, those of earlier generations aside.
    #[must_use]
    pub(crate) fn moved_by(&self, by: u64) -> Self {
        if by == 0 {
            return self.clone();
        }
        let alone =
            |frame: &Self, _: &[Recorded<'_>]| frame.alone_moved_by(by, |call| call.moved_by(by));
        self.copied(Vec::new(), &alone)
    }

    /// Moved on, with the marks that failures were handled. `above`: the recorded frames from the root to
    /// the one that it is a child of.
    pub(crate) fn taken_over(&self, by: u64, above: &[Recorded<'_>]) -> Self {
        let alone = |frame: &Self, levels: &[Recorded<'_>]| {
            let mut copy = frame.alone_moved_by(by, |call| call.taken_over(by, levels));
            if let [above @ .., _] = levels
                && matches!(frame.state, State::Failed(_))
            {
                copy.handled |= !Failed::frame(frame).ended_the_run(above.iter().rev());
            }
            copy
        };
        self.copied(above.to_vec(), &alone)
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

    fn alone_moved_by(&self, by: u64, call: impl Fn(&Call) -> Call) -> Self {
        let move_on = |place: u64| place.saturating_add(by);
        let mut frame = self.clone();
        frame.start = frame.start.map(move_on);
        frame.end = frame.end.map(move_on);
        let calls = self.generation.calls.iter();
        frame.generation.calls = calls.map(|each| Arc::new(call(each))).collect();
        frame
    }
}
