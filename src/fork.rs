use std::sync::Arc;

use agent_rewind_core::fork::{self, Change, MemoryEdits, NewOutcome, Target, fork, rehash};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{Frame, Kind, RequestHash, Value};
use napi_derive::napi;

use crate::error::{Result, fork_error};
use crate::snapshot::SnapshotHandle;

/// A change of one call or frame. All strings are JSON texts; names are the texts of strings.
#[napi(object)]
pub struct BindingForkChange {
    /// Either this or `content_hash` is given.
    pub call_id: Option<String>,
    pub content_hash: Option<String>,
    pub frame: Option<String>,
    pub kind: Option<String>,
    pub occurrence: Option<i64>,
    pub drop: bool,
    pub output: Option<String>,
    /// Type tags of the output.
    pub types: Option<String>,
    pub error: Option<String>,
    pub memory: Option<Vec<BindingMemoryEdit>>,
}

#[napi(object)]
pub struct BindingMemoryEdit {
    pub key: String,
    /// Absent for a key that is removed.
    pub value: Option<String>,
}

/// Forks the frames of `source`. All other fields are those of `fields`.
#[napi(catch_unwind)]
pub fn fork_snapshot(
    source: &SnapshotHandle,
    fields: &SnapshotHandle,
    changes: Vec<BindingForkChange>,
) -> Result<SnapshotHandle> {
    let changes: Vec<Change> = changes.into_iter().map(core_change).collect();
    let root =
        fork(source.snapshot.tree(), source.snapshot.flags(), &changes).map_err(fork_error)?;
    Ok(source.forked(fields, root))
}

impl SnapshotHandle {
    /// A snapshot with other fields and other frames, which share the texts of this one.
    fn forked(&self, fields: &Self, root: Arc<Frame>) -> Self {
        Self {
            snapshot: Arc::new(fields.snapshot.around(root)),
            meter: self.meter.clone(),
        }
    }
}

/// Returns `source` with other hashes: `calls` for its calls, `inputs` for its frames, in the order of the read model.
/// All fields except the frames are those of `fields`.
#[napi(catch_unwind)]
pub fn rehash_snapshot(
    source: &SnapshotHandle,
    fields: &SnapshotHandle,
    calls: Vec<String>,
    inputs: Vec<Option<String>>,
) -> SnapshotHandle {
    let calls = calls.iter().map(|hash| RequestHash::read(hash));
    let inputs = inputs.iter().map(|hash| hash.as_deref()?.parse().ok());
    let root = rehash(source.snapshot.tree(), calls, inputs);
    source.forked(fields, root)
}

/// The frames that a test records if it executes the run of `source`. `call_id` and `input_hash` are those of the first
/// run in a test. `requests` has the request documents of all calls in the order of the read model, where they are known.
#[napi(catch_unwind)]
pub fn test_recording(
    source: &SnapshotHandle,
    call_id: String,
    input_hash: Option<String>,
    requests: Vec<Option<String>>,
) -> SnapshotHandle {
    let call_id = JsonStr::from_plain(&call_id);
    let input_hash = input_hash.as_deref().and_then(|hash| hash.parse().ok());
    let root = fork::test_recording(source.snapshot.tree(), call_id, input_hash, requests);
    source.forked(source, Arc::new(root))
}

fn core_change(change: BindingForkChange) -> Change {
    let name = |literal: String| JsonStr::from_literal(&literal);
    let target = match (change.call_id, change.content_hash) {
        (Some(call_id), _) => Target::CallId(name(call_id)),
        (None, hash) => Target::Request {
            hash: RequestHash::read(name(hash.unwrap_or_default()).body()),
            frame: change.frame.map(name),
            kind: change.kind.map(|kind| Kind::from_name(name(kind))),
        },
    };
    let output = change.output.map(|text| {
        NewOutcome::Output(Value {
            text: JsonText::trusted(text),
            types: change.types.map(JsonText::trusted),
        })
    });
    let error = change.error.map(JsonText::trusted).map(NewOutcome::Error);
    let memory = change.memory.map(|edits| {
        let mut memory = MemoryEdits::default();
        for BindingMemoryEdit { key, value } in edits {
            let key = name(key);
            if let Some(value) = value {
                memory.values.insert(key.clone(), JsonText::trusted(value));
            }
            memory.keys.push(key);
        }
        memory
    });
    Change {
        target,
        occurrence: change
            .occurrence
            .and_then(|number| usize::try_from(number).ok()),
        drop: change.drop,
        outcome: output.or(error),
        memory,
    }
}
