//! An agent's memory: JSON values by key.

use std::collections::HashSet;

use super::ordered::OrderedMap;
use crate::json::{JsonStr, JsonText};

pub type Memory = OrderedMap<JsonStr, JsonText>;

/// The memory with the edited keys as they are in `values`; a key that `values` lacks is removed.
pub(crate) fn with_edits(memory: &Memory, values: &Memory, edited: &[JsonStr]) -> Memory {
    let keys: HashSet<&JsonStr> = edited.iter().collect();
    let mut result: Memory = memory
        .iter()
        .filter(|(key, _)| values.get(key).is_some() || !keys.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for key in edited {
        if let Some(value) = values.get(key) {
            result.insert(key.clone(), value.clone());
        }
    }
    result
}
