//! Lanes: the functions that waited for calls with equal requests. They tell these calls apart.

use std::collections::{HashMap, VecDeque};
use std::iter;

use super::journal_index::CallKey;
use crate::json::JsonText;
use crate::model::{Call, Generation};
use crate::util::IdHashing;

const SEPARATOR: &str = " < ";

/// The recorded calls that have a lane.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    groups: HashMap<CallKey, Group, IdHashing>,
}

/// The calls with equal requests.
#[derive(Debug, Default)]
struct Group {
    /// The outer part that all their lanes have in common, from a separator on.
    outer: String,
    /// The positions of the calls by the rest of their lane, in the order of their starts.
    by_inner: HashMap<String, VecDeque<u32>, IdHashing>,
}

impl Lanes {
    pub(super) fn new(generation: &Generation, key_of: impl Fn(&Call) -> CallKey) -> Self {
        let mut lanes: HashMap<_, Vec<_>, _> = HashMap::with_hasher(IdHashing::new());
        for (position, call) in (0..).zip(&generation.calls) {
            if let Some(lane) = &call.data.lane {
                lanes
                    .entry(key_of(call))
                    .or_default()
                    .push((position, names(lane)));
            }
        }
        let groups = lanes.into_iter();
        Self {
            groups: groups
                .map(|(key, calls)| (key, Group::new(&calls)))
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The first unused call of a lane.
    pub(super) fn next(
        &mut self,
        key: &CallKey,
        lane: &JsonText,
        is_used: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let calls = self.groups.get_mut(key)?.calls(names(lane))?;
        while calls.front().is_some_and(|position| is_used(*position)) {
            calls.pop_front();
        }
        calls.front().copied()
    }
}

impl Group {
    fn new(calls: &[(u32, &str)]) -> Self {
        let length = common_outer_length(calls);
        let mut group = Self::default();
        for (position, lane) in calls {
            let (inner, outer) = lane.split_at(lane.len() - length);
            outer.clone_into(&mut group.outer);
            let inner = group.by_inner.entry(inner.to_owned()).or_default();
            inner.push_back(*position);
        }
        group
    }

    /// The calls of a lane. Another function than when they were recorded may start the program, so outer names may be
    /// missing or added, and all of them may differ around a combinator.
    fn calls(&mut self, lane: &str) -> Option<&mut VecDeque<u32>> {
        let recorded = lane.strip_suffix(self.outer.as_str());
        if let Some(inner) = recorded.filter(|inner| self.by_inner.contains_key(*inner)) {
            return self.by_inner.get_mut(inner);
        }
        let inners = || {
            iter::successors(Some(lane), |lane| without_last_name(lane))
                .filter(|inner| self.by_inner.contains_key(*inner))
        };
        // The shortest one: it has the most outer names in common.
        let fits = inners().filter(|inner| {
            let outer = &lane[inner.len()..];
            outer.starts_with(&self.outer) || self.outer.starts_with(outer)
        });
        let inner = fits
            .last()
            .or_else(|| inners().find(|inner| inner.ends_with(']')))?;
        self.by_inner.get_mut(inner)
    }
}

fn without_last_name(lane: &str) -> Option<&str> {
    Some(lane.rsplit_once(SEPARATOR)?.0)
}

/// The names in a JSON string.
fn names(lane: &JsonText) -> &str {
    lane.as_str().trim_matches('"')
}

/// The length of the outer part that all lanes have in common. Lanes that are all equal count up to their outermost
/// index, such as `all[1]`, or else as a whole.
fn common_outer_length(calls: &[(u32, &str)]) -> usize {
    let Some((_, first)) = calls.first() else {
        return 0;
    };
    let are_equal = calls.iter().all(|(_, lane)| lane == first);
    let mut common = 0;
    for (cut, _) in first.rmatch_indices(SEPARATOR) {
        let (inner, outer) = first.split_at(cut);
        if !calls.iter().all(|(_, lane)| lane.ends_with(outer)) {
            break;
        }
        common = outer.len();
        if are_equal && inner.ends_with(']') {
            return common;
        }
    }
    if are_equal { 0 } else { common }
}

#[cfg(test)]
#[path = "../../tests/unit/replay/lanes.rs"]
mod tests;
