//! What was recorded inside a call: it answers inside the same call, and is used up with the answer of that call.

use std::sync::Arc;

use super::LiveFrame;
use crate::json::JsonStr;
use crate::model::{Call, Frame, Generation};
use crate::record::run::CallSlot;
use crate::replay::{Answer, Place, Verdict, answered, orders_of};

/// What was recorded inside a call, and is used up with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Included {
    /// The number of calls that had ended, also in frames.
    pub calls: usize,
    /// The callIds in the frame of the call, without the path of that frame.
    pub names: Vec<JsonStr>,
}

impl LiveFrame {
    /// Where the recording is searched for something that is asked inside a live call. `None`: nowhere, because the
    /// recording has nothing inside that call.
    pub(super) fn place(&self, within: Option<&JsonStr>) -> Option<Place> {
        match within {
            None => Some(None),
            Some(outer) => Some(Some(self.outers.borrow().get(outer)?.clone())),
        }
    }

    /// Notes what was recorded inside a call. If its recorded answer is returned, that is used up with it.
    pub(super) fn include(&self, call_id: &JsonStr, answer: &Answer) -> Option<Included> {
        let source = self.answering()?;
        let inside = source.inside(answer.position?)?;
        let outer = answer.call.as_ref()?.call_id.clone();
        self.outers.borrow_mut().insert(call_id.clone(), outer);
        if matches!(answer.verdict, Verdict::Miss(_)) {
            return None;
        }
        source.include(&inside);
        let frame = source.frame();
        let Generation {
            calls, children, ..
        } = &frame.generation;
        let calls: Vec<_> = inside
            .calls
            .iter()
            .filter_map(|at| calls.get(*at))
            .collect();
        let frames: Vec<_> = inside
            .frames
            .iter()
            .filter_map(|at| children.get(*at))
            .collect();
        for order in orders_of(&calls, &frames) {
            self.shared.progress.reach(Some(order));
        }
        let call_ids = calls.iter().map(|call| &call.call_id);
        let call_ids = call_ids.chain(frames.iter().map(|frame| &frame.call_id));
        let prefix = format!("{}/", frame.base());
        let names = call_ids.filter_map(|id| id.body().strip_prefix(&prefix));
        Some(Included {
            names: names.map(JsonStr::from_normalized_body).collect(),
            calls: answered(frame, &inside).len(),
        })
    }

    /// Journals what was recorded inside a replayed call.
    pub(super) fn adopt_inside(&self, slot: CallSlot) {
        let Some(source) = self.answering().filter(|source| source.is_claimed()) else {
            return;
        };
        if self.outers.borrow().is_empty() {
            return;
        }
        let replays = |frame: &Frame| frame.generation.calls.get(slot.call)?.replays;
        let position = self.run().frame(&self.path).and_then(replays);
        if let Some(inside) = position.and_then(|position| source.inside(position)) {
            let recorded = &source.frame().generation;
            self.run().adopt_inside(&self.path, slot, recorded, &inside);
        }
    }

    /// The calls that were recorded inside a live call and had ended, in the order of their starts, each with its name.
    #[must_use]
    pub fn included_calls(&self, call_id: &JsonStr) -> Vec<(JsonStr, Arc<Call>)> {
        let outers = self.outers.borrow();
        let (Some(source), Some(outer)) = (self.answering(), outers.get(call_id)) else {
            return Vec::new();
        };
        let calls = &source.frame().generation.calls;
        let position = calls.iter().position(|call| call.call_id == *outer);
        let inside = position.and_then(|position| source.inside(position));
        let mut found = inside.map_or_else(Vec::new, |inside| answered(source.frame(), &inside));
        found.sort_by_key(|(_, call)| call.start);
        found
    }
}
