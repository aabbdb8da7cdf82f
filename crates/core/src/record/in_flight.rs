//! The calls of a recording that had started and not ended. Whether they took effect is unknown.

use std::collections::HashMap;

use super::identity::{agent_kind, kind_inside};
use crate::hash::identity;
use crate::json::JsonStr;
use crate::model::{Call, Frame, Kind, Outcome, RequestHash};
use crate::util::IdHashing;

/// Writes the calls in flight as a JSON array. `id`: the identity of `root`.
pub(super) fn write_in_flight(root: &Frame, id: &str, out: &mut String) {
    out.push('[');
    let empty = out.len();
    let mut open = vec![(root, id.to_owned())];
    while let Some((frame, id)) = open.pop() {
        let generation = &frame.generation;
        if generation.calls.iter().any(|call| is_in_flight(call)) {
            write_calls(frame, &id, empty, out);
        }
        let mut seen: HashMap<_, u32, IdHashing> = HashMap::with_hasher(IdHashing::new());
        let first = open.len();
        for child in &generation.children {
            let kind = agent_kind(&child.agent_id, child.within.as_ref(), frame.base());
            let input = child.input_hash.map(|hash| hash.to_string());
            let input = input.unwrap_or_default();
            let before = seen.entry((kind.clone(), child.input_hash)).or_insert(0);
            let id = identity(&id, generation.id, &kind, &input, *before).to_string();
            *before += 1;
            open.push((child, id));
        }
        open[first..].reverse();
    }
    out.push(']');
}

fn is_in_flight(call: &Call) -> bool {
    matches!(call.outcome, Outcome::Pending) && !call.dropped
}

/// `empty`: the length of the text without calls.
fn write_calls(frame: &Frame, frame_id: &str, empty: usize, out: &mut String) {
    let mut seen: HashMap<(Option<&JsonStr>, &Kind, &RequestHash), u32, IdHashing> =
        HashMap::with_hasher(IdHashing::new());
    for call in &frame.generation.calls {
        let before = seen
            .entry((call.within.as_ref(), &call.kind, &call.hash))
            .or_insert(0);
        let occurrence = *before;
        *before += 1;
        if !is_in_flight(call) {
            continue;
        }
        let (kind, hash) = (call.kind.name(), call.hash.to_string());
        let inside = kind_inside(call.within.as_ref(), frame.base(), kind);
        let id = identity(frame_id, frame.generation.id, &inside, &hash, occurrence);
        out.push_str(if out.len() == empty {
            "{\"kind\":"
        } else {
            ",{\"kind\":"
        });
        JsonStr::from_normalized_body(kind).write_quoted(out);
        out.push_str(r#","callId":"#);
        call.call_id.write_quoted(out);
        out.push_str(&format!(
            r#","contentHash":"{hash}","idempotencyKey":"{id}"}}"#
        ));
    }
}
