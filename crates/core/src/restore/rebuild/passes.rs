//! The generations that a frame went through.

use super::draft::{GenerationDraft, Index};
use crate::model::{Memory, Value};

/// A generation before its calls and children are put in.
#[derive(Default)]
pub(crate) struct Pass {
    pub id: u64,
    pub props: Option<Value>,
    pub memory: Option<Memory>,
    pub calls: Vec<Index>,
    pub children: Vec<Index>,
    pub last_batch: Option<u64>,
}

pub(crate) struct Passes {
    pub earlier: Vec<Pass>,
    pub last: Pass,
    /// The current memory, if known.
    pub memory: Option<Memory>,
}

impl Passes {
    /// All generations merged into one, for frames that keep one journal over all generations.
    pub(crate) fn merged(self) -> Pass {
        let mut last = self.last;
        if !self.earlier.is_empty() {
            let (mut calls, mut children) = (Vec::new(), Vec::new());
            for pass in self.earlier {
                calls.extend(pass.calls);
                children.extend(pass.children);
                last.last_batch = last.last_batch.max(pass.last_batch);
            }
            calls.append(&mut last.calls);
            children.append(&mut last.children);
            (last.calls, last.children) = (calls, children);
        }
        last
    }
}

/// The generations of a frame, with the last one separate. If the frame was reborn but has not begun the next
/// generation, the last one is that next generation at its start.
pub(crate) fn passes(
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
    let mut next_is_due = true;
    for draft in generations {
        let mut memory = draft.memory.or(next.memory);
        if let Some(memory) = &mut memory {
            for (key, value) in draft.initial {
                memory.insert(key, value);
            }
        }
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
            last_batch: draft.last_batch,
        });
        next_is_due = reborn && is_running;
    }
    let last = if next_is_due { None } else { passes.pop() };
    let last = last.unwrap_or(next);
    Passes {
        earlier: passes,
        memory: now.or_else(|| last.memory.clone()),
        last,
    }
}
