//! The recorded calls of a frame by their requests, and which of them a replay has used.

use std::collections::HashMap;
use std::sync::Arc;

use super::lanes::Lanes;
use super::source::{Inside, Place};
use crate::json::{JsonStr, JsonText};
use crate::model::{Call, Flag, Flags, Generation, Kind, Outcome, RequestHash, Row};
use crate::util::IdHashing;

/// The position that means: no further call with the same request.
const NONE: u32 = u32::MAX;

/// The place, the kind and the hash of a request.
pub(super) type CallKey = (Place, Kind, RequestHash);

#[derive(Debug, Default)]
pub(super) struct JournalIndex {
    calls: HashMap<CallKey, Occurrences, IdHashing>,
    /// By position of a call, the position of the next call in its list. [`NONE`] after the last one.
    next: Vec<u32>,
    pub(super) lanes: Lanes,
    pub(super) used: Vec<bool>,
    rows: HashMap<(Kind, RequestHash), Arc<Row>, IdHashing>,
    /// The calls and frames directly inside each call, by callId.
    pub(super) inside: HashMap<JsonStr, Inside, IdHashing>,
    pub(super) has_foreign_hashes: bool,
}

/// The calls with one request, in two lists by their starts: the positions of the first ones that may be unused.
#[derive(Debug, Clone, Copy)]
struct Occurrences {
    without_lane: u32,
    with_lane: u32,
}

impl JournalIndex {
    pub(super) fn new(generation: &Generation, flags: Flags) -> Self {
        let count = generation.calls.len();
        let mut calls = HashMap::with_capacity_and_hasher(count, IdHashing::new());
        let mut next = vec![NONE; count];
        // From the last to the first: each one goes before the later ones, so the first one remains at the head.
        let positions = (0..u32::try_from(count).unwrap_or(NONE)).rev();
        for (position, call) in positions.zip(generation.calls.iter().rev()) {
            let heads = calls
                .entry(key_of(call, flags))
                .or_insert(Occurrences::NONE);
            let head = match &call.data.lane {
                Some(_) => &mut heads.with_lane,
                None => &mut heads.without_lane,
            };
            next[position as usize] = std::mem::replace(head, position);
        }
        let rows = generation
            .rows
            .iter()
            .map(|row| ((row.kind.clone(), row.hash.clone()), Arc::clone(row)))
            .collect();
        let mut index = Self {
            calls,
            next,
            lanes: Lanes::new(generation, |call| key_of(call, flags)),
            used: vec![false; count],
            rows,
            inside: inside_index(generation, flags),
            has_foreign_hashes: false,
        };
        let foreign = |hash: &RequestHash| matches!(hash, RequestHash::Foreign(_));
        index.has_foreign_hashes = index.calls.keys().any(|(.., hash)| foreign(hash))
            || index.rows.keys().any(|(_, hash)| foreign(hash));
        index
    }

    /// The position of the unused call that answers a request next, or [`NONE`].
    pub(super) fn next(&mut self, key: &CallKey, lane: Option<&JsonText>) -> u32 {
        let used = &self.used;
        let is_used = |position: u32| used[position as usize];
        let in_lane = lane.and_then(|lane| self.lanes.next(key, lane, is_used));
        let heads = self.heads(key);
        // A call without a lane was not open together with an equal one, so the order of starts decides.
        heads.without_lane.min(in_lane.unwrap_or(heads.with_lane))
    }

    pub(super) fn take(&mut self, key: CallKey, lane: Option<&JsonText>) -> Option<Found> {
        let position = self.next(&key, lane);
        if let Some(used) = self.used.get_mut(position as usize) {
            *used = true;
            return Some(Found::Call(position as usize));
        }
        let (None, kind, hash) = key else {
            return None;
        };
        let row = self.rows.get(&(kind, hash))?;
        Some(Found::Row(row.outcome.clone()))
    }

    /// The first unused calls with a request.
    fn heads(&mut self, key: &CallKey) -> Occurrences {
        let Some(heads) = self.calls.get_mut(key) else {
            return Occurrences::NONE;
        };
        for head in [&mut heads.without_lane, &mut heads.with_lane] {
            while self.used.get(*head as usize) == Some(&true) {
                *head = self.next[*head as usize];
            }
        }
        *heads
    }
}

impl Occurrences {
    const NONE: Self = Self {
        without_lane: NONE,
        with_lane: NONE,
    };
}

/// By what a recorded call is found.
fn key_of(call: &Call, flags: Flags) -> CallKey {
    let place = place_of(call.within.as_ref(), flags);
    (place, call.kind.clone(), call.hash.clone())
}

/// Where a recorded entry answers. `within`: its outer call.
pub(super) fn place_of(within: Option<&JsonStr>, flags: Flags) -> Place {
    within.filter(|_| flags.has(Flag::InnerCalls)).cloned()
}

fn inside_index(generation: &Generation, flags: Flags) -> HashMap<JsonStr, Inside, IdHashing> {
    let mut inside: HashMap<JsonStr, Inside, _> = HashMap::with_hasher(IdHashing::new());
    for (position, call) in generation.calls.iter().enumerate() {
        if let Some(outer) = place_of(call.within.as_ref(), flags) {
            inside.entry(outer).or_default().calls.push(position);
        }
    }
    for (position, child) in generation.children.iter().enumerate() {
        if let Some(outer) = place_of(child.within.as_ref(), flags) {
            inside.entry(outer).or_default().frames.push(position);
        }
    }
    inside
}

/// The entry that answers a request.
pub(super) enum Found {
    /// The call at this position. It is used up.
    Call(usize),
    /// A row. It answers any number of requests.
    Row(Outcome),
}
