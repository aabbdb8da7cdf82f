//! Frames: one for a run, one for each call of an agent, in a tree that snapshots share.

use std::sync::Arc;

use rpds::VectorSync;

use super::journal::{Call, Outcome, Row, Value};
use super::memory::Memory;
use super::usage::Budget;
use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};

#[derive(Debug, Clone)]
pub struct Frame {
    pub call_id: JsonStr,
    /// Empty for the frame of `runWith`.
    pub agent_id: JsonStr,
    /// Hash of the input (props); `None` in recordings that lack it.
    pub input_hash: Option<ContentHash>,
    /// Places in the run's order of starts and ends, where known.
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub state: State,
    /// This frame failed, and its parent frame ended with that failure.
    pub stopped: bool,
    /// This frame failed, and its parent went on after that.
    pub handled: bool,
    /// The memory as it stands.
    pub memory: Memory,
    /// Keys of it that somebody edited, added or took out in a snapshot.
    pub edited: Vec<JsonStr>,
    /// The last generation.
    pub generation: Generation,
    pub earlier: VectorSync<Arc<Generation>>,
    pub budget: Budget,
    /// The recorded frame that this one is replaying; what it has not reached of it stays recorded.
    pub continues: Option<Arc<Frame>>,
    /// Which child of its recorded parent that is.
    pub taken: Option<usize>,
    pub course: Course,
}

/// How a frame stands to the recording that its run replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Course {
    /// All in it, and under it, is of the frame that it replays; or there is no recording.
    #[default]
    AsRecorded,
    /// Something is new.
    Changed,
    /// Recorded by an earlier run, and not reached yet by the one that replays it.
    Unreached,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Running,
    Completed(Value),
    /// With an `ErrorInfo` object, where one is known.
    Failed(Option<JsonText>),
}

/// One pass of an agent's handler, from its start to its return, failure or rebirth.
#[derive(Debug, Clone)]
pub struct Generation {
    pub id: u64,
    /// What the handler was called with, where it is known and can be brought back.
    pub props: Option<Value>,
    /// The memory at the start; `None` in recordings that lack it.
    pub memory: Option<Memory>,
    pub calls: VectorSync<Arc<Call>>,
    pub children: VectorSync<Arc<Frame>>,
    pub rows: VectorSync<Arc<Row>>,
}

impl Generation {
    #[must_use]
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

    /// Start of the last call or child. What an earlier run recorded and this one has not reached comes
    /// after everything in the order of places, but was not started after it.
    #[must_use]
    pub fn last_start(&self) -> Option<u64> {
        let calls = self.calls.iter().filter(|call| !call.unreached);
        let children = self
            .children
            .iter()
            .filter(|child| child.course != Course::Unreached);
        let calls = calls.map(|call| Some(call.start));
        calls
            .chain(children.map(|child| child.start))
            .flatten()
            .max()
    }

    /// Marks the failures as handled that the frame went on after: all of them if it has completed. `going_on`: where
    /// it last went on to what may not have started.
    pub fn mark_handled(&mut self, completed: bool, going_on: Option<u64>) {
        let last = self.last_start().max(going_on);
        let went_on = |end: Option<u64>| completed || last > end && end.is_some();
        for position in 0..self.calls.len() {
            if let Some(call) = self.calls.get(position)
                && matches!(call.outcome, Outcome::Failure { stopped: false, .. })
                && went_on(call.known_from())
                && let Some(call) = self.calls.get_mut(position)
                && let Outcome::Failure { handled, .. } = &mut Arc::make_mut(call).outcome
            {
                *handled = true;
            }
        }
        for position in 0..self.children.len() {
            if let Some(child) = self.children.get(position)
                && matches!(child.state, State::Failed(_))
                && !child.stopped
                && went_on(child.end)
                && let Some(child) = self.children.get_mut(position)
            {
                Arc::make_mut(child).handled = true;
            }
        }
    }

    /// Whether there is anything to replay.
    #[must_use]
    pub fn has_records(&self) -> bool {
        !self.calls.is_empty() || !self.children.is_empty() || !self.rows.is_empty()
    }
}

impl Frame {
    #[must_use]
    pub fn new(call_id: JsonStr, agent_id: JsonStr, generation: Generation) -> Self {
        let memory = generation.memory.clone().unwrap_or_default();
        Self {
            call_id,
            agent_id,
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
            continues: None,
            taken: None,
            course: Course::default(),
        }
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }
}

/// The error of an agent whose parent ended before it did.
#[must_use]
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
