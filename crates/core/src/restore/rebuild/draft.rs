//! The frame tree while it is built from events.

use std::borrow::Cow;

use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{Budget, CallData, Kind, Memory, Outcome, RequestHash, State, Value};
use crate::restore::read::event::SpanIndex;
use crate::restore::read::usage_sum::UsageSum;

/// Index of a frame, generation or call in the lists of the [`Builder`](super::builder::Builder).
pub(crate) type Index = u32;
pub(crate) const NONE: Index = Index::MAX;

pub(crate) const RUN_FRAME: Index = 0;

#[derive(Debug)]
pub(crate) struct FrameDraft {
    /// The span of the agent; [`NO_SPAN`](crate::restore::read::event::NO_SPAN) for the frame of the run.
    pub span: SpanIndex,
    /// The frame that called it; [`NONE`] for the frame of the run.
    pub parent: Index,
    /// The generation of the parent that called it.
    pub in_generation: Index,
    /// The number of nested agents, including this one.
    pub depth: usize,
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    pub within: Option<JsonStr>,
    pub input_hash: Option<InputHash>,
    /// The props of the first generation.
    pub props: Option<Value>,
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub state: State,
    pub stopped: bool,
    pub handled: bool,
    /// The failures that it ended with: callIds of calls and sub-agents. `None` if its end does not name them.
    pub failed_by: Option<Vec<JsonStr>>,
    /// In order of start.
    pub generations: Vec<Index>,
    /// The usage before this run, if the run continued from a snapshot.
    pub budget: Option<Budget>,
    /// The usage in this run.
    pub usage: Option<UsageSum>,
}

impl FrameDraft {
    pub(crate) fn new(span: SpanIndex, parent: Index, call_id: JsonStr, agent_id: JsonStr) -> Self {
        Self {
            span,
            parent,
            in_generation: NONE,
            depth: 0,
            call_id,
            agent_id,
            within: None,
            input_hash: None,
            props: None,
            start: None,
            end: None,
            state: State::Running,
            stopped: false,
            handled: false,
            failed_by: None,
            generations: Vec::new(),
            budget: None,
            usage: None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct GenerationDraft {
    /// False if it contains only calls and children that were recorded outside of any generation's span.
    pub has_span: bool,
    pub id: u64,
    pub props: Option<Value>,
    /// The memory at its start, if an event contains it.
    pub memory: Option<Memory>,
    /// The initial values of keys that were set up during the generation. They count as part of its start.
    pub initial: Vec<(JsonStr, JsonText)>,
    pub end: Option<GenerationEnd>,
    /// The props for the next generation, if the agent was reborn with new ones.
    pub new_props: Option<Value>,
    /// In the order of their first events.
    pub calls: Vec<Index>,
    /// In order of start.
    pub children: Vec<Index>,
    /// The order of the last batch of tool calls. Middleware may have blocked all calls of the batch.
    pub last_batch: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct GenerationEnd {
    pub reborn: bool,
    pub memory: Option<Memory>,
    /// The state of the agent if its own end event is missing.
    pub state: State,
}

#[derive(Debug)]
pub(crate) struct CallDraft<'t> {
    pub kind: Kind,
    /// The name in the callId, if the events contain no callId.
    pub name: Option<Cow<'t, str>>,
    pub call_id: Option<JsonStr>,
    pub within: Option<JsonStr>,
    pub hash: Option<RequestHash>,
    /// The span of its last attempt.
    pub span: SpanIndex,
    pub start: u64,
    pub answered: Option<u64>,
    pub end: Option<u64>,
    /// `None` until it has ended.
    pub outcome: Option<Outcome>,
    pub data: CallData,
    /// It is a failure that a recording before this run knew as handled.
    pub handled_when_recorded: bool,
}

/// The error of a failed call whose event contains no error.
pub(crate) fn unknown_error() -> JsonText {
    JsonText::trusted(
        r#"{"name":"Error","message":"the call failed; its event contains no error"}"#.to_owned(),
    )
}
