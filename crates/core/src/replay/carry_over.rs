//! A dump during a replay. The part of the recording that the run has not requested yet is carried over, so that a
//! resumed run that fails early loses nothing. Its orders are after all starts and ends of the run so far.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::copy::{
    RecordedAncestor, Renamed, add_inner_orders, add_orders_of_call, carried_over_call,
    carried_over_frame,
};
use super::inside::{free_name, settle};
use crate::json::JsonStr;
use crate::model::{
    Call, Clock, Divergence, Flags, Frame, Generation, Outcome, Renumbering, State,
};

/// The tree without its links to the recording. Frames that have not completed carry over the part of their recording
/// that they have not requested; completed ones only the calls that their leftover code began. `None` if there is no
/// recording. `clock`: the current clock of the run. `flags`: the rules of the recording.
#[must_use]
pub fn detached_with_carry_over(root: &Frame, clock: Clock, flags: Flags) -> Option<Frame> {
    let detaching = Detaching::new(root, 0, Keep::CarryOver)?;
    // After all starts and ends so far.
    let orders = Renumbering::new(orders_to_carry_over(root), clock.next);
    Some(detaching.run(&orders, flags))
}

/// The tree without its links to the recording, as if every call in it had been executed. `None` if there is no
/// recording.
#[must_use]
pub fn detached(root: &Frame, clock: Clock) -> Option<Frame> {
    let orders = Renumbering::new(Vec::new(), clock.next);
    Detaching::new(root, 0, Keep::Delivered).map(|root| root.run(&orders, Flags::NONE))
}

/// The recorded orders of everything that is carried over into a tree.
fn orders_to_carry_over(root: &Frame) -> Vec<u64> {
    let mut orders = Vec::new();
    let mut open: Vec<_> = Detaching::new(root, 0, Keep::CarryOver)
        .into_iter()
        .collect();
    while let Some(top) = open.last_mut() {
        if let Some(child) = top.next_child() {
            open.push(child);
            continue;
        }
        if let Some(carry_over) = CarryOver::of(top.frame, top.keep) {
            carry_over.add_orders(&mut orders);
            orders.extend(carry_over.end);
        }
        open.pop();
    }
    orders
}

/// The part of the recorded generation that a frame has not requested.
struct CarryOver<'a> {
    recorded: &'a Generation,
    /// Positions in the recorded generation.
    calls: Vec<usize>,
    children: Vec<usize>,
    /// Replayed calls whose recorded end was not reached.
    pending: Vec<Pending>,
    /// The recorded end of the frame, if it is executed again and has not diverged so far.
    end: Option<u64>,
    /// False if the frame needs nothing more than what it left running.
    is_whole: bool,
}

/// A replayed call whose recorded end was not reached.
struct Pending {
    /// Position in the live generation.
    position: usize,
    /// The recorded order of its answer, if that was not reached either.
    answered: Option<u64>,
    /// The recorded order of its end.
    end: u64,
}

impl<'a> CarryOver<'a> {
    /// `None` if the frame replays nothing.
    fn of(frame: &'a Frame, keep: Keep) -> Option<Self> {
        if keep == Keep::Delivered {
            return None;
        }
        let source = frame.recorded.as_deref()?;
        let recorded = &source.generation;
        // A frame that has completed has requested everything but the calls that leftover code of it began.
        let is_whole = keep == Keep::CarryOver && !matches!(frame.state, State::Completed(_));
        let is_late = |call: &Call| source.end.is_some_and(|end| call.start > end);
        let live = &frame.generation;
        let calls = live.calls.iter().filter_map(|call| call.replays);
        // Calls that were in flight are included: without them, the others would get lower occurrences.
        let mut calls = others(recorded.calls.len(), calls.collect());
        if !is_whole {
            calls.retain(|position| {
                recorded
                    .calls
                    .get(*position)
                    .is_some_and(|call| is_late(call))
            });
        }
        let children = live.children.iter().filter_map(|child| child.replays);
        let mut superseded = superseded(live, recorded);
        calls.retain(|position| {
            let call = recorded.calls.get(*position);
            let is_superseded =
                call.is_some_and(|call| is_inside(call.within.as_ref(), &superseded));
            if let Some(call) = call.filter(|_| is_superseded) {
                superseded.insert(&call.call_id);
            }
            !is_superseded
        });
        let mut children = if is_whole {
            others(recorded.children.len(), children.collect())
        } else {
            Vec::new()
        };
        children.retain(|position| {
            let child = recorded.children.get(*position);
            !child.is_some_and(|child| is_inside(child.within.as_ref(), &superseded))
        });
        Some(Self {
            recorded,
            calls,
            children,
            pending: pending(live, recorded),
            end: recorded_end(frame).filter(|_| is_whole),
            is_whole,
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

    /// Adds the recorded orders of everything that is carried over.
    fn add_orders(&self, orders: &mut Vec<u64>) {
        for call in self.calls() {
            add_orders_of_call(call, orders);
        }
        for child in self.children() {
            orders.extend(child.start);
            orders.extend(child.end);
            add_inner_orders(child, orders);
        }
        for pending in &self.pending {
            orders.extend(pending.answered);
            orders.push(pending.end);
        }
    }
}

fn others(count: usize, replayed: HashSet<usize>) -> Vec<usize> {
    (0..count)
        .filter(|position| !replayed.contains(position))
        .collect()
}

/// The callIds of the recorded calls that were executed again and have returned. What was recorded inside them, and was
/// not requested again, is not part of their new answer. (What was recorded inside a replayed call is not carried over:
/// it becomes part of the live frame.)
fn superseded<'a>(live: &Generation, recorded: &'a Generation) -> HashSet<&'a JsonStr> {
    if !recorded.has_inner() {
        return HashSet::new();
    }
    let has_returned = |call: &&Arc<Call>| {
        call.end.is_some() && matches!(call.outcome, Outcome::Output(_) | Outcome::Tombstone(_))
    };
    let returned = live.calls.iter().filter(has_returned);
    returned
        .filter_map(|call| Some(&recorded.calls.get(call.replays?)?.call_id))
        .collect()
}

fn is_inside(within: Option<&JsonStr>, calls: &HashSet<&JsonStr>) -> bool {
    within.is_some_and(|outer| calls.contains(outer))
}

fn pending(live: &Generation, recorded: &Generation) -> Vec<Pending> {
    let calls = live.calls.iter().enumerate();
    calls
        .filter(|(_, call)| call.end.is_none() && call.outcome != Outcome::Pending)
        .filter_map(|(position, call)| {
            let recorded = recorded.calls.get(call.replays?)?;
            Some(Pending {
                position,
                answered: recorded.answered.filter(|_| call.answered.is_none()),
                end: recorded.end?,
            })
        })
        .collect()
}

/// The recorded end of a frame that is executed again, if it has not diverged so far.
fn recorded_end(frame: &Frame) -> Option<u64> {
    let is_open = frame.end.is_none() && !matches!(frame.state, State::Completed(_));
    let is_as_recorded = is_open && frame.divergence == Divergence::None;
    frame.recorded.as_ref()?.end.filter(|_| is_as_recorded)
}

/// `ancestors`: the recorded frames from the root to the one that the frame replays.
fn with_carry_over(
    frame: &Frame,
    keep: Keep,
    orders: &Renumbering,
    ancestors: &[RecordedAncestor<'_>],
) -> Frame {
    let mut copy = without_link(frame);
    let Some(carry_over) = CarryOver::of(frame, keep) else {
        return copy;
    };
    // The frame keeps the recorded order of its end, so that a race between agents is decided as recorded. The frame of
    // the run itself has no other frame to race with.
    if ancestors.len() > 1 {
        let recorded = carry_over.end.map(|end| orders.of(end));
        copy.end = copy.end.or(recorded);
    }
    let generation = &mut copy.generation;
    for pending in &carry_over.pending {
        if let Some(call) = generation.calls.get_mut(pending.position) {
            let call = Arc::make_mut(call);
            call.answered = call
                .answered
                .or(pending.answered.map(|order| orders.of(order)));
            call.end = Some(orders.of(pending.end));
        }
    }
    // The new callIds of recorded calls, for what is inside them.
    let mut outers: HashMap<JsonStr, JsonStr> = HashMap::new();
    let has_inner = carry_over.recorded.has_inner();
    for call in generation.calls.iter().filter(|_| has_inner) {
        if let Some(recorded) = call
            .replays
            .and_then(|at| carry_over.recorded.calls.get(at))
        {
            outers.insert(recorded.call_id.clone(), call.call_id.clone());
        }
    }
    let within = |within: &Option<JsonStr>, outers: &HashMap<JsonStr, JsonStr>| {
        let outer = within.as_ref()?;
        Some(outers.get(outer).unwrap_or(outer).clone())
    };
    let calls = generation.calls.iter();
    let mut names: HashSet<JsonStr> = calls.map(|call| call.call_id.clone()).collect();
    for call in carry_over.calls() {
        let call_id = free_name(&call.call_id, &names);
        names.insert(call_id.clone());
        if has_inner {
            outers.insert(call.call_id.clone(), call_id.clone());
        }
        generation.calls.push_back_mut(Arc::new(Call {
            call_id,
            within: within(&call.within, &outers),
            carried_over: true,
            ..carried_over_call(call, orders, ancestors)
        }));
    }
    let children = generation.children.iter();
    let mut names: HashSet<JsonStr> = children.map(|child| child.call_id.clone()).collect();
    for child in carry_over.children() {
        let from = &child.call_id;
        let to = &free_name(from, &names);
        names.insert(to.clone());
        let outer = within(&child.within, &outers);
        let mut child = carried_over_frame(child, orders, ancestors, Renamed { from, to });
        child.within = outer;
        child.divergence = Divergence::NotReplayedYet;
        generation.children.push_back_mut(Arc::new(child));
    }
    if carry_over.is_whole {
        generation.rows = carry_over.recorded.rows.clone();
    }
    copy
}

fn without_link(frame: &Frame) -> Frame {
    Frame {
        recorded: None,
        ..frame.clone()
    }
}

/// The part of its recording that a detached frame keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// The part that it has not requested.
    CarryOver,
    /// Only the calls that leftover code began or left running, because a frame above it has completed.
    Leftover,
    /// Nothing, and of the replayed calls only those whose answer the program has received.
    Delivered,
}

/// A frame that is being detached from the frame that it replays. Its children are detached first.
struct Detaching<'a> {
    frame: &'a Frame,
    recorded: &'a Frame,
    /// Position in the parent.
    position: usize,
    keep: Keep,
    next_child: usize,
    detached: Vec<(usize, Arc<Frame>)>,
}

impl<'a> Detaching<'a> {
    /// `None` for a frame that replays nothing: then no frame under it replays anything.
    fn new(frame: &'a Frame, position: usize, keep: Keep) -> Option<Self> {
        Some(Self {
            frame,
            recorded: frame.recorded.as_ref()?,
            position,
            keep,
            next_child: 0,
            detached: Vec::new(),
        })
    }

    fn ancestor(&self, flags: Flags) -> RecordedAncestor<'a> {
        RecordedAncestor::new(self.recorded, flags)
    }

    /// Detaches the frame and everything under it.
    fn run(self, orders: &Renumbering, flags: Flags) -> Frame {
        let mut ancestors = vec![self.ancestor(flags)];
        let mut open: Vec<Self> = Vec::new();
        let mut top = self;
        loop {
            if let Some(child) = top.next_child() {
                ancestors.push(child.ancestor(flags));
                open.push(std::mem::replace(&mut top, child));
                continue;
            }
            let position = top.position;
            let detached = top.finish(orders, &ancestors);
            ancestors.pop();
            match open.pop() {
                Some(mut parent) => {
                    parent.detached.push((position, Arc::new(detached)));
                    top = parent;
                }
                None => return detached,
            }
        }
    }

    fn next_child(&mut self) -> Option<Self> {
        let keep = match self.frame.state {
            State::Completed(_) if self.keep == Keep::CarryOver => Keep::Leftover,
            _ => self.keep,
        };
        let children = &self.frame.generation.children;
        while let Some(child) = children.get(self.next_child) {
            let position = self.next_child;
            self.next_child += 1;
            if let Some(detaching) = Self::new(child, position, keep) {
                return Some(detaching);
            }
        }
        None
    }

    fn finish(self, orders: &Renumbering, ancestors: &[RecordedAncestor<'_>]) -> Frame {
        let mut frame = match self.keep {
            Keep::CarryOver | Keep::Leftover => {
                with_carry_over(self.frame, self.keep, orders, ancestors)
            }
            Keep::Delivered => {
                let mut frame = without_link(self.frame);
                take_back_undelivered(&mut frame.generation);
                frame
            }
        };
        for (position, child) in self.detached {
            // The frame's own children come before the carried over ones, so their positions are still valid.
            frame.generation.children.set_mut(position, child);
        }
        settle(&mut frame.generation);
        frame
    }
}

/// Puts replayed calls back in flight if the program has not received their answer.
fn take_back_undelivered(generation: &mut Generation) {
    let is_undelivered = |call: &Arc<Call>| {
        call.end.is_none() && call.answered.is_none() && call.outcome != Outcome::Pending
    };
    let calls = &mut generation.calls;
    for position in 0..calls.len() {
        if calls.get(position).is_some_and(is_undelivered)
            && let Some(call) = calls.get_mut(position)
        {
            Arc::make_mut(call).outcome = Outcome::Pending;
        }
    }
}
