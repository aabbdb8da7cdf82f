//! Restores a snapshot from the events of a run.
//!
//! The text of the trace is read once. The required fields of an event are kept as spans of that text;
//! conversations, schemas and similar values are skipped. The tree comes only from the parents of
//! spans. The order of events decides which came first and which are after the cut. The work is linear
//! in the size of the trace for any shape of the tree, and nothing recurses over the tree.

mod error;
mod options;
mod order;
mod read;
mod rebuild;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use error::{RestoreError, RestoreErrorKind};
pub use options::{Origin, RestoreOptions};
use order::topology::Topology;
use order::{cut, missing, select, sort};
pub use read::event::{RestoredFields, restored_fields};
use read::fields::TraceText;
pub use read::table::{EventTable, NO_NAME};
use read::trace::Trace;
use read::warnings::Warnings;
pub use read::warnings::code;
use read::{table, text};
use rebuild::builder::Builder;

use crate::json::JsonText;
use crate::model::{Clock, Frame, Recorder};
use crate::snapshot::{Provenance, Snapshot, SnapshotSource};

/// Rebuilds the frames of a run as they were at a moment.
///
/// # Errors
///
/// See [`RestoreErrorKind`]: the trace is empty, the span or run is not in it, several runs have the
/// span, an entry of a list is not an event, or frames are nested too deep.
pub fn restore(
    trace: Arc<String>,
    origin: Origin,
    options: &RestoreOptions,
) -> Result<Snapshot, RestoreError> {
    let mut warnings = Warnings::default();
    let trace = text::read(TraceText::shared(&trace), origin, &mut warnings)?;
    restore_trace(trace, warnings, options)
}

/// As [`restore`], but copies the required values, so that the text can be freed. Also returns the number
/// of copied bytes.
///
/// # Errors
///
/// As [`restore`].
pub fn restore_copying(
    trace: &str,
    origin: Origin,
    options: &RestoreOptions,
) -> Result<(Snapshot, usize), RestoreError> {
    let copied = AtomicUsize::new(0);
    let mut warnings = Warnings::default();
    let trace = text::read(TraceText::borrowed(trace, &copied), origin, &mut warnings)?;
    let snapshot = restore_trace(trace, warnings, options)?;
    Ok((snapshot, copied.load(Ordering::Relaxed)))
}

/// As [`restore`], from events in memory. `values` contains the values of their fields.
///
/// # Errors
///
/// As [`restore`].
pub fn restore_table(
    values: &Arc<String>,
    table: EventTable<'_>,
    options: &RestoreOptions,
) -> Result<Snapshot, RestoreError> {
    let mut warnings = Warnings::default();
    let trace = table::read_table(TraceText::shared(values), table, &mut warnings)?;
    restore_trace(trace, warnings, options)
}

fn restore_trace(
    mut trace: Trace<'_>,
    mut warnings: Warnings,
    options: &RestoreOptions,
) -> Result<Snapshot, RestoreError> {
    let trace_id = select::select(&mut trace, options, &mut warnings)?;
    sort::sort(&mut trace, &mut warnings);
    let kept = cut::events_kept(&trace, options)?;
    let (root, rules) = frames(&mut trace, kept, &mut warnings)?;
    let of_span = options.span_id.as_deref();
    let process_id = format!("restore:{}:{}", of_span.unwrap_or("latest"), options.now_ms);
    let provenance = Provenance {
        trace_id,
        span_id: options.span_id.clone(),
        anchor: of_span.map(|_| options.anchor),
        source: Some(SnapshotSource::Restore),
        first_run: rules.first_run,
        forked_from: None,
    };
    let clock = Clock::default();
    let mut snapshot = Snapshot::new(process_id, options.now_ms, root, clock, provenance);
    snapshot.metadata.clone_from(&options.metadata);
    snapshot.warnings = warnings.into_list();
    snapshot.normalize = rules.normalize;
    snapshot.redact = rules.redact;
    snapshot.recorder = rules.recorder;
    Ok(snapshot)
}

/// The normalization and redaction rules that a run was recorded with.
struct Rules {
    normalize: Option<JsonText>,
    redact: Option<JsonText>,
    recorder: Option<Recorder>,
    first_run: Option<String>,
}

/// Builds the frame tree. Returns its root and the rules of the run.
fn frames(
    trace: &mut Trace<'_>,
    kept: usize,
    warnings: &mut Warnings,
) -> Result<(Arc<Frame>, Rules), RestoreErrorKind> {
    missing::warn_of_missing_events(trace, kept, warnings);
    let topology = Topology::new(&mut trace.spans, &trace.events);
    let payloads = std::mem::take(&mut trace.payloads);
    let mut builder = Builder::new(trace, &topology, payloads, warnings);
    builder.apply(&trace.events[..kept])?;
    builder.close_orphans();
    builder.mark_stopped();
    let rules = Rules {
        normalize: builder.normalize.take(),
        redact: builder.redact.take(),
        recorder: builder.recorder.clone(),
        first_run: builder.first_run.take(),
    };
    Ok((builder.into_root()?, rules))
}
