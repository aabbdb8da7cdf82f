//! Reads and writes the memory of a frame, and finds the keys that a user edited in a snapshot.

use std::collections::HashSet;

use super::fields::Fields;
use super::stop::Stop;
use crate::hash::content_hash_any;
use crate::json::{JsonStr, JsonText, write_joined};
use crate::model::{Frame, Memory, OrderedMap};

pub(super) fn read_memory(fields: &mut Fields<'_>) -> Result<Option<Memory>, Stop> {
    let mut memory = Memory::default();
    let is_object = fields.members("expected an object", |fields, key| {
        let value = fields.span()?;
        memory.insert(JsonStr::from_normalized_body(key), value);
        Ok(())
    })?;
    Ok(is_object.then_some(memory))
}

pub(super) fn read_hashes(fields: &mut Fields<'_>) -> Result<OrderedMap<JsonStr, JsonStr>, Stop> {
    let mut hashes = OrderedMap::default();
    fields.members("expected an object", |fields, key| {
        if let Some(hash) = fields.string()? {
            hashes.insert(JsonStr::from_normalized_body(key), hash);
        }
        Ok(())
    })?;
    Ok(hashes)
}

/// The keys that a user changed in the current memory. A key whose value does not match its hash was
/// edited, a key without a hash was added, a key without a value was removed.
pub(super) fn edited_keys(now: &Memory, hashes: &OrderedMap<JsonStr, JsonStr>) -> Vec<JsonStr> {
    let is_changed = |(key, value): &(&JsonStr, &JsonText)| {
        let hash = content_hash_any(value.as_str()).map(|hash| hash.to_string());
        let known = hashes.get(key);
        !known.is_some_and(|known| hash.is_ok_and(|hash| hash == known.body()))
    };
    let removed = hashes.iter().filter(|(key, _)| now.get(key).is_none());
    let changed = now.iter().filter(is_changed);
    let keys = removed
        .map(|(key, _)| key)
        .chain(changed.map(|(key, _)| key));
    keys.cloned().collect()
}

/// Writes the memory as an object.
pub fn write_memory(memory: &Memory, out: &mut String) {
    out.push('{');
    write_joined(memory.iter(), out, |(key, value), out| {
        key.write_quoted(out);
        out.push(':');
        out.push_str(value.as_str());
    });
    out.push('}');
}

/// Writes the hashes of the values. An edited key stays edited: its hash is empty, which matches no value.
pub(crate) fn write_memory_hashes(frame: &Frame, out: &mut String) {
    let edited: HashSet<&JsonStr> = frame.edited.iter().collect();
    let is_edited = |key: &JsonStr| edited.contains(key);
    let removed = frame.edited.iter();
    let removed = removed.filter(|key| frame.memory.get(key).is_none());
    let hash_of = |(key, value): (&JsonStr, &JsonText)| {
        // A value that cannot be hashed counts as edited: an edit must not be lost.
        let hash = content_hash_any(value.as_str()).ok();
        hash.filter(|_| !is_edited(key))
            .map_or_else(String::new, |hash| hash.to_string())
    };
    out.push_str(r#","memoryHashes":{"#);
    let hashes = frame.memory.iter().map(|entry| (entry.0, hash_of(entry)));
    let gone = removed.map(|key| (key, String::new()));
    write_joined(hashes.chain(gone), out, |(key, hash), out| {
        key.write_quoted(out);
        out.push_str(&format!(r#":"{hash}""#));
    });
    out.push('}');
}
