//! Live frames: what a running agent records, and what it is answered from a recording.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use rpds::VectorSync;

use super::ledger::Ledger;
use super::run::{CallSlot, Ended, FramePath, NewCall, NewFrame, Run};
use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{
    Budget, Clock, Frame, Kind, Outcome, Request, RequestHash, State, Usage, Value,
};
use crate::replay::{
    Answer, Entry, Explanation, Failures, MemoryChoice, Miss, Places, Source, Verdict,
};

/// How a run records and replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Keep a journal and the frames of sub-agents, so that the run can be dumped.
    pub recording: bool,
    /// Keep what was asked in the journal, so that a miss can be explained.
    pub requests: bool,
    pub failures: Failures,
    pub memory: MemoryChoice,
}

#[derive(Debug)]
struct Shared {
    run: RefCell<Run>,
    options: RunOptions,
    places: Places,
}

/// A frame of a running program.
#[derive(Debug)]
pub struct LiveFrame {
    shared: Rc<Shared>,
    path: FramePath,
    source: Option<Source>,
    /// Reborn beyond what was recorded: nothing answers any more.
    outgrown: Cell<bool>,
    unhandled: Rc<Unhandled>,
    /// That of the frame above.
    above: Option<Rc<Unhandled>>,
    ledger: Rc<Ledger>,
    entry: Option<Entry>,
    input_hash: ContentHash,
    returned: Cell<Option<Returned>>,
}

/// How a frame's code has ended; streams in it may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    Completed,
    Failed,
}

/// Failures in a frame after which nothing was started in it yet.
#[derive(Debug, Default)]
struct Unhandled {
    calls: RefCell<Vec<CallSlot>>,
    frames: RefCell<Vec<FramePath>>,
    /// Replayed calls whose failure was handled when it was recorded, here or in a frame above.
    known: RefCell<HashSet<CallSlot>>,
}

/// What the input of a frame is, for finding its recording and for entering it again.
#[derive(Debug, Clone)]
pub struct FrameInput {
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    pub hash: ContentHash,
    /// `None` where the props cannot be brought back from JSON.
    pub props: Option<Value>,
}

/// A call to be started.
#[derive(Debug, Clone)]
pub struct Asked {
    pub kind: Kind,
    pub call_id: JsonStr,
    pub hash: ContentHash,
    /// Kept with the call, where requests are kept.
    pub request: Option<Request>,
}

/// A call that has been started.
#[derive(Debug)]
pub struct Begun {
    /// `None` where nothing is recorded.
    pub slot: Option<CallSlot>,
    pub answer: Answer,
}

impl LiveFrame {
    /// Starts a run, over a recording or without one.
    #[must_use]
    pub fn start_run(root: FrameInput, source: Option<Source>, options: RunOptions) -> Self {
        let input_hash = root.hash;
        let entry = source
            .as_ref()
            .and_then(|source| source.entry(options.memory));
        let frame = new_frame(root, source.as_ref(), entry.as_ref());
        let budget = frame.budget.clone();
        let recording = source.as_ref().map(|source| Arc::clone(source.frame()));
        let shared = Shared {
            run: RefCell::new(Run::new(frame)),
            options,
            places: Places::new(recording),
        };
        Self {
            shared: Rc::new(shared),
            path: FramePath::default(),
            source,
            outgrown: Cell::new(false),
            unhandled: Rc::default(),
            above: None,
            ledger: Ledger::new(budget, None),
            entry,
            input_hash,
            returned: Cell::new(None),
        }
    }

    /// Opens the frame of a sub-agent.
    #[must_use]
    pub fn open_child(&self, input: FrameInput) -> Self {
        self.go_on();
        let input_hash = input.hash;
        let source = self
            .answering()
            .and_then(|source| source.child(&input.agent_id, input.hash, &input.call_id))
            // One whose turn has not come may still be found by its content: it lends nothing to another.
            .filter(|source| {
                source.is_claimed() || self.shared.places.has_come_to(source.frame().start)
            });
        let entry = source
            .as_ref()
            .and_then(|source| source.entry(self.shared.options.memory));
        let frame = new_frame(input, source.as_ref(), entry.as_ref());
        if let Some(claimed) = source.as_ref().filter(|source| source.is_claimed()) {
            self.shared.places.reach(claimed.frame().start);
            self.shared.places.open(claimed.frame().end);
        }
        let budget = frame.budget.clone();
        let path = if self.shared.options.recording {
            self.shared.run.borrow_mut().open_frame(&self.path, frame)
        } else {
            None
        };
        Self {
            shared: Rc::clone(&self.shared),
            // The frame of a parent that has ended stands nowhere, and journals nothing.
            path: path.unwrap_or_else(FramePath::nowhere),
            source,
            outgrown: Cell::new(false),
            unhandled: Rc::default(),
            above: Some(Rc::clone(&self.unhandled)),
            ledger: Ledger::new(budget, Some(Rc::clone(&self.ledger))),
            entry,
            input_hash,
            returned: Cell::new(None),
        }
    }

    /// What answers calls and sub-agents of the current generation.
    fn answering(&self) -> Option<&Source> {
        self.source.as_ref().filter(|_| !self.outgrown.get())
    }

    /// Something is started in the frame, or is about to be, or it completes: what has failed in it before was
    /// handled.
    pub fn go_on(&self) {
        let calls = self.unhandled.calls.take();
        let frames = self.unhandled.frames.take();
        if calls.is_empty() && frames.is_empty() {
            return;
        }
        let mut run = self.shared.run.borrow_mut();
        for slot in calls {
            run.mark_handled(&self.path, slot);
        }
        for path in frames {
            run.mark_frame_handled(&path);
        }
    }

    #[must_use]
    pub fn input_hash(&self) -> ContentHash {
        self.input_hash
    }

    /// How the frame starts; `None` without a recording of its own.
    #[must_use]
    pub fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// The recorded place of this frame's end.
    fn recorded_end(&self) -> Option<u64> {
        self.recorded().and_then(|frame| frame.end)
    }

    /// The frame's place among all that ends in the recorded order. One that had not ended yet comes after
    /// all that had.
    #[must_use]
    pub fn turn(&self) -> Option<u64> {
        let recorded = self.recorded()?;
        recorded.end.or(recorded.start.map(|_| u64::MAX))
    }

    #[must_use]
    pub fn has_foreign_hashes(&self) -> bool {
        self.source.as_ref().is_some_and(Source::has_foreign_hashes)
    }

    /// Starts a call: looks for its answer in the recording, and journals its start.
    /// `foreign` is the hash that another recorder would have given the request.
    pub fn begin_call(&self, asked: Asked, foreign: Option<JsonStr>) -> Begun {
        let Asked {
            kind,
            call_id,
            hash,
            request,
        } = asked;
        self.go_on();
        let hash = RequestHash::Sha256(hash);
        let answer = match self.answering() {
            None => Answer::miss(Miss::NoRecording),
            Some(source) => {
                let failures = self.shared.options.failures;
                match foreign {
                    None => source.take(&kind, std::slice::from_ref(&hash), failures),
                    Some(foreign) => source.take(
                        &kind,
                        &[hash.clone(), RequestHash::Foreign(foreign)],
                        failures,
                    ),
                }
            }
        };
        let missed = matches!(answer.verdict, Verdict::Miss(_));
        if let Some(call) = &answer.call {
            self.shared.places.reach(Some(call.start));
            if missed {
                self.shared.places.reach(call.answered);
                // It is made now, and its recorded end will not come.
                self.shared.places.reach(call.end);
            } else {
                self.shared.places.open(call.end);
            }
        }
        let is_retry = matches!(answer.verdict, Verdict::Miss(Miss::Retry));
        if is_retry || missed && answer.call.is_none() {
            self.note_made();
        }
        let slot = if self.shared.options.recording {
            let outcome = match &answer.verdict {
                Verdict::Output(value) => Outcome::Output(value.clone()),
                Verdict::Failure(error) => Outcome::Failure {
                    error: error.clone(),
                    stopped: false,
                    handled: answer.handled,
                },
                Verdict::Miss(_) => Outcome::Pending,
            };
            let meta = answer.call.as_ref().and_then(|call| call.meta.clone());
            let request = request.filter(|_| self.shared.options.requests);
            let start = answer.call.as_ref().map(|call| call.start);
            let call = NewCall {
                kind,
                hash,
                call_id,
                outcome,
                request,
                meta,
                taken: answer.position,
                start,
            };
            let slot = self.shared.run.borrow_mut().begin_call(&self.path, call);
            if answer.handled {
                self.unhandled.known.borrow_mut().extend(slot);
            }
            slot
        } else {
            None
        };
        Begun { slot, answer }
    }

    fn note_made(&self) {
        let is_first = self.shared.places.are_recorded() && !self.ledger.made.get();
        if is_first && self.shared.options.recording {
            self.shared.run.borrow_mut().note_made(&self.path);
        }
        self.ledger.note_made();
    }

    /// Journals the end of a call that was made.
    pub fn end_call(&self, slot: CallSlot, ended: Ended) -> bool {
        self.note_made();
        if matches!(ended.outcome, Outcome::Failure { .. }) {
            self.unhandled.calls.borrow_mut().push(slot);
        }
        let is_journaled = self
            .shared
            .run
            .borrow_mut()
            .end_call(&self.path, slot, ended);
        if self.returned.get() == Some(Returned::Completed) {
            self.go_on();
        }
        is_journaled
    }

    /// Journals that a call's answer is handed out before its end. `recorded`: where that was in the recording.
    /// `true` if it overtook an earlier recorded start or end.
    pub fn answer_call(&self, slot: Option<CallSlot>, recorded: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.shared
                .run
                .borrow_mut()
                .answer_call(&self.path, slot, recorded);
        }
        self.shared.places.reach(recorded)
    }

    /// Journals the end of a replayed call, recorded at the place `end`. `true` if it overtook an
    /// earlier recorded start or end.
    pub fn release_call(&self, slot: Option<CallSlot>, end: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.shared
                .run
                .borrow_mut()
                .release_call(&self.path, slot, end);
        }
        self.shared.places.close(end);
        self.shared.places.reach(end)
    }

    /// Notes that a call is made again of which only a beginning was recorded: what was recorded of it, with its
    /// `answered` and its `end`, will not come.
    pub fn reopen_call(&self, slot: Option<CallSlot>, answered: Option<u64>, end: Option<u64>) {
        if let Some(slot) = slot {
            self.unhandled.known.borrow_mut().remove(&slot);
            self.shared.run.borrow_mut().reopen_call(&self.path, slot);
        }
        self.shared.places.close(end);
        self.shared.places.reach(answered);
        self.shared.places.reach(end);
    }

    /// Notes that the frame has reached its recorded end. `true` if it overtook an earlier recorded
    /// start or end.
    pub fn reach_end(&self) -> bool {
        self.shared.places.reach(self.recorded_end())
    }

    /// The recorded frame that this one continues.
    #[must_use]
    pub fn recorded(&self) -> Option<&Arc<Frame>> {
        self.source
            .as_ref()
            .filter(|source| source.is_claimed())
            .map(Source::frame)
    }

    /// Why the recording has no answer for a request document: what the nearest recorded one of its
    /// kind has different. `None` where no request was kept.
    #[must_use]
    pub fn explain(&self, kind: &Kind, actual: &str) -> Option<Explanation> {
        Explanation::of(&self.source.as_ref()?.candidates(kind), actual)
    }

    /// Whether the recorded frame failed with what ended the run.
    #[must_use]
    pub fn failure_ended_the_run(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(Source::failure_ended_the_run)
    }

    /// How many recorded calls and sub-agents were not asked for; `None` without a recording.
    #[must_use]
    pub fn unused(&self) -> Option<(usize, usize)> {
        self.source.as_ref().map(Source::unused)
    }

    /// Ends the frame as its recording stands, without its having run.
    pub fn adopt(&self) -> bool {
        let Some(recorded) = self.recorded() else {
            return false;
        };
        if self.shared.options.recording {
            self.shared.run.borrow_mut().adopt(&self.path, recorded);
        }
        self.shared.places.close(recorded.end);
        true
    }

    /// Notes that the frame is about to end with this call's failure.
    pub fn mark_stopped(&self, slot: CallSlot) {
        let known = self.unhandled.known.borrow().contains(&slot);
        self.shared
            .run
            .borrow_mut()
            .mark_stopped(&self.path, slot, known);
    }

    /// Notes that the parent is about to end with this frame's failure.
    pub fn mark_frame_stopped(&self) {
        self.shared.run.borrow_mut().mark_frame_stopped(&self.path);
    }

    pub fn set_memory(&self, key: JsonStr, value: JsonText, initial: bool) {
        if self.shared.options.recording {
            self.shared
                .run
                .borrow_mut()
                .set_memory(&self.path, key, value, initial);
        }
    }

    pub fn next_generation(&self, props: Option<Value>) {
        // The last recorded generation is the one that was entered. Recordings that tell none have
        // the entries of all of them in one.
        let told = |recorded: &Arc<Frame>| recorded.generation.memory.is_some();
        self.outgrown.set(self.recorded().is_some_and(told));
        // What an earlier generation had is of no account in the next one.
        self.unhandled.calls.take();
        self.unhandled.frames.take();
        self.unhandled.known.take();
        if self.shared.options.recording {
            self.shared
                .run
                .borrow_mut()
                .next_generation(&self.path, props);
        }
    }

    /// The frame has returned, though streams in it go on: here is its end in the order.
    pub fn return_now(&self, returned: Returned) {
        self.shared.places.close(self.recorded_end());
        if self.shared.options.recording {
            let end = self.end_as_recorded();
            self.note_returned(returned);
            let mut run = self.shared.run.borrow_mut();
            run.return_frame(&self.path, end);
            if returned == Returned::Completed {
                run.mark_children_handled(&self.path);
            }
        }
    }

    /// Where the frame ended in the recording, if it has only replayed.
    fn end_as_recorded(&self) -> Option<u64> {
        let recorded = self.recorded().filter(|_| !self.ledger.made.get());
        recorded.and_then(|recorded| recorded.end)
    }

    pub fn end(&self, state: State) {
        self.shared.places.close(self.recorded_end());
        if self.shared.options.recording {
            let end = self.end_as_recorded();
            match state {
                State::Failed(_) => self.note_returned(Returned::Failed),
                State::Completed(_) => self.note_returned(Returned::Completed),
                State::Running => {}
            }
            self.shared
                .run
                .borrow_mut()
                .end_frame(&self.path, state, end);
        }
    }

    /// What failed in a frame that completes was handled; whether the failure of one that fails is, shows above it.
    fn note_returned(&self, returned: Returned) {
        if self.returned.replace(Some(returned)).is_some() {
            return;
        }
        match returned {
            Returned::Completed => self.go_on(),
            Returned::Failed => self.note_failed(),
        }
    }

    /// The frame fails: whether that was handled is known from the recording, or from what its parent does next.
    fn note_failed(&self) {
        let failed_before = |recorded: &&Arc<Frame>| matches!(recorded.state, State::Failed(_));
        if self.recorded().as_ref().is_some_and(failed_before) && !self.failure_ended_the_run() {
            self.shared.run.borrow_mut().mark_frame_handled(&self.path);
        } else if let Some(above) = &self.above {
            above.frames.borrow_mut().push(self.path.clone());
        }
    }

    /// Adds usage to this frame, and to the aggregate of the frames above it.
    pub fn add_usage(&self, delta: &Usage) {
        self.ledger.add(delta);
        if self.shared.options.recording {
            self.shared.run.borrow_mut().add_usage(&self.path, delta);
        }
    }

    #[must_use]
    pub fn budget(&self) -> Budget {
        self.ledger.budget.borrow().clone()
    }

    /// The whole run as it stands now.
    #[must_use]
    pub fn dump(&self) -> Arc<Frame> {
        self.shared.run.borrow().snapshot()
    }

    /// How far the run has come in its order of starts and ends.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.run.borrow().clock()
    }
}

fn new_frame(input: FrameInput, source: Option<&Source>, entry: Option<&Entry>) -> NewFrame {
    let recorded = source
        .filter(|source| source.is_claimed())
        .map(Source::frame);
    NewFrame {
        call_id: input.call_id,
        agent_id: input.agent_id,
        input_hash: Some(input.hash),
        generation: entry.map_or(0, |entry| entry.generation),
        props: entry.and_then(|entry| entry.props.clone()).or(input.props),
        memory: entry.map(|entry| entry.memory.clone()).unwrap_or_default(),
        earlier: recorded.map_or_else(VectorSync::new_sync, |frame| frame.earlier.clone()),
        budget: recorded
            .map(|frame| frame.budget.clone())
            .unwrap_or_default(),
        handled: source.is_some_and(Source::failure_was_handled),
        continues: recorded.cloned(),
        taken: source
            .filter(|source| source.is_claimed())
            .map(Source::position),
    }
}
