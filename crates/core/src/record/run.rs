//! A run that is being recorded: its frame tree, and the order of its starts and ends.

use std::sync::Arc;

use rpds::VectorSync;

use crate::hash::InputHash;
use crate::json::{JsonStr, JsonText};
use crate::model::{
    Budget, Call, CallData, Clock, Divergence, Frame, Generation, Kind, Memory, Outcome,
    Renumbering, Request, RequestHash, State, Usage, Value, orphaned_error,
};
use crate::replay::{inner_orders, renumbered, settle, without_recorded_link};
use crate::retry_rule::Mark;

/// The tree is changed in place as long as no dump shares it. After a dump, a change copies the path to the changed
/// entry, once.
#[derive(Debug)]
pub struct Run {
    root: Arc<Frame>,
    pub(super) clock: Clock,
}

/// The path of a live frame in its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FramePath(Vec<Step>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// How many generations the parent had ended when the child was opened.
    ended_generations: usize,
    child: usize,
}

impl FramePath {
    /// The path of a frame that is not in the tree. Everything that such a frame journals is dropped.
    #[must_use]
    pub fn nowhere() -> Self {
        Self(vec![Step {
            ended_generations: usize::MAX,
            child: usize::MAX,
        }])
    }
}

/// The position of a call in its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallSlot {
    pub(super) ended_generations: usize,
    pub(super) call: usize,
}

impl CallSlot {
    /// The slot as a number that JavaScript stores exactly: below 2^53 for 2^21 generations of 2^32 calls.
    #[must_use]
    pub fn to_number(self) -> u64 {
        ((self.ended_generations as u64) << 32) | self.call as u64
    }

    #[must_use]
    pub fn from_number(number: u64) -> Self {
        let low = number & u64::from(u32::MAX);
        Self {
            ended_generations: usize::try_from(number >> 32).unwrap_or(usize::MAX),
            call: usize::try_from(low).unwrap_or(usize::MAX),
        }
    }
}

/// A call at its start.
#[derive(Debug, Clone)]
pub struct NewCall {
    pub kind: Kind,
    pub hash: RequestHash,
    pub call_id: JsonStr,
    /// The callId of its outer call.
    pub within: Option<JsonStr>,
    /// Pending, or the answer of a recording.
    pub outcome: Outcome,
    pub request: Option<Request>,
    pub data: CallData,
    /// Position of the recorded call that it replays or retries, and the recorded order of its start.
    pub replays: Option<usize>,
    pub start: Option<u64>,
}

/// The end of a call that was executed.
#[derive(Debug, Clone)]
pub struct Ended {
    pub outcome: Outcome,
    pub data: CallData,
}

/// A frame at its start.
#[derive(Debug, Clone)]
pub struct NewFrame {
    pub call_id: JsonStr,
    pub agent_id: JsonStr,
    /// The callId of the call that it is opened inside of.
    pub within: Option<JsonStr>,
    pub input_hash: Option<InputHash>,
    pub generation: u64,
    pub props: Option<Value>,
    pub memory: Memory,
    pub earlier: VectorSync<Arc<Generation>>,
    pub budget: Budget,
    /// True if the recorded failure of the frame was handled. It counts if the frame fails again.
    pub handled: bool,
    /// The recorded frame that it replays, and the position of that one in its parent.
    pub recorded: Option<Arc<Frame>>,
    pub replays: Option<usize>,
}

impl NewFrame {
    fn into_frame(self, start: u64) -> Frame {
        let generation = Generation::new(self.generation, self.props, Some(self.memory));
        let mut frame = Frame::new(self.call_id, self.agent_id, generation);
        frame.within = self.within;
        frame.input_hash = self.input_hash;
        frame.start = Some(start);
        frame.earlier = self.earlier;
        frame.budget = self.budget;
        frame.handled = self.handled;
        frame.recorded = self.recorded;
        frame.replays = self.replays;
        frame
    }
}

impl Run {
    #[must_use]
    pub fn new(root: NewFrame) -> Self {
        let mut clock = Clock::default();
        let recorded = root.recorded.as_ref();
        let start = clock.assign(recorded.map(|frame| frame.start.unwrap_or(0)));
        Self {
            root: Arc::new(root.into_frame(start)),
            clock,
        }
    }

    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The tree as it is now. Taking it costs nothing, and it never changes.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Frame> {
        Arc::clone(&self.root)
    }

    /// A frame that still runs; `None` if it, or a frame above it, has ended.
    pub(super) fn live(&mut self, path: &FramePath) -> Option<&mut Frame> {
        let mut frame = Arc::make_mut(&mut self.root);
        for step in &path.0 {
            if !frame.is_running() || frame.earlier.len() != step.ended_generations {
                return None;
            }
            frame = Arc::make_mut(frame.generation.children.get_mut(step.child)?);
        }
        frame.is_running().then_some(frame)
    }

    /// Reads a frame, running or not.
    #[must_use]
    pub fn frame(&self, path: &FramePath) -> Option<&Frame> {
        let mut frame = &self.root;
        for step in &path.0 {
            let generation = match frame.earlier.get(step.ended_generations) {
                Some(ended) => ended,
                None => &frame.generation,
            };
            frame = generation.children.get(step.child)?;
        }
        Some(frame)
    }

    /// A frame that can journal calls: the run has not ended, and neither the frame nor one above it was cut off by the
    /// end of its parent. The frame itself may have ended: its calls may end later.
    fn open(&mut self, path: &FramePath) -> Option<&mut Frame> {
        let mut frame = Arc::make_mut(&mut self.root);
        if !frame.is_running() {
            return None;
        }
        for step in &path.0 {
            frame = child_of(frame, *step)?;
            let is_cut_off = !frame.is_running() && frame.end.is_none();
            if is_cut_off {
                return None;
            }
        }
        Some(frame)
    }

    /// Opens a sub-agent's frame under `parent`. `None` if `parent` has ended.
    pub fn open_frame(&mut self, parent: &FramePath, frame: NewFrame) -> Option<FramePath> {
        let start = self
            .clock
            .assign(frame.recorded.as_ref().and_then(|recorded| recorded.start));
        let parent_frame = self.live(parent)?;
        let step = Step {
            ended_generations: parent_frame.earlier.len(),
            child: parent_frame.generation.children.len(),
        };
        parent_frame
            .generation
            .children
            .push_back_mut(Arc::new(frame.into_frame(start)));
        let mut path = parent.clone();
        path.0.push(step);
        Some(path)
    }

    /// Journals the start of a call. `None` if the run has ended, or if the frame was cut off by the end of its parent.
    pub fn begin_call(&mut self, path: &FramePath, call: NewCall) -> Option<CallSlot> {
        let start = self.clock.assign(call.start);
        let frame = self.open(path)?;
        let slot = CallSlot {
            ended_generations: frame.earlier.len(),
            call: frame.generation.calls.len(),
        };
        let call = Call {
            kind: call.kind,
            hash: call.hash,
            call_id: call.call_id,
            within: call.within,
            start,
            answered: None,
            end: None,
            outcome: call.outcome,
            request: call.request,
            data: call.data,
            replays: call.replays,
            carried_over: false,
            dropped: false,
        };
        frame.generation.calls.push_back_mut(Arc::new(call));
        Some(slot)
    }

    /// Journals that the program receives a call's answer before the call's end. `recorded`: the recorded order of that.
    pub fn answer_call(&mut self, path: &FramePath, slot: CallSlot, recorded: Option<u64>) -> bool {
        let order = self.clock.assign(recorded);
        let Some(call) = self.live_call(path, slot) else {
            return false;
        };
        call.answered = Some(order);
        true
    }

    /// Journals the end of a call that was executed. `false` if nothing is journaled, as in [`Run::begin_call`].
    pub fn end_call(&mut self, path: &FramePath, slot: CallSlot, ended: Ended) -> bool {
        let end = self.clock.assign(None);
        let Some(call) = self.live_call(path, slot) else {
            return false;
        };
        let was_handled = call.is_handled();
        call.end = Some(end);
        call.outcome = ended.outcome;
        call.data = ended.data;
        // The failure was part of an answer that the program received before the end. The program then continued.
        if call.answered.is_some() && was_handled {
            Mark::Handled.set_in(&mut call.outcome);
        }
        true
    }

    /// Journals the end of a replayed call. `end`: its recorded order.
    pub fn release_call(&mut self, path: &FramePath, slot: CallSlot, end: Option<u64>) -> bool {
        let end = self.clock.assign(end);
        let Some(call) = self.live_call(path, slot) else {
            return false;
        };
        call.end = Some(end);
        true
    }

    /// Notes that a replayed call is executed again: its answer and its end are unknown again.
    pub fn reopen_call(&mut self, path: &FramePath, slot: CallSlot) -> bool {
        let Some(call) = self.live_call(path, slot) else {
            return false;
        };
        call.outcome = Outcome::Pending;
        call.answered = None;
        call.end = None;
        call.data = std::mem::take(&mut call.data).of_start();
        true
    }

    /// Notes the lane of a call. `lane`: a JSON string.
    pub fn set_lane(&mut self, path: &FramePath, slot: CallSlot, lane: JsonText) {
        if let Some(call) = self.live_call(path, slot) {
            call.data.lane = Some(lane);
        }
    }

    /// Marks this call's failure. Returns its callId; `None` if it has not failed, or its generation has ended.
    pub(crate) fn mark_call(
        &mut self,
        path: &FramePath,
        slot: CallSlot,
        mark: Mark,
    ) -> Option<JsonStr> {
        let call = self.live_call(path, slot)?;
        mark.set_in(&mut call.outcome);
        let has_failed = matches!(call.outcome, Outcome::Failure { .. });
        has_failed.then(|| call.call_id.clone())
    }

    /// Reads a call. `None` if its generation has ended.
    pub(super) fn call(&self, path: &FramePath, slot: CallSlot) -> Option<&Call> {
        let frame = self.frame(path)?;
        let is_current = frame.earlier.len() == slot.ended_generations;
        let calls = is_current.then_some(&frame.generation.calls)?;
        calls.get(slot.call).map(Arc::as_ref)
    }

    fn live_call(&mut self, path: &FramePath, slot: CallSlot) -> Option<&mut Call> {
        let generation = generation_of(self.open(path)?, slot.ended_generations);
        generation.calls.get_mut(slot.call).map(Arc::make_mut)
    }

    /// Marks this frame's failure. Call it before the parent ends. Returns its callId; `None` if it is too late.
    pub(crate) fn mark_frame(&mut self, path: &FramePath, mark: Mark) -> Option<JsonStr> {
        let child = self.live_child(path)?;
        mark.set_in_frame(child);
        Some(child.call_id.clone())
    }

    /// A frame, ended or not, whose parent's generation has not ended.
    fn live_child(&mut self, path: &FramePath) -> Option<&mut Frame> {
        let (step, parent) = path.0.split_last()?;
        let frame = self.live(&FramePath(parent.to_vec()))?;
        if frame.earlier.len() != step.ended_generations {
            return None;
        }
        frame
            .generation
            .children
            .get_mut(step.child)
            .map(Arc::make_mut)
    }

    /// Sets a key of the frame's memory. An `initial` value is also added to the memory at the start of the generation.
    pub fn set_memory(&mut self, path: &FramePath, key: JsonStr, value: JsonText, initial: bool) {
        let Some(frame) = self.live(path) else {
            return;
        };
        if initial && let Some(at_start) = &mut frame.generation.memory {
            at_start.insert(key.clone(), value.clone());
        }
        frame.memory.insert(key, value);
    }

    /// Adds usage to the frame, and to the aggregate of all frames above it.
    pub fn add_usage(&mut self, path: &FramePath, delta: &Usage) -> bool {
        if self.open(path).is_none() {
            return false;
        }
        let mut frame = Arc::make_mut(&mut self.root);
        frame.budget.aggregate.add(delta);
        for step in &path.0 {
            let Some(child) = child_of(frame, *step) else {
                return false;
            };
            frame = child;
            frame.budget.aggregate.add(delta);
        }
        frame.budget.own.add(delta);
        true
    }

    /// Replaces this frame by a copy of a recorded one, and ends it. `handled`: its recorded failure was handled.
    pub fn adopt(&mut self, path: &FramePath, recorded: &Frame, handled: bool) -> bool {
        let inner = if self.clock.moved == 0 {
            recorded.clone()
        } else {
            // Everything in it gets its order at once, before its end.
            let orders = Renumbering::new(inner_orders(recorded), self.clock.next);
            self.clock.continue_after(&orders);
            renumbered(recorded, &orders)
        };
        let end = self.clock.assign(recorded.end);
        let Some(frame) = self.live(path) else {
            return false;
        };
        let (call_id, within) = (frame.call_id.clone(), frame.within.clone());
        let (start, replays) = (frame.start, frame.replays);
        *frame = Frame {
            call_id,
            within,
            start,
            replays,
            end: Some(end),
            stopped: false,
            handled,
            divergence: Divergence::None,
            ..inner
        };
        true
    }

    /// Notes that something in the frame, and so in those above it, is not in the recording.
    pub fn mark_diverged(&mut self, path: &FramePath) {
        let mut frame = Arc::make_mut(&mut self.root);
        frame.divergence = Divergence::Diverged;
        for step in &path.0 {
            let Some(child) = child_of(frame, *step) else {
                return;
            };
            frame = child;
            frame.divergence = Divergence::Diverged;
        }
    }

    /// Ends the frame's generation and begins the next one, with the current memory.
    pub fn next_generation(&mut self, path: &FramePath, props: Option<Value>) -> bool {
        let Some(frame) = self.live(path) else {
            return false;
        };
        close_children(&mut frame.generation, &frame.agent_id.clone());
        let next = Generation::new(
            frame.generation.id.saturating_add(1),
            props,
            Some(frame.memory.clone()),
        );
        let mut ended = std::mem::replace(&mut frame.generation, next);
        if frame.recorded.is_some() {
            settle(&mut ended);
            ended.children = ended.children.iter().map(without_recorded_link).collect();
        }
        // The recording contains the generation that has ended now, not the next one.
        frame.recorded = None;
        frame.earlier.push_back_mut(Arc::new(ended));
        true
    }

    /// Ends a frame, and the frames under it that still run. `end`: the recorded order of its end, if it has not
    /// diverged.
    pub fn end_frame(&mut self, path: &FramePath, state: State, end: Option<u64>) -> bool {
        let end = self.clock.assign(end);
        let Some(frame) = self.live(path) else {
            return false;
        };
        frame.end = Some(end);
        frame.state = state;
        let agent_id = frame.agent_id.clone();
        close_children(&mut frame.generation, &agent_id);
        true
    }
}

fn generation_of(frame: &mut Frame, ended_generations: usize) -> &mut Generation {
    match frame.earlier.get_mut(ended_generations) {
        Some(ended) => Arc::make_mut(ended),
        None => &mut frame.generation,
    }
}

fn child_of(frame: &mut Frame, step: Step) -> Option<&mut Frame> {
    let generation = generation_of(frame, step.ended_generations);
    generation.children.get_mut(step.child).map(Arc::make_mut)
}

/// Marks the failure of a frame, or of a call in it, as if the run had ended with it.
pub(super) fn mark_as_end_of_run(tree: &mut Arc<Frame>, path: &FramePath, slot: Option<CallSlot>) {
    let mut frame = Arc::make_mut(tree);
    for step in &path.0 {
        if frame.earlier.len() != step.ended_generations {
            return;
        }
        let Some(child) = frame.generation.children.get_mut(step.child) else {
            return;
        };
        frame = Arc::make_mut(child);
        Mark::STOPPED.set_in_frame(frame);
    }
    if let Some(slot) = slot
        && frame.earlier.len() == slot.ended_generations
        && let Some(call) = frame.generation.calls.get_mut(slot.call)
    {
        Mark::STOPPED.set_in(&mut Arc::make_mut(call).outcome);
    }
}

/// Fails the children that still run, and those under them. Their journals stay.
fn close_children(generation: &mut Generation, agent_id: &JsonStr) {
    let running = |generation: &Generation| -> Vec<usize> {
        let children = generation.children.iter().enumerate();
        children
            .filter(|(_, child)| child.is_running())
            .map(|(position, _)| position)
            .collect()
    };
    for position in running(generation) {
        let Some(child) = generation.children.get_mut(position) else {
            continue;
        };
        let child = Arc::make_mut(child);
        child.state = State::Failed(Some(orphaned_error(agent_id)));
        let child_id = child.agent_id.clone();
        // Recurses as deep as the run nests, which is bounded.
        close_children(&mut child.generation, &child_id);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/record/run.rs"]
mod tests;
