//! A frame of a run, as TypeScript uses it.

mod objects;

use std::sync::Arc;

use agent_rewind_core::hash;
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{CallData, Flag, Kind, Outcome, Recorder, Request, State, Usage};
use agent_rewind_core::record::{CallInput, Ended, LiveFrame};
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::snapshot::{Provenance, Snapshot, SnapshotError, SnapshotSource};
use agent_rewind_core::util::Faults;
use napi::Env;
use napi::bindgen_prelude::ObjectFinalize;
use napi_derive::napi;

use crate::budget::BudgetHandle;
use crate::error::{Result, json_error, snapshot_error};
use crate::hash::{Conversation, RequestTail};
use crate::js_text::JsText;
use crate::meter::{ENTRY, Meter};
use crate::snapshot::SnapshotHandle;
use crate::text::{json_str, value};
use objects::{
    BindingFrameEntry, BindingFrameStart, BindingIncludedCall, BindingRecordedState,
    BindingRunOptions, BindingStartedCall, BindingUnused, call_slot, frame_input, included_call,
    memory_text, moment, run_options, started_call, to_count, to_number,
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
        Ok(Self {
            frame: LiveFrame::start_run(frame_input(root)?, source, run_options(&options))
                .continuing(options.first_run),
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
        Some(BindingFrameEntry {
            generation: to_number(entry.generation),
            props: props.map(|props| props.text.as_str().to_owned()),
            props_types: props
                .and_then(|props| props.types.as_ref())
                .map(|types| types.as_str().to_owned()),
            memory: memory_text(&entry.memory),
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

    /// The id of a call of this frame, which stays the same in runs that resume this one: 64 lower-case hex digits.
    #[napi(catch_unwind)]
    pub fn idempotency_key(
        &self,
        kind: String,
        content_hash: String,
        generation: f64,
        occurrence: u32,
        within: Option<String>,
    ) -> String {
        let kind = Kind::from_name(json_str(&kind));
        let within = within.as_deref().map(json_str);
        let generation = to_count(generation);
        let key = self.frame.idempotency_key(
            within.as_ref(),
            &kind,
            &content_hash,
            generation,
            occurrence,
        );
        key.to_string()
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

    /// Who records the run, and the rules that it replays and records under: JSON text of `{ version, flags }`.
    #[napi(getter, catch_unwind)]
    pub fn recorder(&self) -> String {
        let mut out = String::new();
        Recorder::this(self.frame.flags()).write(&mut out);
        out
    }

    /// True if the content of class instances is part of hashes.
    #[napi(getter, catch_unwind)]
    pub fn exact_content(&self) -> bool {
        self.frame.flags().has(Flag::ExactContent)
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

    /// Starts a call. `request` is JSON text. If `normalized` is given, it is hashed instead. `inexact`: the request
    /// has content that the hash does not cover. `within`: the callId of its outer call, as a JSON literal. `lane` is a
    /// JSON literal.
    #[napi(catch_unwind)]
    #[allow(
        clippy::too_many_arguments,
        reason = "an object of them would be made for each call"
    )]
    pub fn begin(
        &self,
        env: Env,
        #[napi(ts_arg_type = "string")] kind: JsText,
        #[napi(ts_arg_type = "string")] call_id: JsText,
        #[napi(ts_arg_type = "string")] request: JsText,
        foreign: Option<String>,
        normalized: Option<String>,
        inexact: Option<bool>,
        within: Option<String>,
        lane: Option<String>,
    ) -> Result<BindingStartedCall> {
        let hashed = normalized.as_deref().unwrap_or(&request);
        let hash = hash::content_hash(hashed).map_err(|error| json_error(&error))?;
        self.keep_request(env, request.len());
        let request = Request::document(request.into_string());
        let asked = CallInput {
            kind: Kind::from_name(json_str(&kind)),
            call_id: json_str(&call_id),
            within: within.as_deref().map(json_str),
            hash,
            lane: lane.map(JsonText::trusted),
            exact: inexact != Some(true),
            request: Some(request),
        };
        self.begin_asked(asked, foreign)
    }

    /// Starts a prompt. Its messages are those appended to the conversation so far.
    #[napi(catch_unwind)]
    #[allow(
        clippy::too_many_arguments,
        reason = "each argument crosses on its own"
    )]
    pub fn begin_prompt(
        &self,
        env: Env,
        #[napi(ts_arg_type = "string")] call_id: JsText,
        conversation: &Conversation,
        tail: &RequestTail,
        foreign: Option<String>,
        within: Option<String>,
        lane: Option<String>,
    ) -> Result<BindingStartedCall> {
        self.keep_request(env, conversation.take_unmetered());
        let prompting = conversation.prompting.borrow();
        let asked = CallInput {
            kind: Kind::Prompt,
            call_id: json_str(&call_id),
            within: within.as_deref().map(json_str),
            hash: prompting.hash(&tail.0),
            lane: lane.map(JsonText::trusted),
            exact: true,
            request: prompting.request(&tail.0),
        };
        self.begin_asked(asked, foreign)
    }

    fn begin_asked(&self, asked: CallInput, foreign: Option<String>) -> Result<BindingStartedCall> {
        let foreign = foreign
            .map(|request| hash::legacy_hash(&request))
            .transpose();
        let foreign = foreign
            .map_err(|error| json_error(&error))?
            .map(|hash| JsonStr::from_plain(&hash));
        let hash = asked.hash;
        Ok(started_call(self.frame.begin_call(asked, foreign), hash))
    }

    /// Notes the lane of an open call. `lane` is a JSON literal.
    #[napi(catch_unwind)]
    pub fn set_lane(&self, slot: f64, lane: String) {
        self.frame
            .set_lane(call_slot(slot), JsonText::trusted(lane));
    }

    /// Explains why no recorded request matches: a `MissExplanation` as JSON text. Absent if no request of this kind
    /// was kept. `request` is JSON text.
    #[napi(catch_unwind)]
    pub fn explain(&self, kind: String, request: String) -> Option<String> {
        let explanation = self
            .frame
            .explain(&Kind::from_name(json_str(&kind)), &request)?;
        let mut out = String::new();
        explanation.write_json(&mut out);
        Some(out)
    }

    /// Journals the output of a call. `data` is JSON text of a `CallData` object.
    #[napi(catch_unwind)]
    pub fn succeed(
        &self,
        env: Env,
        slot: f64,
        #[napi(ts_arg_type = "string")] output: JsText,
        types: Option<String>,
        data: Option<String>,
    ) -> bool {
        self.keep(
            env,
            output.len() + length(types.as_ref()) + length(data.as_ref()),
        );
        self.end_call(
            slot,
            Outcome::Output(value(output.into_string(), types)),
            data,
        )
    }

    /// Journals that a call ended with a value that cannot be recorded. `reason` is a JSON literal.
    #[napi(catch_unwind)]
    pub fn bury(&self, slot: f64, reason: String, data: Option<String>) -> bool {
        self.end_call(slot, Outcome::Tombstone(json_str(&reason)), data)
    }

    /// Journals the failure of a call. `error` is JSON text of an `ErrorInfo`.
    #[napi(catch_unwind)]
    pub fn fail(&self, env: Env, slot: f64, error: String, data: Option<String>) -> bool {
        self.keep(env, error.len() + length(data.as_ref()));
        self.end_call(
            slot,
            Outcome::Failure {
                error: JsonText::trusted(error),
                stopped: false,
                handled: false,
            },
            data,
        )
    }

    fn end_call(&self, slot: f64, outcome: Outcome, data: Option<String>) -> bool {
        self.frame.end_call(
            call_slot(slot),
            Ended {
                outcome,
                data: data.map(CallData::trusted).unwrap_or_default(),
            },
        )
    }

    /// Journals that the answer of a call is returned before the call ends. `recorded` is the position of that event
    /// in the recording. Returns true if it overtook an earlier recorded start or end.
    #[napi(catch_unwind)]
    pub fn head_received(&self, slot: Option<f64>, recorded: Option<f64>) -> bool {
        self.frame
            .answer_call(slot.map(call_slot), recorded.map(to_count))
    }

    /// Journals the end of a replayed call, whose recorded position is `end`. Returns true if it overtook an earlier
    /// recorded start or end.
    #[napi(catch_unwind)]
    pub fn release(&self, slot: Option<f64>, end: Option<f64>) -> bool {
        self.frame
            .release_call(slot.map(call_slot), end.map(to_count))
    }

    /// Notes that a partly recorded call is executed again.
    #[napi(catch_unwind)]
    pub fn reopen(&self, slot: Option<f64>, answered: Option<f64>, end: Option<f64>) {
        self.frame.reopen_call(
            slot.map(call_slot),
            answered.map(to_count),
            end.map(to_count),
        );
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

    /// The calls that were recorded inside a call of the frame and had ended, in the order of their starts. `call_id`: a
    /// JSON literal.
    #[napi(catch_unwind)]
    pub fn included_calls(&self, call_id: String) -> Vec<BindingIncludedCall> {
        let calls = self.frame.included_calls(&json_str(&call_id));
        calls.iter().map(included_call).collect()
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

    /// Notes that the program receives the failure of a call. `awaiters`: the functions that wait for it up to the frame,
    /// from the inside out, one per line; absent if some are missing. `alone`: nothing else of the frame is open.
    #[napi(catch_unwind)]
    pub fn hand_out(&self, slot: f64, awaiters: Option<String>, turn: f64, alone: bool) {
        let moment = moment(awaiters.as_deref(), turn);
        self.frame.hand_out(call_slot(slot), moment, alone);
    }

    /// Notes that the program receives the failure of this frame. As [`Self::hand_out`], for the frame above.
    #[napi(catch_unwind)]
    pub fn hand_out_frame(&self, awaiters: Option<String>, turn: f64, alone: bool) {
        let moment = moment(awaiters.as_deref(), turn);
        self.frame.hand_out_frame(moment, alone);
    }

    /// Notes that the program starts something, so the earlier failures that it has seen were handled. Returns the callIds
    /// of their calls and frames, as a JSON array. `awaiters` as in [`Self::hand_out`].
    #[napi(catch_unwind)]
    pub fn continues(&self, awaiters: Option<String>, turn: f64) -> String {
        let handled = self.frame.continues(&moment(awaiters.as_deref(), turn));
        let mut out = String::from("[");
        for (index, call_id) in handled.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            call_id.write_quoted(&mut out);
        }
        out.push(']');
        out
    }

    /// True if [`Self::continues`] may have something to mark.
    #[napi(getter, catch_unwind)]
    pub fn has_pending_failures(&self) -> bool {
        self.frame.has_pending_failures()
    }

    /// True if the recorded failure of the frame was handled.
    #[napi(getter, catch_unwind)]
    pub fn was_handled(&self) -> bool {
        self.frame.was_handled()
    }

    /// The next dump shows the failure of this call as the end of the run.
    #[napi(catch_unwind)]
    pub fn name_call(&self, slot: f64) {
        self.frame.name_call(call_slot(slot));
    }

    /// The next dump shows the failure of this frame as the end of the run.
    #[napi(catch_unwind)]
    pub fn name_frame(&self) {
        self.frame.name_frame();
    }

    /// Marks that the failure of a call ended the frame.
    #[napi(catch_unwind)]
    pub fn mark_stopped(&self, slot: f64) {
        self.frame.mark_stopped(call_slot(slot));
    }

    /// Marks that the failure of this frame ended the frame above.
    #[napi(catch_unwind)]
    pub fn mark_frame_stopped(&self) {
        self.frame.mark_frame_stopped();
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
            json_str(&key),
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
        snapshot.recorder = Some(Recorder::this(self.frame.flags()));
        snapshot.metadata = metadata.map(JsonText::trusted);
        snapshot.normalize = normalize.map(JsonText::trusted);
        snapshot.redact = redact.map(JsonText::trusted);
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
