//! The calls of a frame, from their starts to their ends.

use agent_rewind_core::hash;
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{CallData, Kind, Outcome, Request};
use agent_rewind_core::record::{CallInput, Ended};
use napi::Env;
use napi_derive::napi;

use super::objects::{
    BindingIncludedCall, BindingStartedCall, call_slot, included_call, started_call, to_count,
};
use super::{FrameHandle, length};
use crate::error::{Result, json_error};
use crate::hash::{Conversation, RequestTail};
use crate::js_text::JsText;
use crate::text::value;

#[napi]
impl FrameHandle {
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
        let kind = Kind::from_name(JsonStr::from_literal(&kind));
        let within = within.as_deref().map(JsonStr::from_literal);
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
        let hash = hash::content_hash(hashed).map_err(json_error)?;
        self.keep_request(env, request.len());
        let request = Request::document(request.into_string());
        let asked = CallInput {
            kind: Kind::from_name(JsonStr::from_literal(&kind)),
            call_id: JsonStr::from_literal(&call_id),
            within: within.as_deref().map(JsonStr::from_literal),
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
            call_id: JsonStr::from_literal(&call_id),
            within: within.as_deref().map(JsonStr::from_literal),
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
            .map_err(json_error)?
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
            .explain(&Kind::from_name(JsonStr::from_literal(&kind)), &request)?;
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
        self.end_call(
            slot,
            Outcome::Tombstone(JsonStr::from_literal(&reason)),
            data,
        )
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

    /// The calls that were recorded inside a call of the frame and had ended, in the order of their starts. `call_id`: a
    /// JSON literal.
    #[napi(catch_unwind)]
    pub fn included_calls(&self, call_id: String) -> Vec<BindingIncludedCall> {
        let calls = self.frame.included_calls(&JsonStr::from_literal(&call_id));
        calls.iter().map(included_call).collect()
    }
}
