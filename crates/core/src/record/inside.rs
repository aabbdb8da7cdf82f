//! The entries inside a call become part of the live frame when the recorded answer of the call is returned.

use std::sync::Arc;

use super::run::{CallSlot, FramePath, Run};
use crate::json::JsonStr;
use crate::model::{Call, Divergence, Frame, Generation, Renumbering};
use crate::replay::{Inside, renumbered, renumbered_call};

impl Run {
    /// Copies what was recorded inside a replayed call, which has just ended. `inside`: positions in `recorded`, the
    /// generation that the frame replays.
    pub(super) fn adopt_inside(
        &mut self,
        path: &FramePath,
        slot: CallSlot,
        recorded: &Generation,
        inside: &Inside,
    ) {
        let clock_moved = self.clock.moved;
        let Some(frame) = self.live(path) else {
            return;
        };
        let Some(outer) = frame.generation.calls.get(slot.call) else {
            return;
        };
        let Some(outer_recorded) = outer.replays.and_then(|at| recorded.calls.get(at)) else {
            return;
        };
        // Without new starts or ends during the call, its span contains the recorded orders, moved as the call itself.
        // Otherwise all get the start of the call: a later order could look as if the program had continued after something
        // that it had not.
        let moved = outer.start.checked_sub(outer_recorded.start);
        let end = outer.end.zip(outer_recorded.end);
        let unchanged = end.is_some_and(|(end, recorded)| {
            moved == Some(clock_moved) && end.checked_sub(recorded) == moved
        });
        let orders = Renumbering::Within {
            moved: clock_moved,
            first: outer.start,
            last: outer.end.filter(|_| unchanged).unwrap_or(outer.start),
        };
        let (from, to) = (outer_recorded.call_id.clone(), outer.call_id.clone());
        let within = |within: &Option<JsonStr>| match within {
            Some(outer) if *outer == from => Some(to.clone()),
            other => other.clone(),
        };
        let Generation {
            calls, children, ..
        } = &mut frame.generation;
        for position in &inside.calls {
            if let Some(call) = recorded.calls.get(*position) {
                calls.push_back_mut(Arc::new(Call {
                    within: within(&call.within),
                    replays: Some(*position),
                    carried_over: false,
                    ..renumbered_call(call, &orders)
                }));
            }
        }
        for position in &inside.frames {
            if let Some(child) = recorded.children.get(*position) {
                children.push_back_mut(Arc::new(Frame {
                    within: within(&child.within),
                    replays: Some(*position),
                    divergence: Divergence::None,
                    ..renumbered(child, &orders)
                }));
            }
        }
    }
}
