//! Builds the frames of a snapshot from drafts, starting at the leaves.

use std::sync::Arc;

use rpds::VectorSync;

use super::builder::Builder;
use super::draft::{CallDraft, FrameDraft, GenerationDraft, Index, RUN_FRAME};
use super::names::CallNames;
use super::passes::{Pass, passes};
use crate::json::JsonStr;
use crate::model::{Budget, Call, Flag, Flags, Frame, Generation, Memory, Outcome, State, Usage};
use crate::restore::error::RestoreErrorKind;
use crate::restore::read::usage_sum::UsageSum;
use crate::retry_rule::mark_handled_failures;
use crate::util::limits::MAX_FRAME_DEPTH;

impl Builder<'_, '_> {
    /// The root of the tree: the only agent if the run recorded nothing else, otherwise the frame of the run.
    pub(crate) fn into_root(self) -> Result<Arc<Frame>, RestoreErrorKind> {
        let depths = self.frames.iter().map(|frame| frame.depth);
        let deepest = depths.max().unwrap_or(0);
        let root = Assembler::new(self)
            .root()
            .ok_or(RestoreErrorKind::NoRootFrame)?;
        let is_run = root.agent_id.body().is_empty() && root.call_id.body() == "root";
        if is_run && deepest + 1 > MAX_FRAME_DEPTH {
            return Err(RestoreErrorKind::FramesTooDeep {
                path: "root".to_owned(),
                limit: MAX_FRAME_DEPTH,
            });
        }
        Ok(root)
    }
}

struct Assembler<'t> {
    is_own: bool,
    is_continued: bool,
    flags: Flags,
    went_on: bool,
    frames: Vec<FrameDraft>,
    generations: Vec<GenerationDraft>,
    calls: Vec<Option<CallDraft<'t>>>,
    /// Finished frames, by index.
    finished: Vec<Option<Arc<Frame>>>,
    /// The usage of the finished children of each frame.
    below: Vec<Option<UsageSum>>,
    names: CallNames<'t>,
    empty: Empty,
}

/// Empty parts that all frames share, to save allocations.
struct Empty {
    memory: Memory,
    generation: Generation,
    usage: Usage,
    earlier: VectorSync<Arc<Generation>>,
}

impl<'t> Assembler<'t> {
    fn new(builder: Builder<'_, 't>) -> Self {
        let Builder {
            is_own,
            is_continued,
            recorder,
            went_on,
            frames,
            generations,
            calls,
            ..
        } = builder;
        let flags = recorder.map_or(Flags::NONE, |recorder| recorder.flags);
        let count = frames.len();
        Self {
            is_own,
            is_continued,
            flags,
            went_on,
            frames,
            generations,
            calls: calls.into_iter().map(Some).collect(),
            finished: vec![None; count],
            below: (0..count).map(|_| None).collect(),
            names: CallNames::default(),
            empty: Empty {
                memory: Memory::default(),
                generation: Generation::new(0, None, None),
                usage: Usage::default(),
                earlier: VectorSync::new_sync(),
            },
        }
    }

    fn root(mut self) -> Option<Arc<Frame>> {
        // Children come after their parents, so they are finished first.
        while let Some(draft) = self.frames.pop() {
            let index = self.frames.len();
            let frame = self.frame(draft, index);
            self.finished[index] = Some(Arc::new(frame));
        }
        let run = self.finished.first_mut()?.take()?;
        let generation = &run.generation;
        let has_more = self.went_on
            || !generation.calls.is_empty()
            || !run.memory.is_empty()
            || !run.budget.own.is_zero();
        match (generation.children.len(), has_more) {
            (0, false) => None,
            (1, false) => {
                let mut root = generation.children.first().cloned()?;
                // The code around the agent is not part of this snapshot, so it cannot have handled the failure.
                if root.handled {
                    Arc::make_mut(&mut root).handled = false;
                }
                Some(root)
            }
            _ => Some(run),
        }
    }

    fn frame(&mut self, mut draft: FrameDraft, index: usize) -> Frame {
        let budget = self.budget(&mut draft, index);
        let generations: Vec<GenerationDraft> = draft
            .generations
            .iter()
            .map(|at| std::mem::take(&mut self.generations[*at as usize]))
            .collect();
        let is_run = index == RUN_FRAME as usize;
        let unknown_start = self.is_continued && (is_run || !self.is_own);
        let first_memory = (!unknown_start).then(|| self.empty.memory.clone());
        let mut passes = passes(
            generations,
            draft.props,
            first_memory,
            draft.state == State::Running,
        );
        let memory = passes.memory.take();
        let memory = memory.unwrap_or_else(|| self.empty.memory.clone());
        let mut earlier = self.empty.earlier.clone();
        self.names.start_frame(&draft.call_id);
        let last = if self.is_own && !is_run {
            for pass in passes.earlier {
                let generation = self.generation(pass, &draft.agent_id);
                earlier.push_back_mut(Arc::new(generation));
                self.names.start_generation();
            }
            passes.last
        } else {
            passes.merged()
        };
        let last_batch = last.last_batch;
        let mut generation = self.generation(last, &draft.agent_id);
        let completed = matches!(draft.state, State::Completed(_));
        let last_start = if self.flags.has(Flag::SeenFailures) {
            None
        } else {
            generation.last_start().max(last_batch)
        };
        mark_handled_failures(&mut generation, completed, last_start);
        Frame {
            within: draft.within,
            input_hash: draft.input_hash,
            start: draft.start,
            end: draft.end,
            state: draft.state,
            stopped: draft.stopped,
            handled: draft.handled,
            memory,
            earlier,
            budget,
            ..Frame::new(draft.call_id, draft.agent_id, generation)
        }
    }

    /// The budget of a frame. Adds its usage to the frames above; usage before this run is in theirs already.
    fn budget(&mut self, draft: &mut FrameDraft, index: usize) -> Budget {
        let own = draft.usage.take();
        let below = self.below[index].take();
        let own_usage = own.as_ref().map(UsageSum::to_usage);
        let (used, used_usage) = match (own, below) {
            (own, None) => (own, own_usage.clone()),
            (None, Some(below)) => {
                let usage = below.to_usage();
                (Some(below), Some(usage))
            }
            (Some(mut own), Some(below)) => {
                own.add(&below);
                let usage = own.to_usage();
                (Some(own), Some(usage))
            }
        };
        if let Some(used) = used
            && let Some(above) = self.below.get_mut(draft.parent as usize)
        {
            match above {
                Some(above) => above.add(&used),
                None => *above = Some(used),
            }
        }
        match draft.budget.take() {
            None => Budget {
                own: own_usage.unwrap_or_else(|| self.empty.usage.clone()),
                aggregate: used_usage.unwrap_or_else(|| self.empty.usage.clone()),
            },
            Some(mut budget) => {
                if let Some(used) = &own_usage {
                    budget.own.add(used);
                }
                if let Some(used) = &used_usage {
                    budget.aggregate.add(used);
                }
                budget
            }
        }
    }

    fn generation(&mut self, pass: Pass, agent_id: &JsonStr) -> Generation {
        let mut generation = self.empty.generation.clone();
        (generation.id, generation.props, generation.memory) = (pass.id, pass.props, pass.memory);
        let mut calls = pass.calls;
        // Replay answers occurrences in the order in which the calls started.
        calls.sort_by_key(|call| {
            let draft = self.calls[*call as usize].as_ref();
            draft.map_or(0, |draft| draft.start.saturating_add(1))
        });
        let names_itself = |call: &Index| {
            let draft = self.calls[*call as usize].as_ref();
            draft.is_some_and(|draft| draft.call_id.is_some())
        };
        let must_name = !calls.iter().all(names_itself);
        for call in calls {
            let Some(draft) = self.calls[call as usize].take() else {
                continue;
            };
            let named = must_name.then(|| self.names.next(&draft, agent_id));
            if let Some(call) = finish_call(draft, named) {
                generation.calls.push_back_mut(Arc::new(call));
            }
        }
        for child in pass.children {
            if let Some(child) = self.finished[child as usize].take() {
                generation.children.push_back_mut(child);
            }
        }
        generation
    }
}

/// Builds a call. Returns `None` for a call without a hash, which replay cannot find. `named` is the callId for a call
/// whose events contain none.
fn finish_call(draft: CallDraft<'_>, named: Option<JsonStr>) -> Option<Call> {
    let call_id = draft.call_id.or(named)?;
    Some(Call {
        within: draft.within,
        answered: draft.answered,
        end: draft.end,
        outcome: draft.outcome.unwrap_or(Outcome::Pending),
        data: draft.data,
        ..Call::new(draft.kind, draft.hash?, call_id, draft.start)
    })
}
