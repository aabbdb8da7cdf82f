//! The plain objects that cross the binding for frames, and their conversions.

use std::sync::Arc;

use agent_rewind_core::hash::{self, ContentHash, InputHash};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{Call, Outcome};
use agent_rewind_core::record::{
    Awaiters, CallSlot, FrameInput, Moment, RunOptions as CoreOptions, StartedCall,
};
use agent_rewind_core::replay::{Answer, Failures, MemoryChoice, Miss, Verdict};
use napi_derive::napi;

use crate::error::{Result, json_error};
use crate::text::value;

#[napi(object)]
pub struct BindingRunOptions {
    pub recording: bool,
    /// Keep the request of each call.
    pub requests: bool,
    /// "auto", "replay" or "retry".
    pub failures: Option<String>,
    /// "auto", "start" or "dump".
    pub memory: Option<String>,
    /// Id of the run that was not resumed from another one.
    pub first_run: String,
}

/// The identity and the input of a frame. Strings are JSON literals, the input is JSON text.
#[napi(object)]
pub struct BindingFrameStart {
    pub call_id: String,
    pub agent_id: String,
    /// The callId of the call of the frame above that the frame is opened inside of.
    pub within: Option<String>,
    pub input: String,
    pub input_types: Option<String>,
    /// True if the input can be restored from its text.
    pub restorable: bool,
    /// True if the input has content that its hash does not cover.
    pub inexact: bool,
    /// JSON text to hash instead of the input.
    pub normalized: Option<String>,
}

/// The start of a frame that has a recording.
#[napi(object)]
pub struct BindingFrameEntry {
    pub generation: f64,
    pub props: Option<String>,
    pub props_types: Option<String>,
    /// JSON text of an object.
    pub memory: String,
}

/// A call that has begun, and its recorded answer.
#[napi(object)]
pub struct BindingStartedCall {
    /// Identifies the call when it ends. Absent if nothing is recorded.
    pub slot: Option<f64>,
    pub content_hash: String,
    /// "output", "failure", "handled-failure", or the reason why the call must be executed.
    pub answer: String,
    /// True if the answer is "retry" because nothing shows that the program had handled the failure.
    pub unproven: Option<bool>,
    pub text: Option<String>,
    pub types: Option<String>,
    /// The recorded position of the answer, if it came before the end, and of the end. They determine the order of
    /// release.
    pub answered: Option<f64>,
    pub end: Option<f64>,
    /// The same number for all calls that are released together.
    pub tick: Option<f64>,
    /// The recorded data of the call: JSON text of a `CallData` object.
    pub data: Option<String>,
    /// The number of earlier calls with the same request. Absent if it is 0.
    pub occurrence: Option<u32>,
    /// What was recorded inside the call. Absent if that is nothing, or if the call must be executed.
    pub included: Option<BindingIncluded>,
    /// True if the answer is a failure after which the recording has the same request again.
    pub asked_again: Option<bool>,
}

/// What was recorded inside a call, and is used up with it.
#[napi(object)]
pub struct BindingIncluded {
    /// The number of calls that had ended, also in frames.
    pub calls: u32,
    /// The callIds in the frame of the call, without the path of that frame.
    pub names: Vec<String>,
}

/// A recorded call inside another one.
#[napi(object)]
pub struct BindingIncludedCall {
    pub kind: String,
    pub name: String,
    pub call_id: String,
    /// The request document as JSON text, if it was kept.
    pub request: Option<String>,
    pub failed: bool,
    /// The output, or the `ErrorInfo` if the call failed: JSON text.
    pub text: String,
    pub types: Option<String>,
}

/// The state of a recorded frame.
#[napi(object)]
pub struct BindingRecordedState {
    /// "running", "completed" or "failed".
    pub status: String,
    /// The output or the `ErrorInfo` as JSON text.
    pub text: Option<String>,
    pub types: Option<String>,
    /// True if a resumed run executes the frame again because of its failure.
    pub retried: bool,
}

/// Recorded entries that were not requested.
#[napi(object)]
pub struct BindingUnused {
    pub calls: u32,
    pub frames: u32,
}

pub(super) fn frame_input(start: BindingFrameStart) -> Result<FrameInput> {
    let hash = match &start.normalized {
        Some(normalized) => hash::content_hash(normalized),
        None => hash::input_hash(&start.input, start.input_types.as_deref()),
    };
    let hash = hash.map_err(json_error)?;
    Ok(FrameInput {
        call_id: JsonStr::from_literal(&start.call_id),
        agent_id: JsonStr::from_literal(&start.agent_id),
        within: start.within.as_deref().map(JsonStr::from_literal),
        hash: InputHash {
            hash,
            exact: !start.inexact,
        },
        props: start
            .restorable
            .then(|| value(start.input, start.input_types)),
    })
}

pub(super) fn run_options(options: &BindingRunOptions) -> CoreOptions {
    CoreOptions {
        recording: options.recording,
        requests: options.requests,
        failures: match options.failures.as_deref() {
            Some("replay") => Failures::Replay,
            Some("retry") => Failures::Retry,
            _ => Failures::Auto,
        },
        memory: match options.memory.as_deref() {
            Some("start") => MemoryChoice::Start,
            Some("dump") => MemoryChoice::Dump,
            _ => MemoryChoice::Auto,
        },
    }
}

pub(super) fn started_call(started: StartedCall, hash: ContentHash) -> BindingStartedCall {
    let Answer {
        verdict,
        call,
        handled,
        asked_again,
        ..
    } = started.answer;
    let unknown = Verdict::Miss(Miss::Retry {
        handled_is_unknown: true,
    });
    let unproven = (verdict == unknown).then_some(true);
    let owned = |text: JsonText| text.as_str().to_owned();
    let (answer, text, types) = match verdict {
        Verdict::Output(value) => ("output", Some(owned(value.text)), value.types.map(owned)),
        Verdict::Failure(error) if handled => ("handled-failure", Some(owned(error)), None),
        Verdict::Failure(error) => ("failure", Some(owned(error)), None),
        Verdict::Miss(miss) => (miss_name(miss), None, None),
    };
    BindingStartedCall {
        slot: started.slot.map(|slot| to_number(slot.to_number())),
        content_hash: hash.to_string(),
        answer: answer.to_owned(),
        unproven,
        text,
        types,
        answered: call.as_ref().and_then(|call| call.answered).map(to_number),
        end: call.as_ref().and_then(|call| call.end).map(to_number),
        tick: started.tick.map(to_number),
        data: call.as_ref().and_then(|call| call.data.to_json()),
        occurrence: (started.occurrence > 0).then_some(started.occurrence),
        included: started.included.map(|included| BindingIncluded {
            calls: u32::try_from(included.calls).unwrap_or(u32::MAX),
            names: included.names.iter().map(ToString::to_string).collect(),
        }),
        asked_again: asked_again.then_some(true),
    }
}

pub(super) fn included_call((name, call): &(JsonStr, Arc<Call>)) -> BindingIncludedCall {
    let (failed, text, types) = match &call.outcome {
        Outcome::Output(value) => (false, value.text.as_str(), value.types.as_ref()),
        Outcome::Failure { error, .. } => (true, error.as_str(), None),
        Outcome::Pending | Outcome::Tombstone(_) => (false, "null", None),
    };
    BindingIncludedCall {
        kind: JsonStr::from_normalized_body(call.kind.name()).to_string(),
        name: name.to_string(),
        call_id: call.call_id.to_string(),
        request: call
            .request
            .as_ref()
            .and_then(|request| Some(request.pieces()?.concat())),
        failed,
        text: text.to_owned(),
        types: types.map(|types| types.as_str().to_owned()),
    }
}

fn miss_name(miss: Miss) -> &'static str {
    match miss {
        Miss::NoRecording => "no-recording",
        Miss::NotRecorded => "not-recorded",
        Miss::InFlight => "in-flight",
        Miss::Tombstone => "tombstone",
        Miss::Retry { .. } => "retry",
        Miss::Inexact => "inexact",
    }
}

/// `awaiters`: names from the inside out, one per line. Absent if some are missing.
pub(super) fn moment(awaiters: Option<&str>, turn: f64) -> Moment {
    Moment {
        awaiters: awaiters.map(Awaiters::read),
        turn: to_count(turn),
    }
}

// Positions and slots stay far below 2^53, where doubles are exact.
#[allow(clippy::cast_precision_loss)]
pub(super) fn to_number(count: u64) -> f64 {
    count as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn to_count(number: f64) -> u64 {
    number as u64
}

pub(super) fn call_slot(number: f64) -> CallSlot {
    CallSlot::from_number(to_count(number))
}
