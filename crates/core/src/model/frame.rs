//! Frames: one for a run, one for each call of an agent, in a tree that snapshots share.

use std::sync::Arc;

use rpds::VectorSync;

use super::journal::{Call, Row, Value};
use super::memory::Memory;
use super::usage::Budget;
use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};

#[derive(Debug, Clone)]
pub struct Frame {
    pub call_id: JsonStr,
    /// Empty for the frame of `runWith`.
    pub agent_id: JsonStr,
    /// The callId of the call of its parent that it was opened inside of.
    pub within: Option<JsonStr>,
    /// Hash of the input (props); `None` in recordings that lack it.
    pub input_hash: Option<InputHash>,
    /// Orders of its start and end in the run, if they are known.
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub state: State,
    /// This frame failed, and its parent frame ended with that failure.
    pub stopped: bool,
    /// This frame failed, and its parent continued after that.
    pub handled: bool,
    /// The current memory.
    pub memory: Memory,
    /// Keys of the memory that were edited, added or removed in a snapshot.
    pub edited: Vec<JsonStr>,
    /// The last generation.
    pub generation: Generation,
    pub earlier: VectorSync<Arc<Generation>>,
    pub budget: Budget,
    /// The recorded frame that this one replays. A dump carries over the part of it that was not requested.
    pub recorded: Option<Arc<Frame>>,
    /// Position of that frame in its recorded parent.
    pub replays: Option<usize>,
    pub divergence: Divergence,
}

/// How a frame differs from the recording that its run replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Divergence {
    /// Everything in it and under it comes from the recording, or there is no recording.
    #[default]
    None,
    /// Something in it or under it is not in the recording.
    Diverged,
    /// Copied from the earlier recording. This run has not requested it yet.
    NotReplayedYet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Running,
    Completed(Value),
    /// With an `ErrorInfo` object, if the error is known.
    Failed(Option<JsonText>),
}

/// One pass of an agent's handler, from its start to its return, failure or rebirth.
#[derive(Debug, Clone)]
pub struct Generation {
    pub id: u64,
    /// The props of the handler, if they are known and can be restored from JSON.
    pub props: Option<Value>,
    /// The memory at the start; `None` in recordings that lack it.
    pub memory: Option<Memory>,
    pub calls: VectorSync<Arc<Call>>,
    pub children: VectorSync<Arc<Frame>>,
    pub rows: VectorSync<Arc<Row>>,
}

impl Generation {
    pub fn new(id: u64, props: Option<Value>, memory: Option<Memory>) -> Self {
        Self {
            id,
            props,
            memory,
            calls: VectorSync::new_sync(),
            children: VectorSync::new_sync(),
            rows: VectorSync::new_sync(),
        }
    }

    /// Start of the last call or child. Carried over entries do not count: their order is after everything else, but
    /// they were not started after it.
    pub fn last_start(&self) -> Option<u64> {
        let calls = self.calls.iter().filter(|call| !call.carried_over);
        let children = self
            .children
            .iter()
            .filter(|child| child.divergence != Divergence::NotReplayedYet);
        let calls = calls.map(|call| Some(call.start));
        calls
            .chain(children.map(|child| child.start))
            .flatten()
            .max()
    }

    /// True if something in it was asked inside a call.
    pub fn has_inner(&self) -> bool {
        self.calls.iter().any(|call| call.within.is_some())
            || self.children.iter().any(|child| child.within.is_some())
    }

    /// True if there are entries to replay.
    pub fn has_records(&self) -> bool {
        !self.calls.is_empty() || !self.children.is_empty() || !self.rows.is_empty()
    }
}

impl Frame {
    pub fn new(call_id: JsonStr, agent_id: JsonStr, generation: Generation) -> Self {
        let memory = generation.memory.clone().unwrap_or_default();
        Self {
            call_id,
            agent_id,
            within: None,
            input_hash: None,
            start: None,
            end: None,
            state: State::Running,
            stopped: false,
            handled: false,
            memory,
            edited: Vec::new(),
            generation,
            earlier: VectorSync::new_sync(),
            budget: Budget::default(),
            recorded: None,
            replays: None,
            divergence: Divergence::default(),
        }
    }

    /// The prefix of the callIds in it, before the slash: in the frame of a run, they start at the run.
    pub fn base(&self) -> &str {
        base_of(&self.agent_id, &self.call_id)
    }

    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }
}

/// As [`Frame::base`].
pub(crate) fn base_of<'a>(agent_id: &JsonStr, call_id: &'a JsonStr) -> &'a str {
    if agent_id.body().is_empty() {
        "root"
    } else {
        call_id.body()
    }
}

/// The error of an agent whose parent ended before it did.
pub fn orphaned_error(parent_agent_id: &JsonStr) -> JsonText {
    let parent = if parent_agent_id.body().is_empty() {
        "the run".to_owned()
    } else {
        format!(r#"its parent agent \"{}\""#, parent_agent_id.body())
    };
    JsonText::trusted(format!(
        r#"{{"name":"AbortError","message":"Operation aborted: {parent} ended before this agent did"}}"#
    ))
}
