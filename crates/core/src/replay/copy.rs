//! Copies of a recorded tree with new orders of starts and ends.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::json::JsonStr;
use crate::model::{Call, Flag, Flags, Frame, Renumbering};
use crate::retry_rule::{Ancestor, Mark, call_was_handled, frame_was_handled};

/// A recorded frame on the path from the root.
#[derive(Clone)]
pub(super) struct RecordedAncestor<'a> {
    frame: &'a Frame,
    flags: Flags,
    last_start: Rc<OnceCell<Option<u64>>>,
}

impl<'a> RecordedAncestor<'a> {
    pub(super) fn new(frame: &'a Frame, flags: Flags) -> Self {
        Self {
            frame,
            flags,
            last_start: Rc::default(),
        }
    }
}

impl Ancestor for &RecordedAncestor<'_> {
    fn frame(&self) -> &Frame {
        self.frame
    }

    fn last_start(&self) -> Option<u64> {
        if self.flags.has(Flag::SeenFailures) {
            return None;
        }
        let find = || self.frame.generation.last_start();
        *self.last_start.get_or_init(find)
    }
}

/// A new callId for a frame. The callIds under it start with its own, so they change with it.
#[derive(Clone, Copy)]
pub(super) struct Renamed<'a> {
    pub from: &'a JsonStr,
    pub to: &'a JsonStr,
}

impl Renamed<'_> {
    /// A call under the frame, with its new callIds.
    fn call(self, mut call: Call) -> Call {
        call.call_id = self.rename(&call.call_id);
        call.within = call.within.map(|outer| self.rename(&outer));
        call
    }

    /// The frame, or one under it, with its new callIds.
    fn frame(self, mut frame: Frame) -> Frame {
        frame.call_id = self.rename(&frame.call_id);
        frame.within = frame.within.map(|outer| self.rename(&outer));
        frame
    }

    /// The new callId of the frame, or of a call or frame under it.
    fn rename(self, call_id: &JsonStr) -> JsonStr {
        match call_id.body().strip_prefix(self.from.body()) {
            Some(rest) if self.from != self.to => {
                JsonStr::from_normalized_body(&format!("{}{rest}", self.to.body()))
            }
            _ => call_id.clone(),
        }
    }
}

/// A copy of a call that is carried over. If its failure was handled, the copy is marked as handled: a dump keeps only
/// a part of the calls that came after it, so the order no longer shows that. `ancestors`: the recorded frames from the root
/// to its own.
pub(super) fn carried_over_call(
    call: &Call,
    orders: &Renumbering,
    ancestors: &[RecordedAncestor<'_>],
) -> Call {
    let mut copy = renumbered_call(call, orders);
    if call_was_handled(call, ancestors.iter().rev()) {
        Mark::Handled.set_in(&mut copy.outcome);
    }
    copy
}

/// A copy of a frame that is carried over, marked like the calls of [`carried_over_call`]. `above`: the recorded
/// frames from the root to its parent.
pub(super) fn carried_over_frame(
    frame: &Frame,
    orders: &Renumbering,
    above: &[RecordedAncestor<'_>],
    renamed: Renamed<'_>,
) -> Frame {
    copy_tree(frame, above.to_vec(), &|frame, path| {
        let mut copy = renamed.frame(renumbered_frame(frame, orders, |call| {
            renamed.call(carried_over_call(call, orders, path))
        }));
        if let [above @ .., _] = path {
            copy.handled = frame_was_handled(frame, above.iter().rev());
        }
        copy
    })
}

/// A copy of the frame under another callId.
pub(super) fn renamed(frame: &Frame, renamed: Renamed<'_>) -> Frame {
    let within = frame.within.clone();
    let copy = copy_tree(frame, Vec::new(), &|frame, _| {
        let mut copy = frame.clone();
        let calls = frame.generation.calls.iter();
        let calls = calls.map(|call| Arc::new(renamed.call(Call::clone(call))));
        copy.generation.calls = calls.collect();
        renamed.frame(copy)
    });
    Frame { within, ..copy }
}

/// A copy of the frame and everything under it with new orders.
pub(crate) fn renumbered(frame: &Frame, orders: &Renumbering) -> Frame {
    copy_tree(frame, Vec::new(), &|frame, _| {
        renumbered_frame(frame, orders, |call| renumbered_call(call, orders))
    })
}

/// The tree without its links to the frames that it has replayed. The links are no longer needed, and they keep those
/// frames in memory.
pub(crate) fn without_recorded_link(frame: &Arc<Frame>) -> Arc<Frame> {
    if frame.recorded.is_none() {
        return Arc::clone(frame);
    }
    Arc::new(copy_tree(frame, Vec::new(), &|frame, _| Frame {
        recorded: None,
        ..frame.clone()
    }))
}

/// The orders of all calls and frames under a frame, except those of earlier generations.
pub(crate) fn inner_orders(frame: &Frame) -> Vec<u64> {
    let mut orders = Vec::new();
    add_inner_orders(frame, &mut orders);
    orders
}

pub(super) fn add_inner_orders(frame: &Frame, orders: &mut Vec<u64>) {
    let mut frames = vec![frame];
    while let Some(frame) = frames.pop() {
        for call in &frame.generation.calls {
            add_orders_of_call(call, orders);
        }
        for child in &frame.generation.children {
            orders.extend(child.start);
            orders.extend(child.end);
            frames.push(child);
        }
    }
}

pub(super) fn add_orders_of_call(call: &Call, orders: &mut Vec<u64>) {
    orders.push(call.start);
    orders.extend(call.answered);
    orders.extend(call.end);
}

pub(crate) fn renumbered_call(call: &Call, orders: &Renumbering) -> Call {
    Call {
        start: orders.of(call.start),
        answered: call.answered.map(|order| orders.of(order)),
        end: call.end.map(|order| orders.of(order)),
        ..call.clone()
    }
}

/// The frame with new orders, its calls copied by `copy_call`, and its children as they are.
fn renumbered_frame(
    frame: &Frame,
    orders: &Renumbering,
    copy_call: impl Fn(&Call) -> Call,
) -> Frame {
    let mut copy = frame.clone();
    copy.start = copy.start.map(|order| orders.of(order));
    copy.end = copy.end.map(|order| orders.of(order));
    let calls = frame.generation.calls.iter();
    copy.generation.calls = calls.map(|call| Arc::new(copy_call(call))).collect();
    copy
}

/// Copies a tree frame by frame. `copy_frame` gets a frame, and the frames from the root to it, starting with those
/// `above` the tree.
fn copy_tree<'a>(
    root: &'a Frame,
    above: Vec<RecordedAncestor<'a>>,
    copy_frame: &impl Fn(&Frame, &[RecordedAncestor<'a>]) -> Frame,
) -> Frame {
    let mut path = above;
    let flags = path.last().map_or(Flags::NONE, |above| above.flags);
    path.push(RecordedAncestor::new(root, flags));
    let mut copy = copy_frame(root, &path);
    // The copies above the last one, each with its own position and that of its next child.
    let mut open: Vec<(Frame, usize, usize)> = Vec::new();
    let (mut position, mut next) = (0, 0);
    while let Some(last) = path.last() {
        if let Some(child) = last.frame.generation.children.get(next) {
            path.push(RecordedAncestor::new(child, flags));
            let child = copy_frame(child, &path);
            open.push((std::mem::replace(&mut copy, child), position, next + 1));
            (position, next) = (next, 0);
            continue;
        }
        path.pop();
        let Some((mut parent, above, following)) = open.pop() else {
            break;
        };
        parent.generation.children.set_mut(position, Arc::new(copy));
        copy = parent;
        (position, next) = (above, following);
    }
    copy
}
