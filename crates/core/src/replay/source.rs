//! Answers from a recording: which frame a sub-agent replays, and which entry answers a request.
//!
//! An entry answers only the request that it recorded, and only once. Entries of equal requests answer in the order of
//! their starts. The recording is never changed: the index of used entries is separate.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::contested::Contested;
use super::journal_index::{Found, JournalIndex, place_of};
use super::recorded_frame::{ChildIndex, RecordedFrame, run_frame_over};
use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{
    Call, Flag, Flags, Frame, Generation, Kind, Memory, Outcome, RequestHash, Value,
};
use crate::retry_rule::{Failed, FailureVerdict, Failures, frame_was_handled};

/// The memory that a frame starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryChoice {
    /// Its original memory if there are calls to replay, otherwise its memory at the time of the dump.
    #[default]
    Auto,
    Start,
    Dump,
}

/// The link of a live frame to the recording.
#[derive(Debug, Clone)]
pub struct ReplaySource {
    root: Rc<RecordedFrame>,
    recorded: Rc<RecordedFrame>,
    /// The rules by which the recording answers.
    flags: Flags,
    /// False if the live frame only borrows entries, and not the memory, props or budget.
    claimed: bool,
    /// The requests that may be those of another recorded frame.
    contested: Option<Rc<Contested>>,
}

/// Where something is asked: in a frame itself, or inside the recorded call of the frame with this callId.
pub type Place = Option<JsonStr>;

/// What was recorded inside a call, also inside the calls in it: positions in the recorded generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inside {
    pub calls: Vec<usize>,
    pub frames: Vec<usize>,
}

/// The state in which a frame starts.
#[derive(Debug, Clone)]
pub struct Entry {
    pub generation: u64,
    /// The props of the generation. They replace those of the call.
    pub props: Option<Value>,
    pub memory: Memory,
}

/// The answer of the recording to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// The occurrence that was used up. `None` for a row without a list of calls.
    pub call: Option<Arc<Call>>,
    /// Position of that call in the recorded frame.
    pub position: Option<usize>,
    /// True if it is a failure that the program had handled.
    pub handled: bool,
    /// True if it is a failure after which the recording has the same request again.
    pub asked_again: bool,
}

impl Answer {
    #[must_use]
    pub fn miss(miss: Miss) -> Self {
        Self {
            verdict: Verdict::Miss(miss),
            call: None,
            position: None,
            handled: false,
            asked_again: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Output(Value),
    Failure(JsonText),
    Miss(Miss),
}

/// The reason why a call has to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The frame has no recording.
    NoRecording,
    /// No unused recorded request in this frame matches.
    NotRecorded,
    /// It had started but not ended.
    InFlight,
    /// It ended with a value that could not be recorded.
    Tombstone,
    /// It failed, and is retried.
    Retry { handled_is_unknown: bool },
    /// The request, or the input of its frame, has content that its hash does not cover.
    Inexact,
}

impl ReplaySource {
    /// The recording as the source of a run's root frame. `root`: the tree of a snapshot.
    #[must_use]
    pub fn of_tree(root: &Arc<Frame>, flags: Flags) -> Self {
        let frame = if root.agent_id.body().is_empty() || root.call_id.body() == "root" {
            Arc::clone(root)
        } else {
            Arc::new(run_frame_over(root))
        };
        let recorded = Rc::new(RecordedFrame::new(frame, 0, None, flags));
        recorded.claimed.set(true);
        Self {
            root: Rc::clone(&recorded),
            recorded,
            flags,
            claimed: true,
            contested: None,
        }
    }

    #[must_use]
    pub fn flags(&self) -> Flags {
        self.flags
    }

    #[must_use]
    pub fn frame(&self) -> &Arc<Frame> {
        &self.recorded.frame
    }

    /// Position of the recorded frame in its parent.
    #[must_use]
    pub fn position(&self) -> usize {
        self.recorded.position
    }

    /// True if the live frame replays the recorded one, with its memory and budget. False if it only borrows entries.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// Finds the recorded frame that a sub-agent replays, among those opened at `place`: by agent and input, in the order
    /// of the starts, or by callId if no input was recorded, or one that its hash does not cover. Otherwise a callId alone
    /// is not enough, because it counts all frames of the agent, whatever their input. If there is no such frame, the
    /// sub-agent borrows the entries of the one with the same callId.
    #[must_use]
    pub fn child(
        &self,
        place: &Place,
        agent_id: &JsonStr,
        input: InputHash,
        call_id: &JsonStr,
    ) -> Option<Self> {
        let mut slot = self.recorded.children.borrow_mut();
        let index = slot.get_or_insert_with(|| ChildIndex::new(&self.recorded, self.flags));
        let same_call_id = index
            .by_call_id
            .get(call_id)
            .copied()
            .map(|position| &index.nodes[position])
            .filter(|node| place_of(node.frame.within.as_ref(), self.flags) == *place);
        // A frame that only borrows does not replay the recorded frame, so its children only borrow too.
        if self.claimed {
            let wanted = (place.clone(), agent_id.clone(), input);
            if let Some(queue) = index.by_input.get_mut(&wanted) {
                while let Some(position) = queue.pop_front() {
                    let node = &index.nodes[position];
                    if !node.claimed.get() {
                        return Some(self.claim(node, self.contested.clone()));
                    }
                }
            }
            if let Some(node) = same_call_id
                && !node.claimed.get()
                && node.frame.agent_id == *agent_id
                && (node.frame.input_hash).is_none_or(|recorded| !input.exact && recorded == input)
            {
                let node = Rc::clone(node);
                let contested = index.contested_in(place, &node.frame, self.contested.as_ref());
                return Some(self.claim(&node, contested));
            }
        }
        let node = Rc::clone(same_call_id.filter(|node| !node.claimed.get())?);
        Some(Self {
            root: Rc::clone(&self.root),
            flags: self.flags,
            claimed: false,
            contested: index.contested_in(place, &node.frame, self.contested.as_ref()),
            recorded: node,
        })
    }

    fn claim(&self, node: &Rc<RecordedFrame>, contested: Option<Rc<Contested>>) -> Self {
        node.claimed.set(true);
        Self {
            root: Rc::clone(&self.root),
            recorded: Rc::clone(node),
            flags: self.flags,
            claimed: true,
            contested,
        }
    }

    /// True if the recorded frame, or one around it, may be that of another live frame.
    #[must_use]
    pub fn is_contested(&self) -> bool {
        self.contested.is_some()
    }

    /// The state in which the live frame starts. `None` if it only borrows entries.
    #[must_use]
    pub fn entry(&self, choice: MemoryChoice) -> Option<Entry> {
        if !self.claimed {
            return None;
        }
        let frame = self.frame();
        let generation = &frame.generation;
        let at_start = match choice {
            MemoryChoice::Auto => generation
                .memory
                .as_ref()
                .filter(|_| generation.has_records()),
            MemoryChoice::Start => generation.memory.as_ref(),
            MemoryChoice::Dump => None,
        };
        Some(Entry {
            generation: generation.id,
            props: generation.props.clone(),
            memory: at_start.unwrap_or(&frame.memory).clone(),
        })
    }

    fn journal_slot(&self) -> &RefCell<Option<JournalIndex>> {
        if self.claimed {
            &self.recorded.journal
        } else {
            &self.recorded.borrowed
        }
    }

    fn journal<R>(&self, use_it: impl FnOnce(&mut JournalIndex) -> R) -> R {
        let mut slot = self.journal_slot().borrow_mut();
        let generation = &self.recorded.frame.generation;
        use_it(slot.get_or_insert_with(|| JournalIndex::new(generation, self.flags)))
    }

    /// True if the recorded journal is keyed by hashes of another recorder.
    #[must_use]
    pub fn has_foreign_hashes(&self) -> bool {
        self.journal(|journal| journal.has_foreign_hashes)
    }

    /// True if a recorded call has a lane, so that [`Self::take`] needs the lane of each call.
    #[must_use]
    pub fn has_lanes(&self) -> bool {
        self.journal(|journal| !journal.lanes.is_empty())
    }

    /// Takes the next occurrence of a request that was asked at `place`: with the same lane, if there is one. `keys` are the
    /// hashes that it may be recorded under.
    #[must_use]
    pub fn take(
        &self,
        place: &Place,
        kind: &Kind,
        keys: &[RequestHash],
        lane: Option<&JsonText>,
        exact: bool,
        failures: Failures,
    ) -> Answer {
        let calls = &self.frame().generation.calls;
        let key = |hash: &RequestHash| (place.clone(), kind.clone(), hash.clone());
        let found =
            self.journal(|journal| keys.iter().find_map(|hash| journal.take(key(hash), lane)));
        let position = match found {
            Some(Found::Call(position)) => Some(position),
            _ => None,
        };
        let call = position
            .and_then(|position| calls.get(position))
            .map(Arc::clone);
        let outcome = match (found, &call) {
            (Some(Found::Row(outcome)), _) => outcome,
            (_, Some(call)) => call.outcome.clone(),
            (_, None) => return Answer::miss(Miss::NotRecorded),
        };
        let mut handled = false;
        let mut asked_again = false;
        let is_contested =
            |contested: &Rc<Contested>| keys.iter().any(|hash| contested.contains(kind, hash));
        let verdict = match outcome {
            _ if self.contested.as_ref().is_some_and(is_contested) => Verdict::Miss(Miss::Inexact),
            _ if !exact && self.flags.has(Flag::ExactRequests) => Verdict::Miss(Miss::Inexact),
            Outcome::Output(value) => Verdict::Output(value),
            Outcome::Pending => Verdict::Miss(Miss::InFlight),
            Outcome::Tombstone(_) => Verdict::Miss(Miss::Tombstone),
            Outcome::Failure { error, .. } => {
                // A row without a list of calls has no order, so its failure counts as handled.
                let failed = call.as_deref().and_then(Failed::call);
                let verdict = failed.map_or(FailureVerdict::Handled, |failed| {
                    failed.verdict(self.recorded.up())
                });
                handled = verdict == FailureVerdict::Handled;
                if failures.retries(verdict) {
                    Verdict::Miss(Miss::Retry {
                        handled_is_unknown: verdict == FailureVerdict::Unknown,
                    })
                } else {
                    let starts_later = |next: &Arc<Call>| {
                        call.as_ref()
                            .is_some_and(|call| Some(next.start) > call.known_from())
                    };
                    asked_again = self.journal(|journal| {
                        let mut next = keys.iter().map(|hash| journal.next(&key(hash), lane));
                        next.any(|next| calls.get(next as usize).is_some_and(starts_later))
                    });
                    Verdict::Failure(error)
                }
            }
        };
        Answer {
            verdict,
            call,
            position,
            handled,
            asked_again,
        }
    }

    /// What was recorded inside the call at this position. `None` if that is nothing.
    #[must_use]
    pub fn inside(&self, position: usize) -> Option<Inside> {
        let Generation {
            calls, children, ..
        } = &self.frame().generation;
        self.journal(|journal| {
            let mut all = journal.inside.get(&calls.get(position)?.call_id)?.clone();
            // An edited recording may contain a circle.
            let mut next = 0;
            while let Some(call) = all.calls.get(next).and_then(|at| calls.get(*at))
                && all.calls.len() <= calls.len()
                && all.frames.len() <= children.len()
            {
                if let Some(more) = journal.inside.get(&call.call_id) {
                    all.calls.extend(&more.calls);
                    all.frames.extend(&more.frames);
                }
                next += 1;
            }
            Some(all)
        })
    }

    /// Notes that the recorded answer of a call is returned, so that what is inside it is used up.
    pub fn include(&self, inside: &Inside) {
        self.journal(|journal| {
            for position in &inside.calls {
                journal.used[*position] = true;
            }
        });
        if inside.frames.is_empty() {
            return;
        }
        let mut slot = self.recorded.children.borrow_mut();
        let index = slot.get_or_insert_with(|| ChildIndex::new(&self.recorded, self.flags));
        for position in &inside.frames {
            index.nodes[*position].included.set(true);
        }
    }

    /// True if a resumed run executes this frame again because of its failure.
    #[must_use]
    pub fn failure_is_retried(&self) -> bool {
        Failed::frame(self.frame()).is_retried(self.recorded.up().skip(1))
    }

    /// True if the recorded frame failed, or had failed before it was executed again, and the run continued after that.
    #[must_use]
    pub fn failure_was_handled(&self) -> bool {
        self.claimed && frame_was_handled(self.frame(), self.recorded.up().skip(1))
    }

    /// The recorded calls of a kind, unused calls first.
    #[must_use]
    pub fn candidates(&self, kind: &Kind) -> Vec<Arc<Call>> {
        let calls = &self.frame().generation.calls;
        self.journal(|journal| {
            let of_kind = |used: bool| {
                let used_up = journal.used.iter();
                calls
                    .iter()
                    .zip(used_up)
                    .filter(move |(call, was)| call.kind == *kind && **was == used)
            };
            of_kind(false)
                .chain(of_kind(true))
                .map(|(call, _)| Arc::clone(call))
                .collect()
        })
    }

    /// The numbers of recorded calls that had ended, and of recorded sub-agents, that were not requested.
    #[must_use]
    pub fn unused(&self) -> (usize, usize) {
        let calls = &self.frame().generation.calls;
        let unused_calls = match &*self.journal_slot().borrow() {
            Some(journal) => {
                let open = calls.iter().zip(&journal.used).filter(|(_, used)| !**used);
                open.filter(|(call, _)| call.has_answer()).count()
            }
            // Nothing was requested, so there is no index.
            None => calls.iter().filter(|call| call.has_answer()).count(),
        };
        let unused_children = match &*self.recorded.children.borrow() {
            Some(index) => index
                .nodes
                .iter()
                .filter(|node| !node.claimed.get() && !node.included.get())
                .count(),
            None => self.frame().generation.children.len(),
        };
        (unused_calls, unused_children)
    }
}
