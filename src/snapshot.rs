use std::sync::Arc;

use agent_rewind_core::json::JsonText;
use agent_rewind_core::model::Flag;
use agent_rewind_core::restore::{
    self, EventTable, Origin, RestoreError, RestoreOptions as CoreOptions,
};
use agent_rewind_core::snapshot::{
    Anchor, Snapshot, SnapshotError, read_snapshot, stream_frame, write_frame, write_without_root,
};
use napi::bindgen_prelude::{Buffer, ObjectFinalize};
use napi::{Env, Error};
use napi_derive::napi;

use crate::error::{Code, Result, restore_error, snapshot_error};
use crate::file::{self, BindingFileFailure};
use crate::meter::Meter;
use crate::text;
use crate::text_sink::TextSink;

/// An immutable snapshot. Creating and keeping one costs nothing. Its text is written on demand.
#[napi(custom_finalize)]
pub struct SnapshotHandle {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) meter: Meter,
}

impl ObjectFinalize for SnapshotHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        let Self { snapshot, meter } = self;
        drop(snapshot);
        meter.release(env);
        Ok(())
    }
}

#[napi]
impl SnapshotHandle {
    /// Reads a snapshot's JSON text.
    #[napi(factory, catch_unwind)]
    pub fn read(env: Env, text: String) -> Result<Self> {
        Self::open(env, read_text(text))
    }

    /// Reads a snapshot's JSON text that was pushed in pieces.
    #[napi(factory, catch_unwind)]
    pub fn read_pieces(env: Env, pieces: &TextSink) -> Result<Self> {
        Self::read(env, pieces.take())
    }

    /// True if the content of class instances is part of the hashes.
    #[napi(getter, catch_unwind)]
    pub fn exact_content(&self) -> bool {
        self.snapshot.flags().has(Flag::ExactContent)
    }

    /// JSON text of the root frame.
    #[napi(catch_unwind)]
    pub fn root_text(&self) -> Result<String> {
        let mut out = String::new();
        write_frame(self.snapshot.tree(), &mut out);
        text::for_javascript(out)
    }

    /// JSON text of the snapshot with `null` for its root.
    #[napi(catch_unwind)]
    pub fn text_without_root(&self) -> String {
        write_without_root(&self.snapshot)
    }

    /// This snapshot of a resumed run together with what the run had not requested of the recording that it resumed.
    #[napi(catch_unwind)]
    pub fn resumed_from(&self, env: Env, recording: &SnapshotHandle) -> SnapshotHandle {
        SnapshotHandle::new(
            env,
            Arc::new(self.snapshot.resumed_from(&recording.snapshot)),
            0,
        )
    }

    /// Replaces a file with `head`, the text of the root frame, and `tail`, on another thread. `temporary` must be an
    /// unused name in the same folder.
    #[napi]
    pub async fn write_file(
        &self,
        path: String,
        temporary: String,
        head: String,
        tail: String,
    ) -> Option<BindingFileFailure> {
        let snapshot = Arc::clone(&self.snapshot);
        file::replace(&path, &temporary, move |sink| {
            let spill = &mut |text: &mut String| sink.push(text);
            let mut end = stream_frame(snapshot.tree(), head, spill);
            end.push_str(&tail);
            sink.push(&mut end);
        })
    }
}

impl SnapshotHandle {
    /// `bytes` is the length of the text that the snapshot was read from and keeps.
    fn new(env: Env, snapshot: Arc<Snapshot>, bytes: usize) -> Self {
        Self {
            snapshot,
            meter: Meter::of(env, bytes),
        }
    }

    fn open(env: Env, opened: Opened) -> Result<Self> {
        match opened {
            Ok((snapshot, bytes)) => Ok(Self::new(env, Arc::new(snapshot), bytes)),
            Err(failure) => Err(failure.error()),
        }
    }
}

#[napi(object)]
pub struct BindingRestoreOptions {
    pub span_id: Option<String>,
    /// "before" or "after".
    pub anchor: Option<String>,
    pub trace_id: Option<String>,
    /// JSON text of an object.
    pub metadata: Option<String>,
    /// Milliseconds since 1970.
    pub now: f64,
    /// If true, the lines of the text are events that were passed in memory, and an invalid event is an error.
    pub from_memory: bool,
}

/// The fields that a restore reads from events of one type.
#[napi(object)]
pub struct BindingRestoredFields {
    /// Names of the fields, in addition to those of all events.
    pub names: Vec<String>,
    /// The first `always` fields are read from every event. The others only from events without `_seq`, or that do
    /// not follow the start of their span.
    pub always: u32,
}

#[napi(catch_unwind)]
pub fn restored_fields(event_type: String) -> BindingRestoredFields {
    let fields = restore::restored_fields(&event_type);
    BindingRestoredFields {
        always: u32::try_from(fields.always).unwrap_or(u32::MAX),
        names: fields.names.into_iter().map(str::to_owned).collect(),
    }
}

/// Restores a snapshot from events in memory. `heads` has five numbers per event: the indices of its type, span,
/// parent and trace (or `0xffffffff`), and one bit for each of `restoredFields` that it has. `numbers` has two per
/// event: its `timestamp` and `_seq`. `types`, `spans` and `traces` are JSON arrays that the indices refer to.
/// `values` contains JSON arrays of the fields' values.
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments, reason = "each is a column")]
pub fn restore_table(
    env: Env,
    heads: &[u32],
    numbers: &[f64],
    types: String,
    spans: String,
    traces: String,
    values: &TextSink,
    options: BindingRestoreOptions,
) -> Result<SnapshotHandle> {
    let values = Arc::new(values.take());
    let table = EventTable {
        heads,
        numbers,
        types: &types,
        spans: &spans,
        traces: &traces,
    };
    let restored = restore::restore_table(&values, table, &core_options(options));
    let restored = restored.map(|snapshot| (snapshot, values.len()));
    SnapshotHandle::open(env, restored.map_err(Failure::Restore))
}

/// Restores a snapshot from the text of a trace.
#[napi(catch_unwind)]
pub fn restore_trace(
    env: Env,
    trace: String,
    options: BindingRestoreOptions,
) -> Result<SnapshotHandle> {
    SnapshotHandle::open(env, restore_text(trace, options))
}

/// Restores a snapshot from the text of a trace that was pushed in pieces.
#[napi(catch_unwind)]
pub fn restore_pieces(
    env: Env,
    pieces: &TextSink,
    options: BindingRestoreOptions,
) -> Result<SnapshotHandle> {
    restore_trace(env, pieces.take(), options)
}

fn restore_text(trace: String, options: BindingRestoreOptions) -> Opened {
    let origin = if options.from_memory {
        Origin::Events
    } else {
        Origin::Lines
    };
    let bytes = trace.len();
    let restored = restore::restore(Arc::new(trace), origin, &core_options(options));
    let restored = restored.map(|snapshot| (snapshot, bytes));
    restored.map_err(Failure::Restore)
}

fn core_options(options: BindingRestoreOptions) -> CoreOptions {
    CoreOptions {
        span_id: options.span_id,
        anchor: options
            .anchor
            .as_deref()
            .and_then(Anchor::from_name)
            .unwrap_or(Anchor::After),
        trace_id: options.trace_id,
        metadata: options.metadata.map(JsonText::trusted),
        now_ms: options.now,
    }
}

/// The result of work on another thread. An async export cannot throw an error with our codes, so it returns this,
/// and [`Finished::take`] throws.
#[napi]
pub struct Finished {
    result: std::result::Result<Arc<Snapshot>, Failure>,
    /// The length of the text that was read.
    bytes: usize,
}

/// A snapshot and the bytes that it keeps.
type Opened = std::result::Result<(Snapshot, usize), Failure>;

enum Failure {
    Restore(RestoreError),
    Read(SnapshotError),
}

impl Failure {
    fn error(&self) -> Error<Code> {
        match self {
            Self::Restore(error) => restore_error(error),
            Self::Read(error) => snapshot_error(error),
        }
    }
}

impl From<Opened> for Finished {
    fn from(opened: Opened) -> Self {
        match opened {
            Ok((snapshot, bytes)) => Self {
                result: Ok(Arc::new(snapshot)),
                bytes,
            },
            Err(failure) => Self {
                result: Err(failure),
                bytes: 0,
            },
        }
    }
}

#[napi]
impl Finished {
    #[napi(catch_unwind)]
    pub fn take(&self, env: Env) -> Result<SnapshotHandle> {
        match &self.result {
            Ok(snapshot) => Ok(SnapshotHandle::new(env, Arc::clone(snapshot), self.bytes)),
            Err(failure) => Err(failure.error()),
        }
    }
}

/// Restores from the bytes of a trace file on another thread. Nothing may write to the bytes meanwhile. Bytes that
/// are not UTF-8 only invalidate their own lines.
#[napi]
pub async fn restore_bytes(trace: Buffer, options: BindingRestoreOptions) -> Finished {
    restore_utf8(&trace, options).into()
}

fn restore_utf8(trace: &[u8], options: BindingRestoreOptions) -> Opened {
    let text = text::lossy(trace);
    restore::restore_copying(&text, Origin::Lines, &core_options(options)).map_err(Failure::Restore)
}

fn read_utf8(bytes: &[u8]) -> Opened {
    let text = text::owned_utf8(bytes).map_err(|error| {
        Failure::Read(SnapshotError::NotJson {
            path: String::new(),
            error,
        })
    });
    read_text(text?)
}

fn read_text(text: String) -> Opened {
    let bytes = text.len();
    let read = read_snapshot(&Arc::new(text)).map(|snapshot| (snapshot, bytes));
    read.map_err(Failure::Read)
}

/// Reads the bytes of a snapshot file on another thread.
#[napi]
pub async fn read_bytes(bytes: Buffer) -> Finished {
    read_utf8(&bytes).into()
}

/// Reads the bytes of a snapshot.
#[napi(catch_unwind)]
pub fn read_bytes_sync(env: Env, bytes: &[u8]) -> Result<SnapshotHandle> {
    SnapshotHandle::open(env, read_utf8(bytes))
}

/// Restores from the bytes of a trace.
#[napi(catch_unwind)]
pub fn restore_bytes_sync(
    env: Env,
    trace: &[u8],
    options: BindingRestoreOptions,
) -> Result<SnapshotHandle> {
    SnapshotHandle::open(env, restore_utf8(trace, options))
}
