//! Live frames: they record what a running agent does, and answer its calls from a recording.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rpds::VectorSync;

use super::handled::PendingFailures;
use super::ledger::UsageLedger;
use super::lifecycle::{Lifecycle, Returned};
use super::run::{CallSlot, Ended, FramePath, NewCall, NewFrame, Run};
use crate::hash::ContentHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{
    Budget, Clock, Flags, Frame, Kind, Outcome, Request, RequestHash, State, Usage, Value,
};
use crate::replay::{
    Answer, Entry, Explanation, Failures, MemoryChoice, Miss, Progress, ReplaySource, Verdict,
};

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
    progress: Progress,
}

/// A frame of a running program.
#[derive(Debug)]
pub struct LiveFrame {
    shared: Rc<Shared>,
    path: FramePath,
    source: Option<ReplaySource>,
    lifecycle: Cell<Lifecycle>,
    pending: Rc<PendingFailures>,
    /// The pending failures of the frame above.
    pending_above: Option<Rc<PendingFailures>>,
    ledger: Rc<UsageLedger>,
    entry: Option<Entry>,
    input_hash: ContentHash,
}

/// The input of a frame, for finding its recording and for entering it again.
#[derive(Debug, Clone)]
pub struct FrameInput {
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    pub hash: ContentHash,
    /// `None` if the props cannot be restored from JSON.
    pub props: Option<Value>,
}

/// A call to be started.
#[derive(Debug, Clone)]
pub struct Asked {
    pub kind: Kind,
    pub call_id: JsonStr,
    pub hash: ContentHash,
    /// The hash covers the whole request.
    pub exact: bool,
    /// Kept with the call if the run keeps requests.
    pub request: Option<Request>,
}

/// A call that has been started.
#[derive(Debug)]
pub struct StartedCall {
    /// `None` if the run records nothing.
    pub slot: Option<CallSlot>,
    pub answer: Answer,
}

impl LiveFrame {
    /// Starts a run, over a recording or without one.
    #[must_use]
    pub fn start_run(root: FrameInput, source: Option<ReplaySource>, options: RunOptions) -> Self {
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
            flags: source.as_ref().map_or(Flags::CURRENT, ReplaySource::flags),
            progress: Progress::new(recording),
        };
        Self {
            shared: Rc::new(shared),
            path: FramePath::default(),
            source,
            lifecycle: Cell::new(Lifecycle::START),
            pending: Rc::default(),
            pending_above: None,
            ledger: UsageLedger::new(budget, None),
            entry,
            input_hash,
        }
    }

    /// Opens the frame of a sub-agent.
    #[must_use]
    pub fn open_child(&self, input: FrameInput) -> Self {
        self.mark_pending_failures_handled();
        let input_hash = input.hash;
        let source = self
            .answering()
            .and_then(|source| source.child(&input.agent_id, input.hash, &input.call_id))
            // A frame whose turn has not come may still be found by its content, so it lends nothing to another.
            .filter(|source| {
                source.is_claimed() || self.shared.progress.has_come_to(source.frame().start)
            });
        let entry = source
            .as_ref()
            .and_then(|source| source.entry(self.shared.options.memory));
        let frame = new_frame(input, source.as_ref(), entry.as_ref());
        if let Some(claimed) = source.as_ref().filter(|source| source.is_claimed()) {
            self.shared.progress.reach(claimed.frame().start);
            self.shared.progress.open(claimed.frame().end);
        }
        let budget = frame.budget.clone();
        let path = if self.shared.options.recording {
            self.shared.run.borrow_mut().open_frame(&self.path, frame)
        } else {
            None
        };
        Self {
            shared: Rc::clone(&self.shared),
            // The parent has ended, so the frame is in no tree, and journals nothing.
            path: path.unwrap_or_else(FramePath::nowhere),
            source,
            lifecycle: Cell::new(Lifecycle::START),
            pending: Rc::default(),
            pending_above: Some(Rc::clone(&self.pending)),
            ledger: UsageLedger::new(budget, Some(Rc::clone(&self.ledger))),
            entry,
            input_hash,
        }
    }

    /// The source that answers calls and sub-agents of the current generation.
    fn answering(&self) -> Option<&ReplaySource> {
        self.source
            .as_ref()
            .filter(|_| !self.lifecycle.get().is_past_recording())
    }

    /// Marks the earlier failures of this frame as handled, because the program starts something new or completes.
    /// Call this before any await that precedes [`Self::begin_call`]: the recording must show the failure as handled
    /// even if the run is dumped during that await.
    pub fn mark_pending_failures_handled(&self) {
        self.pending.mark_handled(&self.shared.run, &self.path);
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

    /// The recorded order of this frame's end.
    fn recorded_end(&self) -> Option<u64> {
        self.recorded().and_then(|frame| frame.end)
    }

    /// The order in which the frame's end is released. A frame that had not ended in the recording comes after
    /// everything that had.
    #[must_use]
    pub fn release_order(&self) -> Option<u64> {
        let recorded = self.recorded()?;
        recorded.end.or(recorded.start.map(|_| u64::MAX))
    }

    /// The rules that the run replays and records under.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.shared.flags
    }

    #[must_use]
    pub fn has_foreign_hashes(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::has_foreign_hashes)
    }

    /// Starts a call: looks for its answer in the recording, and journals its start.
    /// `foreign` is the hash of the request as another recorder would have computed it.
    pub fn begin_call(&self, asked: Asked, foreign: Option<JsonStr>) -> StartedCall {
        self.mark_pending_failures_handled();
        let hash = RequestHash::Sha256(asked.hash);
        let answer = self.answer(&asked, &hash, foreign);
        let slot = if self.shared.options.recording {
            self.journal_start(asked, hash, &answer)
        } else {
            None
        };
        StartedCall { slot, answer }
    }

    /// Looks for the answer in the recording, and notes how far that brings the replay.
    fn answer(&self, asked: &Asked, hash: &RequestHash, foreign: Option<JsonStr>) -> Answer {
        let Asked { kind, exact, .. } = asked;
        let failures = self.shared.options.failures;
        let answer = match (self.answering(), foreign) {
            (None, _) => Answer::miss(Miss::NoRecording),
            (Some(source), None) => source.take(kind, std::slice::from_ref(hash), *exact, failures),
            (Some(source), Some(foreign)) => {
                let keys = [hash.clone(), RequestHash::Foreign(foreign)];
                source.take(kind, &keys, *exact, failures)
            }
        };
        let progress = &self.shared.progress;
        let missed = matches!(answer.verdict, Verdict::Miss(_));
        if let Some(call) = &answer.call {
            progress.reach(Some(call.start));
            if missed {
                progress.reach(call.answered);
                // The call is executed now, so its recorded end will not come.
                progress.reach(call.end);
            } else {
                progress.open(call.end);
            }
        }
        let is_retry = matches!(answer.verdict, Verdict::Miss(Miss::Retry));
        if is_retry || missed && answer.call.is_none() {
            self.note_divergence();
        }
        answer
    }

    fn journal_start(&self, asked: Asked, hash: RequestHash, answer: &Answer) -> Option<CallSlot> {
        let outcome = match &answer.verdict {
            Verdict::Output(value) => Outcome::Output(value.clone()),
            Verdict::Failure(error) => Outcome::Failure {
                error: error.clone(),
                stopped: false,
                handled: answer.handled,
            },
            Verdict::Miss(_) => Outcome::Pending,
        };
        let recorded = answer.call.as_ref();
        let call = NewCall {
            kind: asked.kind,
            hash,
            call_id: asked.call_id,
            outcome,
            request: asked.request.filter(|_| self.shared.options.requests),
            meta: recorded.and_then(|call| call.meta.clone()),
            replays: answer.position,
            start: recorded.map(|call| call.start),
        };
        let slot = self.shared.run.borrow_mut().begin_call(&self.path, call);
        if answer.handled {
            self.pending.note_handled_when_recorded(slot);
        }
        slot
    }

    /// Notes that something in this frame is not in the recording.
    fn note_divergence(&self) {
        let is_first = self.shared.progress.has_recording() && !self.ledger.has_diverged();
        if is_first && self.shared.options.recording {
            self.shared.run.borrow_mut().mark_diverged(&self.path);
        }
        self.ledger.mark_diverged();
    }

    /// Journals the end of a call that was executed.
    pub fn end_call(&self, slot: CallSlot, ended: Ended) -> bool {
        self.note_divergence();
        if matches!(ended.outcome, Outcome::Failure { .. }) {
            self.pending.add_call(slot);
        }
        let is_journaled = self
            .shared
            .run
            .borrow_mut()
            .end_call(&self.path, slot, ended);
        if self.lifecycle.get().has_completed() {
            self.mark_pending_failures_handled();
        }
        is_journaled
    }

    /// Journals that the program receives a call's answer before the call's end. `recorded`: the recorded order of that.
    /// `true` if it overtook an earlier recorded start or end.
    pub fn answer_call(&self, slot: Option<CallSlot>, recorded: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.shared
                .run
                .borrow_mut()
                .answer_call(&self.path, slot, recorded);
        }
        self.shared.progress.reach(recorded)
    }

    /// Journals the end of a replayed call. `end`: its recorded order. `true` if it overtook an earlier recorded
    /// start or end.
    pub fn release_call(&self, slot: Option<CallSlot>, end: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.shared
                .run
                .borrow_mut()
                .release_call(&self.path, slot, end);
        }
        self.shared.progress.close(end);
        self.shared.progress.reach(end)
    }

    /// Notes that a call is executed again because only a part of its answer was recorded. Its recorded `answered` and
    /// `end` will not be reached.
    pub fn reopen_call(&self, slot: Option<CallSlot>, answered: Option<u64>, end: Option<u64>) {
        if let Some(slot) = slot {
            self.pending.forget_recorded(slot);
            self.shared.run.borrow_mut().reopen_call(&self.path, slot);
        }
        self.shared.progress.close(end);
        self.shared.progress.reach(answered);
        self.shared.progress.reach(end);
    }

    /// Notes that the frame has reached its recorded end. `true` if it overtook an earlier recorded
    /// start or end.
    pub fn reach_end(&self) -> bool {
        self.shared.progress.reach(self.recorded_end())
    }

    /// The recorded frame that this one replays.
    #[must_use]
    pub fn recorded(&self) -> Option<&Arc<Frame>> {
        self.source
            .as_ref()
            .filter(|source| source.is_claimed())
            .map(ReplaySource::frame)
    }

    /// Explains why the recording has no answer for a request document: how it differs from the nearest recorded
    /// request of its kind. `None` if no request was kept.
    #[must_use]
    pub fn explain(&self, kind: &Kind, actual: &str) -> Option<Explanation> {
        Explanation::of(&self.source.as_ref()?.candidates(kind), actual)
    }

    /// True if the recorded frame failed, and that failure ended the run.
    #[must_use]
    pub fn failure_ended_the_run(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::failure_ended_the_run)
    }

    /// How many recorded calls and sub-agents were not asked for; `None` without a recording.
    #[must_use]
    pub fn unused(&self) -> Option<(usize, usize)> {
        self.source.as_ref().map(ReplaySource::unused)
    }

    /// Ends the frame as it ended in the recording, without running it.
    pub fn adopt(&self) -> bool {
        let Some(recorded) = self.recorded() else {
            return false;
        };
        if self.shared.options.recording {
            self.shared.run.borrow_mut().adopt(&self.path, recorded);
        }
        self.shared.progress.close(recorded.end);
        true
    }

    /// Notes that the frame is about to end with this call's failure.
    pub fn mark_stopped(&self, slot: CallSlot) {
        let handled_when_recorded = self.pending.was_handled_when_recorded(slot);
        self.shared
            .run
            .borrow_mut()
            .mark_stopped(&self.path, slot, handled_when_recorded);
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
        // The run enters the last recorded generation, so the next one is past the recording. Recordings without
        // generations keep the entries of all of them in one.
        let has_generations = |recorded: &Arc<Frame>| recorded.generation.memory.is_some();
        let past_recording = self.recorded().is_some_and(has_generations);
        let lifecycle = self.lifecycle.get().next_generation(past_recording);
        self.lifecycle.set(lifecycle);
        self.pending.clear();
        if self.shared.options.recording {
            self.shared
                .run
                .borrow_mut()
                .next_generation(&self.path, props);
        }
    }

    /// Notes that the frame's code has returned, although streams in it continue. Its end gets its order now.
    pub fn return_now(&self, returned: Returned) {
        self.shared.progress.close(self.recorded_end());
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

    /// The recorded order of the frame's end, if the frame has not diverged.
    fn end_as_recorded(&self) -> Option<u64> {
        let recorded = self.recorded().filter(|_| !self.ledger.has_diverged());
        recorded.and_then(|recorded| recorded.end)
    }

    pub fn end(&self, state: State) {
        self.shared.progress.close(self.recorded_end());
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

    /// A frame that completes has handled the failures in it. If it fails, the frame above decides if that is handled.
    fn note_returned(&self, returned: Returned) {
        let Some(lifecycle) = self.lifecycle.get().returned(returned) else {
            return;
        };
        self.lifecycle.set(lifecycle);
        match returned {
            Returned::Completed => self.mark_pending_failures_handled(),
            Returned::Failed => self.note_failed(),
        }
    }

    /// The recording shows if this failure was handled. Without a recording of it, the next action of the parent does.
    fn note_failed(&self) {
        let failed_before = |recorded: &&Arc<Frame>| matches!(recorded.state, State::Failed(_));
        if self.recorded().as_ref().is_some_and(failed_before) && !self.failure_ended_the_run() {
            self.shared.run.borrow_mut().mark_frame_handled(&self.path);
        } else if let Some(above) = &self.pending_above {
            above.add_frame(self.path.clone());
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
        self.ledger.budget()
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

fn new_frame(input: FrameInput, source: Option<&ReplaySource>, entry: Option<&Entry>) -> NewFrame {
    let recorded = source
        .filter(|source| source.is_claimed())
        .map(ReplaySource::frame);
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
        handled: source.is_some_and(ReplaySource::failure_was_handled),
        recorded: recorded.cloned(),
        replays: source
            .filter(|source| source.is_claimed())
            .map(ReplaySource::position),
    }
}
