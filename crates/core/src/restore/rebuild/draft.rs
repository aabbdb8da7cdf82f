//! The frame tree while it is put together from events.

use std::borrow::Cow;

use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{Budget, Kind, Memory, Outcome, RequestHash, State, Value};
use crate::restore::read::event::SpanIndex;
use crate::restore::read::usage_sum::UsageSum;

/// Index of a frame, generation or call in the lists of the [`Builder`](super::builder::Builder).
pub(crate) type Index = u32;
pub(crate) const NONE: Index = Index::MAX;

/// The frame of the run itself.
pub(crate) const RUN_FRAME: Index = 0;

#[derive(Debug)]
pub(crate) struct FrameDraft<'t> {
    /// The agent's span; of the run's frame, none.
    pub span: SpanIndex,
    /// The frame that it was called in; [`NONE`] for the run's.
    pub parent: Index,
    /// The generation of the parent that it was called in.
    pub in_generation: Index,
    /// How many agents it is nested in, itself included.
    pub depth: usize,
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    pub input_hash: Option<ContentHash>,
    /// What the agent was called with: the props of its first generation.
    pub props: Option<Value>,
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub state: State,
    pub stopped: bool,
    /// In order of start.
    pub generations: Vec<Index>,
    /// What the frame used before this run, where it goes on from a snapshot.
    pub budget: Option<Budget>,
    /// What it used in this run.
    pub usage: Option<UsageSum<'t>>,
}

#[derive(Debug, Default)]
pub(crate) struct GenerationDraft {
    /// Whether a generation's span stands behind it, or only what was recorded outside of any.
    pub has_span: bool,
    pub id: u64,
    pub props: Option<Value>,
    /// The memory at its start, where its event says so.
    pub memory: Option<Memory>,
    /// First values of keys that were set up in it: they count as there at its start.
    pub initial: Vec<(JsonStr, JsonText)>,
    pub end: Option<GenerationEnd>,
    /// The props for the next generation, if the agent was reborn with new ones.
    pub new_props: Option<Value>,
    /// In the order in which their events came.
    pub calls: Vec<Index>,
    /// In order of start.
    pub children: Vec<Index>,
    /// Where the last tool calls were asked for, whose middlewares may not have let them pass.
    pub last_batch: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct GenerationEnd {
    pub reborn: bool,
    pub memory: Option<Memory>,
    /// How the agent's end must read, should its event be missing.
    pub state: State,
}

#[derive(Debug)]
pub(crate) struct CallDraft<'t> {
    pub kind: Kind,
    /// What the callId is made with where the events give none.
    pub name: Option<Cow<'t, str>>,
    pub call_id: Option<JsonStr>,
    pub hash: Option<RequestHash>,
    /// Of its last attempt, where its client tried again.
    pub span: SpanIndex,
    pub start: u64,
    pub answered: Option<u64>,
    pub end: Option<u64>,
    /// `None` until it ended.
    pub outcome: Option<Outcome>,
    pub meta: Option<JsonText>,
}

/// The text of the error of a call whose event gives none.
pub(crate) fn unknown_error() -> JsonText {
    JsonText::trusted(
        r#"{"name":"Error","message":"failed; its event does not say why"}"#.to_owned(),
    )
}
