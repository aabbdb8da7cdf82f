//! The position of a replay in the recorded order of starts and ends.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::copy::add_inner_orders;
use crate::json::JsonText;
use crate::model::Frame;

/// The position of a run in the order of its recording. Without a recording, nothing is overtaken.
#[derive(Debug)]
pub(crate) struct Progress {
    recording: Option<Arc<Frame>>,
    /// Built at the first release, so that a run that releases nothing does not pay for it.
    reached: RefCell<Option<ReachedOrders>>,
    /// Recorded ends of the calls and frames that have started again and not ended yet.
    open_ends: RefCell<BTreeSet<u64>>,
}

impl Progress {
    pub(crate) fn new(recording: Option<Arc<Frame>>) -> Self {
        Self {
            recording,
            reached: RefCell::new(None),
            open_ends: RefCell::new(BTreeSet::new()),
        }
    }

    pub(crate) fn has_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Notes that a recorded call or frame has started again. `end`: its recorded end.
    pub(crate) fn open(&self, end: Option<u64>) {
        self.open_ends.borrow_mut().extend(end);
    }

    /// Notes that a call or frame has ended. `end`: its recorded end.
    pub(crate) fn close(&self, end: Option<u64>) {
        if let Some(end) = end {
            self.open_ends.borrow_mut().remove(&end);
        }
    }

    /// True if no open call or frame ended before `start` in the recording. While there is one, the program may still
    /// open the frame that started at `start`.
    pub(crate) fn has_reached(&self, start: Option<u64>) -> bool {
        match (self.open_ends.borrow().first(), start) {
            (Some(first), Some(start)) => *first > start,
            _ => true,
        }
    }

    /// The tick in which the call with this recorded end ended: the recorded end of the first of the calls that ended
    /// in it, one right after the other. `None` if no other did.
    pub(crate) fn tick_of(&self, end: u64) -> Option<u64> {
        self.reached.borrow().as_ref()?.ticks.get(&end).copied()
    }

    /// Notes that a recorded start or end was reached. `true` if it overtook an earlier one.
    pub(crate) fn reach(&self, order: Option<u64>) -> bool {
        let (Some(order), Some(recording)) = (order, &self.recording) else {
            return false;
        };
        self.reached
            .borrow_mut()
            .get_or_insert_with(|| ReachedOrders::new(recording))
            .reach(order)
    }
}

/// The recorded orders, and which of them the replay has reached.
#[derive(Debug)]
struct ReachedOrders {
    /// Ascending.
    orders: Vec<u64>,
    reached: Vec<bool>,
    /// Position of the first order that was not reached.
    first_open: usize,
    ticks: HashMap<u64, u64>,
}

impl ReachedOrders {
    /// Costs one pass over the calls of the tree.
    fn new(root: &Frame) -> Self {
        let mut orders = Vec::new();
        add_inner_orders(root, &mut orders);
        orders.sort_unstable();
        orders.dedup();
        let reached = vec![false; orders.len()];
        let ticks = shared_ticks(root, &orders);
        Self {
            orders,
            reached,
            first_open: 0,
            ticks,
        }
    }

    fn reach(&mut self, order: u64) -> bool {
        let Ok(position) = self.orders.binary_search(&order) else {
            return false;
        };
        self.reached[position] = true;
        while self.reached.get(self.first_open) == Some(&true) {
            self.first_open += 1;
        }
        self.first_open < position
    }
}

/// The ends of calls that share a tick, each with the first end in that tick. Nothing that was recorded lies between
/// them: a later end that follows from the first one, for example after another start, must not come before it.
fn shared_ticks(root: &Frame, orders: &[u64]) -> HashMap<u64, u64> {
    let mut ends = Vec::new();
    let mut frames = vec![root];
    while let Some(frame) = frames.pop() {
        for call in &frame.generation.calls {
            let same_tick = call.data.same_tick.as_ref().map(JsonText::as_str) == Some("true");
            ends.extend(call.end.map(|end| (end, same_tick)));
        }
        frames.extend(frame.generation.children.iter().map(|child| &**child));
    }
    let mut ticks = HashMap::new();
    if !ends.iter().any(|(_, same_tick)| *same_tick) {
        return ticks;
    }
    ends.sort_unstable();
    for pair in ends.windows(2) {
        let [(before, _), (end, true)] = *pair else {
            continue;
        };
        if orders.binary_search(&end).ok() == orders.binary_search(&before).ok().map(|at| at + 1) {
            let first = *ticks.entry(before).or_insert(before);
            ticks.insert(end, first);
        }
    }
    ticks
}
