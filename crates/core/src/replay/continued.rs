//! The trace of a resumed run contains only what that run has requested. With the links to the recording that it
//! resumed, a snapshot of it carries over the rest, like a dump of that run.

use std::collections::HashMap;
use std::sync::Arc;

use super::copy::inner_orders;
use super::recorded_frame::run_frame_over;
use super::source::{Answer, Miss, Place, ReplaySource, Verdict};
use crate::json::JsonStr;
use crate::model::{Call, Clock, Divergence, Flag, Flags, Frame, Memory, Outcome, Usage};
use crate::retry_rule::Failures;

/// The restored frames of a run with their links to the recording that it resumed, and its clock.
#[must_use]
pub fn linked(resumed: &Arc<Frame>, recording: &Arc<Frame>, flags: Flags) -> (Frame, Clock) {
    let resumed = run_frame_of(resumed);
    let next = inner_orders(&resumed).into_iter().max();
    let clock = Clock {
        next: next.map_or(0, |last| last.saturating_add(1)),
        moved: 0,
    };
    let source = ReplaySource::of_tree(recording, flags);
    let mut top = Linking::new(resumed, 0, Some(source));
    let mut open: Vec<Linking> = Vec::new();
    loop {
        if let Some(child) = top.next_child() {
            open.push(std::mem::replace(&mut top, child));
            continue;
        }
        let Some(mut parent) = open.pop() else {
            return (top.frame, clock);
        };
        if top.frame.divergence == Divergence::Diverged {
            parent.frame.divergence = Divergence::Diverged;
        }
        let children = &mut parent.frame.generation.children;
        children.set_mut(top.position, Arc::new(top.frame));
        top = parent;
    }
}

/// The frame of the run. A trace with one agent and nothing else is restored as that agent: the run has no memory and no
/// usage of its own.
fn run_frame_of(root: &Arc<Frame>) -> Frame {
    if root.agent_id.body().is_empty() || root.call_id.body() == "root" {
        return Frame::clone(root);
    }
    let mut run = run_frame_over(root);
    run.memory = Memory::default();
    run.generation.memory = Some(Memory::default());
    run.budget.own = Usage::default();
    run
}

/// A frame that is being linked. Its calls are linked first, then its children.
struct Linking {
    frame: Frame,
    /// Position in the parent.
    position: usize,
    source: Option<ReplaySource>,
    /// By the callId of a call: the recorded one.
    names: HashMap<JsonStr, JsonStr>,
    next_child: usize,
}

impl Linking {
    fn new(mut frame: Frame, position: usize, source: Option<ReplaySource>) -> Self {
        // An agent that has started over is past the recording.
        let source = source.filter(|source| source.frame().generation.id == frame.generation.id);
        if let Some(claimed) = source.as_ref().filter(|source| source.is_claimed()) {
            frame.recorded = Some(Arc::clone(claimed.frame()));
            frame.replays = (!frame.agent_id.body().is_empty()).then(|| claimed.position());
        } else {
            frame.divergence = Divergence::Diverged;
        }
        let mut linking = Self {
            frame,
            position,
            source,
            names: HashMap::new(),
            next_child: 0,
        };
        linking.link_calls();
        linking
    }

    fn link_calls(&mut self) {
        for position in 0..self.frame.generation.calls.len() {
            let Some(call) = self.frame.generation.calls.get(position).map(Arc::clone) else {
                continue;
            };
            let answer = self.answer(&call);
            let is_new = answer.call.is_none()
                || matches!(answer.verdict, Verdict::Miss(Miss::Retry { .. }));
            if is_new || matches!(answer.verdict, Verdict::Miss(_)) && call.end.is_some() {
                self.frame.divergence = Divergence::Diverged;
            }
            if let Some(recorded) = &answer.call {
                let recorded = recorded.call_id.clone();
                self.names.insert(call.call_id.clone(), recorded);
                let linked = Arc::new(with_answer(&call, answer));
                self.frame.generation.calls.set_mut(position, linked);
            }
        }
    }

    fn answer(&self, call: &Call) -> Answer {
        let taken = self.source.as_ref().and_then(|source| {
            let place = self.place(source, call.within.as_ref())?;
            let keys = std::slice::from_ref(&call.hash);
            let lane = call.data.lane.as_ref();
            let is_exact = call.data.inexact.is_none();
            let failures = Failures::default();
            Some(source.take(&place, &call.kind, keys, lane, is_exact, failures))
        });
        taken.unwrap_or_else(|| Answer::miss(Miss::NotRecorded))
    }

    /// Where the recording has what was asked inside a call. `None` if that call is not recorded.
    fn place(&self, source: &ReplaySource, within: Option<&JsonStr>) -> Option<Place> {
        match within.filter(|_| source.flags().has(Flag::InnerCalls)) {
            Some(outer) => self.names.get(outer).cloned().map(Some),
            None => Some(None),
        }
    }

    fn next_child(&mut self) -> Option<Self> {
        let position = self.next_child;
        let child = self.frame.generation.children.get(position)?;
        self.next_child += 1;
        let source = self.source.as_ref().and_then(|source| {
            let place = self.place(source, child.within.as_ref())?;
            source.child(&place, &child.agent_id, child.input_hash?, &child.call_id)
        });
        Some(Self::new(Frame::clone(child), position, source))
    }
}

/// A call with the link to the recorded one, and with its answer if the run has not received that yet.
fn with_answer(call: &Call, answer: Answer) -> Call {
    let mut call = call.clone();
    call.replays = answer.position;
    if call.outcome != Outcome::Pending {
        return call;
    }
    call.outcome = match answer.verdict {
        Verdict::Output(value) => Outcome::Output(value),
        Verdict::Failure(error) => Outcome::Failure {
            error,
            stopped: false,
            handled: answer.handled,
        },
        Verdict::Miss(_) => return call,
    };
    if let Some(recorded) = answer.call {
        call.data = recorded.data.clone();
    }
    call
}
