//! Live frames: they record the calls and sub-agents of a running agent, and answer its calls from a recording.

mod calls;
mod ends;
mod failures;
mod inside;

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use rpds::VectorSync;

use super::identity::FrameIdentity;
use super::in_flight::write_in_flight;
use super::ledger::UsageLedger;
use super::lifecycle::Lifecycle;
use super::run::{CallSlot, FramePath, NewFrame, Run, mark_as_end_of_run};
use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{Budget, Clock, Flag, Flags, Frame, Sharing, Usage, Value};
use crate::replay::{Entry, Failures, MemoryChoice, Progress, ReplaySource};
use crate::retry_rule::PendingFailures;
pub use calls::{CallInput, StartedCall};
use failures::FailedAt;
pub use inside::Included;

/// How a run records and replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Keep a journal and the frames of sub-agents, so that the run can be dumped.
    pub recording: bool,
    /// Keep the requests in the journal, so that a miss can be explained.
    pub requests: bool,
    pub failures: Failures,
    pub memory: MemoryChoice,
}

#[derive(Debug)]
struct Shared {
    run: RefCell<Run>,
    options: RunOptions,
    /// The rules of the recording that the run continues. Without one, the current rules.
    flags: Flags,
    /// The key of the digests of secrets in requests, once there are any.
    salt: RefCell<Option<String>>,
    progress: Progress,
    /// The parts that requests have in common.
    sharing: RefCell<Sharing>,
    /// The failures that the next dump shows as the end of the run: frames, and calls of a frame.
    named: RefCell<Vec<(FramePath, Option<CallSlot>)>>,
}

/// A frame of a running program.
#[derive(Debug)]
pub struct LiveFrame {
    shared: Rc<Shared>,
    path: FramePath,
    source: Option<ReplaySource>,
    lifecycle: Cell<Lifecycle>,
    pending: Rc<PendingFailures<FailedAt>>,
    /// The pending failures of the frame above.
    pending_above: Option<Rc<PendingFailures<FailedAt>>>,
    /// Replayed calls whose failure was handled when it was recorded, here or in a frame above.
    handled_when_recorded: RefCell<HashSet<CallSlot>>,
    /// The recorded calls that live calls have found, by live callId. Only calls with something recorded inside.
    outers: RefCell<HashMap<JsonStr, JsonStr>>,
    ledger: Rc<UsageLedger>,
    entry: Option<Entry>,
    input_hash: InputHash,
    identity: Rc<FrameIdentity>,
}

/// The input of a frame: replay finds its recording by it, and its props start it again.
#[derive(Debug, Clone)]
pub struct FrameInput {
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    /// The callId of the call of the parent that it is opened inside of.
    pub within: Option<JsonStr>,
    pub hash: InputHash,
    /// `None` if the props cannot be restored from JSON.
    pub props: Option<Value>,
}

impl LiveFrame {
    /// Starts a run, over a recording or without one.
    #[must_use]
    pub fn start_run(
        mut root: FrameInput,
        source: Option<ReplaySource>,
        options: RunOptions,
    ) -> Self {
        let flags = source.as_ref().map_or(Flags::CURRENT, ReplaySource::flags);
        root.hash = under(root.hash, flags);
        let input_hash = root.hash;
        let entry = source
            .as_ref()
            .and_then(|source| source.entry(options.memory));
        let frame = new_frame(root, source.as_ref(), entry.as_ref());
        let identity = FrameIdentity::root(String::new(), frame.generation);
        let budget = frame.budget.clone();
        let recording = source.as_ref().map(|source| Arc::clone(source.frame()));
        let shared = Shared {
            run: RefCell::new(Run::new(frame)),
            options,
            flags,
            salt: RefCell::default(),
            progress: Progress::new(recording),
            sharing: RefCell::default(),
            named: RefCell::default(),
        };
        Self {
            shared: Rc::new(shared),
            path: FramePath::default(),
            source,
            lifecycle: Cell::new(Lifecycle::START),
            pending: Rc::new(PendingFailures::new()),
            pending_above: None,
            handled_when_recorded: RefCell::default(),
            outers: RefCell::default(),
            ledger: UsageLedger::new(budget, None),
            entry,
            input_hash,
            identity,
        }
    }

    /// Sets the id of the first run: the one that was not resumed from another one. Call it before anything starts.
    #[must_use]
    pub fn continuing(self, first_run: String) -> Self {
        let generation = self.entry.as_ref().map_or(0, |entry| entry.generation);
        Self {
            identity: FrameIdentity::root(first_run, generation),
            ..self
        }
    }

    /// Opens the frame of a sub-agent.
    #[must_use]
    pub fn open_child(&self, mut input: FrameInput) -> Self {
        input.hash = under(input.hash, self.flags());
        let input_hash = input.hash;
        let source = self
            .answering()
            .zip(self.place(input.within.as_ref()))
            .and_then(|(source, place)| {
                source.child(&place, &input.agent_id, input.hash, &input.call_id)
            })
            // A frame that the replay has not reached may still be found by its input, so others borrow nothing from it.
            .filter(|source| {
                source.is_claimed() || self.shared.progress.has_reached(source.frame().start)
            });
        let entry = source
            .as_ref()
            .and_then(|source| source.entry(self.shared.options.memory));
        let frame = new_frame(input, source.as_ref(), entry.as_ref());
        let identity = self.identity.open_child(&frame, input_hash.hash);
        if let Some(claimed) = source.as_ref().filter(|source| source.is_claimed()) {
            self.shared.progress.reach(claimed.frame().start);
            self.shared.progress.open(claimed.frame().end);
        }
        let budget = frame.budget.clone();
        let path = if self.shared.options.recording {
            self.run().open_frame(&self.path, frame)
        } else {
            None
        };
        Self {
            shared: Rc::clone(&self.shared),
            // Without a path, the parent has ended: the frame is not in the tree and journals nothing.
            path: path.unwrap_or_else(FramePath::nowhere),
            source,
            lifecycle: Cell::new(Lifecycle::START),
            pending: Rc::new(PendingFailures::new()),
            pending_above: Some(Rc::clone(&self.pending)),
            handled_when_recorded: RefCell::default(),
            outers: RefCell::default(),
            ledger: UsageLedger::new(budget, Some(Rc::clone(&self.ledger))),
            entry,
            input_hash,
            identity,
        }
    }

    fn run(&self) -> RefMut<'_, Run> {
        self.shared.run.borrow_mut()
    }

    /// The source that answers calls and sub-agents of the current generation.
    fn answering(&self) -> Option<&ReplaySource> {
        self.source
            .as_ref()
            .filter(|_| !self.lifecycle.get().is_past_recording())
    }

    #[must_use]
    pub fn input_hash(&self) -> InputHash {
        self.input_hash
    }

    /// The id of the frame, which stays the same in runs that resume this one. That of the root is the id of the first
    /// run.
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.id()
    }

    /// The id of the first run.
    #[must_use]
    pub fn first_run(&self) -> &str {
        self.identity.root_id()
    }

    /// As [`Self::identity`], of the frame under the root that this one is in.
    #[must_use]
    pub fn identity_below_root(&self) -> &str {
        self.identity.below_root().id()
    }

    /// The calls of the recording that had started and not ended, in this frame and those under it: a JSON array.
    #[must_use]
    pub fn in_flight(&self) -> String {
        let mut out = String::new();
        match self.recorded() {
            Some(recorded) => write_in_flight(recorded, self.identity(), &mut out),
            None => out.push_str("[]"),
        }
        out
    }

    /// The state in which the frame starts. `None` if it does not replay a recorded frame.
    #[must_use]
    pub fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// The recorded frame that this one replays.
    #[must_use]
    pub fn recorded(&self) -> Option<&Arc<Frame>> {
        self.source
            .as_ref()
            .filter(|source| source.is_claimed())
            .map(ReplaySource::frame)
    }

    /// The recorded frame, if its recorded result is that of this frame too.
    #[must_use]
    pub fn reusable(&self) -> Option<&Arc<Frame>> {
        let source = self.source.as_ref()?;
        let is_certain = self.input_hash.exact && !source.is_contested();
        self.recorded().filter(|_| is_certain)
    }

    /// The numbers of recorded calls and sub-agents that were not requested. `None` without a recording.
    #[must_use]
    pub fn unused(&self) -> Option<(usize, usize)> {
        self.source.as_ref().map(ReplaySource::unused)
    }

    pub fn set_memory(&self, key: JsonStr, value: JsonText, initial: bool) {
        if self.shared.options.recording {
            self.run().set_memory(&self.path, key, value, initial);
        }
    }

    /// Adds usage to this frame, and to the aggregate of the frames above it.
    pub fn add_usage(&self, delta: &Usage) {
        self.ledger.add(delta);
        if self.shared.options.recording {
            self.run().add_usage(&self.path, delta);
        }
    }

    #[must_use]
    pub fn budget(&self) -> Budget {
        self.ledger.budget()
    }

    /// The frame tree of the whole run as it is now. The failures that were named since the last dump are marked in it as
    /// if they had ended the run.
    #[must_use]
    pub fn dump(&self) -> Arc<Frame> {
        let mut tree = self.run().snapshot();
        for (path, slot) in self.shared.named.take() {
            mark_as_end_of_run(&mut tree, &path, slot);
        }
        tree
    }

    /// The position of the run in its order of starts and ends.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.run().clock()
    }
}

/// Without the flag every hash identifies its frame.
fn under(hash: InputHash, flags: Flags) -> InputHash {
    InputHash {
        exact: hash.exact || !flags.has(Flag::ExactContent),
        ..hash
    }
}

fn new_frame(input: FrameInput, source: Option<&ReplaySource>, entry: Option<&Entry>) -> NewFrame {
    let claimed = source.filter(|source| source.is_claimed());
    let recorded = claimed.map(ReplaySource::frame);
    NewFrame {
        call_id: input.call_id,
        agent_id: input.agent_id,
        within: input.within,
        input_hash: Some(input.hash),
        generation: entry.map_or(0, |entry| entry.generation),
        props: entry.and_then(|entry| entry.props.clone()).or(input.props),
        memory: entry.map(|entry| entry.memory.clone()).unwrap_or_default(),
        earlier: recorded.map_or_else(VectorSync::new_sync, |frame| frame.earlier.clone()),
        budget: recorded
            .map(|frame| frame.budget.clone())
            .unwrap_or_default(),
        handled: source.is_some_and(ReplaySource::failure_was_handled),
        recorded: recorded.cloned(),
        replays: claimed.map(ReplaySource::position),
    }
}
