//! Puts drafts together to the frames of a snapshot, from the leaves up.

use std::collections::HashMap;
use std::sync::Arc;

use rpds::VectorSync;

use super::build::Builder;
use super::draft::{CallDraft, FrameDraft, GenerationDraft, Index, RUN_FRAME};
use super::tally::Tally;
use crate::error::RestoreErrorKind;
use crate::frame::{Frame, Generation, State};
use crate::journal::{Call, Kind, Outcome, Value};
use crate::json::JsonStr;
use crate::limits::MAX_FRAME_DEPTH;
use crate::memory::Memory;
use crate::usage::{Budget, Usage};

impl Builder<'_, '_> {
    /// The root of the tree: the only agent if nothing else was recorded at the root, else the
    /// frame of the run.
    pub(super) fn into_root(self) -> Result<Arc<Frame>, RestoreErrorKind> {
        let deepest = self
            .frames
            .iter()
            .map(|frame| frame.depth)
            .max()
            .unwrap_or(0);
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
    frames: Vec<FrameDraft<'t>>,
    generations: Vec<GenerationDraft>,
    calls: Vec<Option<CallDraft<'t>>>,
    /// Finished frames, by index.
    finished: Vec<Option<Arc<Frame>>>,
    /// Usage of the finished children of each frame.
    below: Vec<Option<Tally<'t>>>,
    empty: Empty,
}

/// Empty parts that all frames share: each would cost some allocations.
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
            frames,
            generations,
            calls,
            ..
        } = builder;
        let count = frames.len();
        Self {
            is_own,
            is_continued,
            frames,
            generations,
            calls: calls.into_iter().map(Some).collect(),
            finished: vec![None; count],
            below: (0..count).map(|_| None).collect(),
            empty: Empty {
                memory: Memory::default(),
                generation: Generation::new(0, None, None),
                usage: Usage::default(),
                earlier: VectorSync::new_sync(),
            },
        }
    }

    fn root(mut self) -> Option<Arc<Frame>> {
        // Children stand behind their parents.
        while let Some(draft) = self.frames.pop() {
            let index = self.frames.len();
            let frame = self.frame(draft, index);
            self.finished[index] = Some(Arc::new(frame));
        }
        let run = self.finished.first_mut()?.take()?;
        let generation = &run.generation;
        let has_more =
            !generation.calls.is_empty() || !run.memory.is_empty() || !run.budget.own.is_zero();
        match (generation.children.len(), has_more) {
            (0, false) => None,
            (1, false) => generation.children.first().cloned(),
            _ => Some(run),
        }
    }

    fn frame(&mut self, mut draft: FrameDraft<'t>, index: usize) -> Frame {
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
        let memory = passes.memory.unwrap_or_else(|| self.empty.memory.clone());
        let mut earlier = self.empty.earlier.clone();
        let mut counts = Counts::default();
        let generation = if self.is_own && !is_run {
            for pass in passes.earlier {
                let generation =
                    self.generation(pass, &draft.call_id, &draft.agent_id, &mut counts);
                earlier.push_back_mut(Arc::new(generation));
                counts.clear();
            }
            self.generation(passes.last, &draft.call_id, &draft.agent_id, &mut counts)
        } else {
            let mut calls = Vec::new();
            let mut children = Vec::new();
            for pass in passes.earlier {
                calls.extend(pass.calls);
                children.extend(pass.children);
            }
            calls.append(&mut passes.last.calls);
            children.append(&mut passes.last.children);
            let united = Pass {
                calls,
                children,
                ..passes.last
            };
            self.generation(united, &draft.call_id, &draft.agent_id, &mut counts)
        };
        Frame {
            call_id: draft.call_id,
            agent_id: draft.agent_id,
            input_hash: draft.input_hash,
            start: draft.start,
            end: draft.end,
            state: draft.state,
            stopped: draft.stopped,
            memory,
            generation,
            earlier,
            budget,
        }
    }

    /// Usage reaches all frames above. What a frame had used before is in theirs already.
    fn budget(&mut self, draft: &mut FrameDraft<'t>, index: usize) -> Budget {
        let own = draft.usage.take();
        let below = self.below[index].take();
        let own_usage = own.as_ref().map(Tally::to_usage);
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

    fn generation(
        &mut self,
        pass: Pass,
        call_id: &JsonStr,
        agent_id: &JsonStr,
        counts: &mut Counts,
    ) -> Generation {
        let mut generation = self.empty.generation.clone();
        (generation.id, generation.props, generation.memory) = (pass.id, pass.props, pass.memory);
        let mut drafts: Vec<CallDraft<'t>> = pass
            .calls
            .iter()
            .filter_map(|call| self.calls[*call as usize].take())
            .collect();
        // Occurrences are handed out in the order in which the calls were started.
        drafts.sort_by_key(|draft| draft.start);
        let must_count = drafts.iter().any(|draft| draft.call_id.is_none());
        for draft in drafts {
            if let Some(call) =
                finish_call(draft, call_id, agent_id, must_count.then_some(&mut *counts))
            {
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

/// A generation before its calls and children are put in.
#[derive(Default)]
struct Pass {
    id: u64,
    props: Option<Value>,
    memory: Option<Memory>,
    calls: Vec<Index>,
    children: Vec<Index>,
}

struct Passes {
    earlier: Vec<Pass>,
    last: Pass,
    /// The memory as it stands, where it is known.
    memory: Option<Memory>,
}

/// The generations of a frame, the last one apart. A frame that was reborn but had not begun the
/// next generation stands at the start of that.
fn passes(
    generations: Vec<GenerationDraft>,
    props: Option<Value>,
    first_memory: Option<Memory>,
    is_running: bool,
) -> Passes {
    let mut passes: Vec<Pass> = Vec::with_capacity(generations.len());
    let mut next = Pass {
        id: 0,
        props,
        memory: first_memory,
        ..Pass::default()
    };
    let mut now = None;
    let mut stands_before_next = true;
    for draft in generations {
        let memory = draft.memory.or(next.memory);
        let props = if draft.has_span {
            draft.props
        } else {
            next.props
        };
        let (reborn, end_memory) = draft
            .end
            .map_or((false, None), |end| (end.reborn, end.memory));
        now = end_memory.clone().or_else(|| memory.clone());
        next = Pass {
            id: draft.id + 1,
            props: draft.new_props.or_else(|| props.clone()),
            memory: end_memory,
            ..Pass::default()
        };
        passes.push(Pass {
            id: draft.id,
            props,
            memory,
            calls: draft.calls,
            children: draft.children,
        });
        stands_before_next = reborn && is_running;
    }
    let last = if stands_before_next {
        None
    } else {
        passes.pop()
    };
    let last = last.unwrap_or(next);
    Passes {
        earlier: passes,
        memory: now.or_else(|| last.memory.clone()),
        last,
    }
}

/// How many calls with a name were made, by kind.
type Counts = HashMap<(Kind, String), u32>;

/// `None` for a call that cannot be found again: its events give no hash.
fn finish_call(
    draft: CallDraft<'_>,
    frame: &JsonStr,
    agent_id: &JsonStr,
    counts: Option<&mut Counts>,
) -> Option<Call> {
    let CallDraft {
        kind,
        name,
        call_id,
        hash,
        start,
        end,
        outcome,
        meta,
    } = draft;
    let counted = counts.map(|counts| {
        let name = name.unwrap_or_else(|| agent_id.body().into()).into_owned();
        let count = counts.entry((kind.clone(), name.clone())).or_insert(0);
        *count += 1;
        (name, *count - 1)
    });
    let counted = || {
        let (name, count) = counted.unwrap_or_default();
        JsonStr::from_normalized_body(&format!("{}/{}:{name}:{count}", frame.body(), kind.name()))
    };
    let call_id = call_id.unwrap_or_else(counted);
    let outcome = outcome.unwrap_or(Outcome::Pending);
    Some(Call {
        kind,
        hash: hash?,
        call_id,
        start,
        end,
        outcome,
        request: None,
        meta,
    })
}
