//! A frame of a run, as TypeScript uses it.

mod calls;
mod failures;
mod objects;

use std::sync::Arc;

use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{Flag, Recorder, State, Usage};
use agent_rewind_core::record::LiveFrame;
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::snapshot::{
    Provenance, Snapshot, SnapshotError, SnapshotSource, write_memory,
};
use agent_rewind_core::util::Faults;
use napi::Env;
use napi::bindgen_prelude::ObjectFinalize;
use napi_derive::napi;

use crate::budget::BudgetHandle;
use crate::error::{Result, snapshot_error};
use crate::js_text::JsText;
use crate::meter::{ENTRY, Meter};
use crate::snapshot::SnapshotHandle;
use crate::text::value;
use objects::{
    BindingFrameEntry, BindingFrameStart, BindingRecordedState, BindingRunOptions, BindingUnused,
    frame_input, run_options, to_number,
};

#[napi(custom_finalize)]
pub struct FrameHandle {
    frame: LiveFrame,
    meter: Meter,
    /// Memory of the replayed snapshot.
    source: Option<Meter>,
    keeps: Keeps,
}

/// The parts of a run that are kept.
#[derive(Clone, Copy)]
struct Keeps {
    calls: bool,
    requests: bool,
}

impl ObjectFinalize for FrameHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        let Self {
            frame,
            meter,
            source,
            ..
        } = self;
        drop(frame);
        meter.release(env);
        if let Some(source) = source {
            source.release(env);
        }
        Ok(())
    }
}

#[napi]
impl FrameHandle {
    /// Starts a run and returns its root frame.
    #[napi(factory, catch_unwind)]
    pub fn start_run(
        root: BindingFrameStart,
        options: BindingRunOptions,
        snapshot: Option<&SnapshotHandle>,
    ) -> Result<Self> {
        let source = snapshot
            .map(|handle| ReplaySource::of_tree(handle.snapshot.tree(), handle.snapshot.flags()));
        let frame = LiveFrame::start_run(frame_input(root)?, source, run_options(&options))
            .continuing(options.first_run);
        frame.set_salt(snapshot.and_then(|handle| handle.snapshot.recorder.as_ref()?.salt.clone()));
        Ok(Self {
            frame,
            meter: Meter::default(),
            source: snapshot.map(|handle| handle.meter.clone()),
            keeps: Keeps {
                calls: options.recording,
                requests: options.recording && options.requests,
            },
        })
    }

    #[napi(catch_unwind)]
    pub fn open_child(&self, env: Env, child: BindingFrameStart) -> Result<Self> {
        let bytes = ENTRY + child.input.len();
        let frame = self.frame.open_child(frame_input(child)?);
        self.keep(env, bytes);
        Ok(Self {
            frame,
            meter: self.meter.clone(),
            source: self.source.clone(),
            keeps: self.keeps,
        })
    }

    /// Counts recorded bytes.
    fn keep(&self, env: Env, bytes: usize) {
        if self.keeps.calls {
            self.meter.grow(env, bytes);
        }
    }

    fn keep_request(&self, env: Env, bytes: usize) {
        self.keep(env, ENTRY);
        if self.keeps.requests {
            self.meter.grow(env, bytes);
        }
    }

    /// The start of a frame that has a recording. Absent otherwise.
    #[napi(catch_unwind)]
    pub fn entry(&self) -> Option<BindingFrameEntry> {
        let entry = self.frame.entry()?;
        let props = entry.props.as_ref();
        let types = props.and_then(|props| props.types.as_ref());
        let mut memory = String::new();
        write_memory(&entry.memory, &mut memory);
        Some(BindingFrameEntry {
            generation: to_number(entry.generation),
            props: props.map(|props| props.text.as_str().to_owned()),
            props_types: types.map(|types| types.as_str().to_owned()),
            memory,
        })
    }

    /// The hash of the frame's input: 64 lower-case hex digits, after `inexact:` if it does not cover the whole input.
    #[napi(getter, catch_unwind)]
    pub fn input_hash(&self) -> String {
        self.frame.input_hash().to_string()
    }

    /// The id of the frame, which stays the same in runs that resume this one. That of the root is the id of the first
    /// run.
    #[napi(getter, catch_unwind)]
    pub fn identity(&self) -> String {
        self.frame.identity().to_owned()
    }

    /// The calls of the recording that had started and not ended, in this frame and those under it: JSON text of a list
    /// of `{ kind, callId, contentHash, idempotencyKey }`.
    #[napi(catch_unwind)]
    pub fn in_flight(&self) -> String {
        self.frame.in_flight()
    }

    /// The frame's position in the recorded order of ends.
    #[napi(getter, catch_unwind)]
    pub fn release_order(&self) -> Option<f64> {
        self.frame.release_order().map(to_number)
    }

    /// Who records the run, and the rules that it replays and records under: JSON text of
    /// `{ version, flags, salt? }`.
    #[napi(getter, catch_unwind)]
    pub fn recorder(&self) -> String {
        let mut out = String::new();
        Recorder::this(self.frame.flags(), self.frame.salt()).write(&mut out);
        out
    }

    /// The key of the digests of secrets in the run's requests. `fresh` becomes the key if the recording has no key yet.
    #[napi(catch_unwind)]
    pub fn salt(&self, fresh: String) -> String {
        let salt = self.frame.salt().unwrap_or(fresh);
        self.frame.set_salt(Some(salt.clone()));
        salt
    }

    /// True if the run has the replay flag with this number.
    #[napi(catch_unwind)]
    pub fn has_flag(&self, number: u32) -> bool {
        let flags = self.frame.flags();
        flags.numbers().any(|known| known == number)
    }

    /// True if requests must also be looked up by the hash of another recorder.
    #[napi(getter, catch_unwind)]
    pub fn has_foreign_hashes(&self) -> bool {
        self.frame.has_foreign_hashes()
    }

    /// True if calls and frames inside a call belong to it.
    #[napi(getter, catch_unwind)]
    pub fn has_inner_calls(&self) -> bool {
        self.frame.flags().has(Flag::InnerCalls)
    }

    /// True if a retry that a client reports belongs to the call that it repeats.
    #[napi(getter, catch_unwind)]
    pub fn has_own_attempts(&self) -> bool {
        self.frame.flags().has(Flag::OwnAttempts)
    }

    /// True if calls must be started with their lanes.
    #[napi(getter, catch_unwind)]
    pub fn has_lanes(&self) -> bool {
        self.frame.has_lanes()
    }

    /// Notes that the frame reached its recorded end. Returns true if it overtook an earlier recorded start or end.
    #[napi(catch_unwind)]
    pub fn reach_end(&self) -> bool {
        self.frame.reach_end()
    }

    /// The state of the recorded frame, if its result can be reused for this one.
    #[napi(catch_unwind)]
    pub fn recorded_state(&self) -> Option<BindingRecordedState> {
        let (status, text, types) = match &self.frame.reusable()?.state {
            State::Running => ("running", None, None),
            State::Completed(output) => ("completed", Some(&output.text), output.types.as_ref()),
            State::Failed(error) => ("failed", error.as_ref(), None),
        };
        let owned = |text: &JsonText| text.as_str().to_owned();
        Some(BindingRecordedState {
            status: status.to_owned(),
            text: text.map(owned),
            types: types.map(owned),
            retried: status == "failed" && self.frame.failure_is_retried(),
        })
    }

    /// Ends the frame with its recorded outcome, without executing it.
    #[napi(catch_unwind)]
    pub fn adopt(&self) -> bool {
        self.frame.adopt()
    }

    /// "own" if the frame has a recording, "lent" if it only borrows the entries of one, otherwise "none".
    #[napi(getter, catch_unwind)]
    pub fn recording(&self) -> String {
        let name = match (self.frame.recorded(), self.frame.unused()) {
            (Some(_), _) => "own",
            (None, Some(_)) => "lent",
            (None, None) => "none",
        };
        name.to_owned()
    }

    /// The recorded entries of the frame that were not requested. Absent without a recording.
    #[napi(catch_unwind)]
    pub fn unused(&self) -> Option<BindingUnused> {
        let (calls, frames) = self.frame.unused()?;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Some(BindingUnused {
            calls: count(calls),
            frames: count(frames),
        })
    }

    /// `key` is a JSON literal, `value` JSON text.
    #[napi(catch_unwind)]
    pub fn set_memory(
        &self,
        env: Env,
        #[napi(ts_arg_type = "string")] key: JsText,
        #[napi(ts_arg_type = "string")] value: JsText,
        initial: bool,
    ) {
        self.keep(env, ENTRY + value.len());
        self.frame.set_memory(
            JsonStr::from_literal(&key),
            JsonText::trusted(value.into_string()),
            initial,
        );
    }

    #[napi(catch_unwind)]
    pub fn next_generation(&self, props: Option<String>, types: Option<String>) {
        self.frame
            .next_generation(props.map(|text| value(text, types)));
    }

    #[napi(catch_unwind)]
    pub fn complete(
        &self,
        env: Env,
        #[napi(ts_arg_type = "string")] output: JsText,
        types: Option<String>,
    ) {
        self.keep(env, output.len() + length(types.as_ref()));
        self.frame
            .end(State::Completed(value(output.into_string(), types)));
    }

    /// Ends the frame with a failure. `error` is JSON text of an `ErrorInfo`.
    #[napi(catch_unwind)]
    pub fn end_failed(&self, error: String) {
        self.frame
            .end(State::Failed(Some(JsonText::trusted(error))));
    }

    /// Adds usage to this frame and the frames above it. `delta` is JSON text of a `UsageStats` object.
    #[napi(catch_unwind)]
    pub fn add_usage(&self, delta: String) -> Result<()> {
        let delta = Usage::read(&delta, "delta")
            .map_err(|faults| snapshot_error(&SnapshotError::Invalid(Faults(faults))))?;
        self.frame.add_usage(&delta);
        Ok(())
    }

    /// The usage of the frame so far.
    #[napi(catch_unwind)]
    pub fn budget(&self) -> BudgetHandle {
        BudgetHandle::from(self.frame.budget())
    }

    /// A snapshot of the whole run at this moment. `metadata` and `redact` are JSON texts of objects, `normalize` of
    /// a list of rules. `run` is the callId of the run to be dumped alone, if it is inside a recording session.
    /// `without_unused` leaves out the part of the recording that the run has not requested.
    #[napi(catch_unwind)]
    #[allow(
        clippy::too_many_arguments,
        reason = "an object of them would be made for each dump"
    )]
    pub fn dump(
        &self,
        timestamp: f64,
        trace_id: String,
        span_id: String,
        metadata: Option<String>,
        normalize: Option<String>,
        redact: Option<String>,
        run: Option<String>,
        without_unused: Option<bool>,
    ) -> SnapshotHandle {
        let first_run = match run {
            Some(_) => self.frame.identity_below_root(),
            None => self.frame.first_run(),
        };
        let provenance = Provenance {
            trace_id: trace_id.clone(),
            span_id: Some(span_id),
            source: Some(SnapshotSource::Dump),
            first_run: Some(first_run.to_owned()),
            ..Provenance::default()
        };
        let (root, clock) = (self.frame.dump(), self.frame.clock());
        let mut snapshot = Snapshot::new(trace_id, timestamp, root, clock, provenance);
        snapshot.recorder = Some(Recorder::this(self.frame.flags(), self.frame.salt()));
        snapshot.metadata = metadata.map(JsonText::trusted);
        snapshot.normalize = normalize.map(JsonText::trusted);
        snapshot.redact = redact.map(JsonText::trusted);
        snapshot.without_carry_over = without_unused == Some(true);
        let snapshot = match run {
            Some(call_id) => snapshot.of_run(&JsonStr::from_plain(&call_id)),
            None => snapshot,
        };
        SnapshotHandle {
            snapshot: Arc::new(snapshot),
            meter: self.meter.clone(),
        }
    }
}

fn length(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}
