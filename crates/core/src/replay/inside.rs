//! What was recorded inside a call, when the recorded answer of the call is returned.

use std::collections::HashSet;
use std::sync::Arc;

use super::Inside;
use super::copy::{Renamed, add_inner_orders, add_orders_of_call, renamed};
use crate::json::JsonStr;
use crate::model::{Call, Frame, Generation};

/// The orders of calls and frames, and of everything in the frames.
pub(crate) fn orders_of(calls: &[&Arc<Call>], frames: &[&Arc<Frame>]) -> Vec<u64> {
    let mut orders = Vec::new();
    for call in calls {
        add_orders_of_call(call, &mut orders);
    }
    for frame in frames {
        orders.extend(frame.start);
        orders.extend(frame.end);
        add_inner_orders(frame, &mut orders);
    }
    orders
}

/// The calls inside a call that had ended, also in frames, each with its name.
pub(crate) fn answered(frame: &Frame, inside: &Inside) -> Vec<(JsonStr, Arc<Call>)> {
    let Generation {
        calls, children, ..
    } = &frame.generation;
    let mut found = Vec::new();
    let mut add = |frame: &Frame, call: &Arc<Call>| {
        if call.has_answer() {
            found.push((name_of(frame, call), Arc::clone(call)));
        }
    };
    for call in inside.calls.iter().filter_map(|at| calls.get(*at)) {
        add(frame, call);
    }
    let frames = inside.frames.iter().filter_map(|at| children.get(*at));
    let mut open: Vec<&Frame> = frames.map(AsRef::as_ref).collect();
    while let Some(frame) = open.pop() {
        let earlier = frame.earlier.iter().map(AsRef::as_ref);
        for generation in earlier.chain([&frame.generation]) {
            for call in &generation.calls {
                add(frame, call);
            }
            open.extend(generation.children.iter().map(AsRef::as_ref));
        }
    }
    found
}

/// The name of a call, which is a part of its callId.
fn name_of(frame: &Frame, call: &Call) -> JsonStr {
    let name = || {
        let path = call.call_id.body().strip_prefix(frame.base())?;
        let name = path.strip_prefix('/')?.strip_prefix(call.kind.name())?;
        let (name, _) = name.strip_prefix(':')?.rsplit_once(':')?;
        Some(JsonStr::from_normalized_body(name))
    };
    name().unwrap_or_else(|| call.call_id.clone())
}

/// Sorts calls and children by their starts, and gives each its own callId. What was recorded inside a replayed call was
/// added when the answer of that call was returned: after entries that had started meanwhile, and under its recorded
/// callIds, which a changed program may have used for others.
pub(crate) fn settle(generation: &mut Generation) {
    if !generation.has_inner() {
        return;
    }
    let mut calls: Vec<_> = generation.calls.iter().cloned().collect();
    calls.sort_by_key(|call| call.start);
    // Entries of the frame itself keep their callIds.
    let own = calls.iter().filter(|call| call.within.is_none());
    let mut names: HashSet<JsonStr> = own.map(|call| call.call_id.clone()).collect();
    for call in calls.iter_mut().filter(|call| call.within.is_some()) {
        let name = free_name(&call.call_id, &names);
        if name != call.call_id {
            Arc::make_mut(call).call_id = name.clone();
        }
        names.insert(name);
    }
    generation.calls = calls.into_iter().collect();
    let mut children: Vec<_> = generation.children.iter().cloned().collect();
    children.sort_by_key(|child| child.start.unwrap_or(u64::MAX));
    let own = children.iter().filter(|child| child.within.is_none());
    let mut names: HashSet<JsonStr> = own.map(|child| child.call_id.clone()).collect();
    for child in children.iter_mut().filter(|child| child.within.is_some()) {
        let name = free_name(&child.call_id, &names);
        if name != child.call_id {
            let to = Renamed {
                from: &child.call_id,
                to: &name,
            };
            let renamed = renamed(child, to);
            *child = Arc::new(renamed);
        }
        names.insert(name);
    }
    generation.children = children.into_iter().collect();
}

/// The callId or, if it is in use, the next free one with the same stem.
pub(super) fn free_name(call_id: &JsonStr, names: &HashSet<JsonStr>) -> JsonStr {
    if !names.contains(call_id) {
        return call_id.clone();
    }
    let body = call_id.body();
    let stem = body.rsplit_once(':').map_or(body, |(stem, _)| stem);
    // There are more candidates than names, so one candidate is free.
    let last = names.len() * 2;
    (names.len()..=last)
        .map(|seq| JsonStr::from_normalized_body(&format!("{stem}:{seq}")))
        .find(|name| !names.contains(name))
        .unwrap_or_else(|| call_id.clone())
}
