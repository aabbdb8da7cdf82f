//! Failures that stay handled. The retry rule looks at the calls that were started after a failure, and a fork may
//! remove them.

use std::cell::OnceCell;
use std::mem;

use super::tree::{Entry, Subject, Tree};
use super::{NewOutcome, Outcomes};
use crate::model::{Flag, Flags, Frame, State};
use crate::retry_rule::{Ancestor, Failed, Mark};

/// The frames as they were recorded, or as they are now.
struct View<'t> {
    tree: &'t Tree<'t>,
    recorded: bool,
    flags: Flags,
    last_starts: Vec<OnceCell<Option<u64>>>,
}

/// A frame of the view that a failure reaches.
struct Seen<'t> {
    frame: &'t Frame,
    flags: Flags,
    last_start: &'t OnceCell<Option<u64>>,
    started_over: bool,
}

impl Ancestor for Seen<'_> {
    fn frame(&self) -> &Frame {
        self.frame
    }

    fn last_start(&self) -> Option<u64> {
        if self.flags.has(Flag::SeenFailures) {
            return None;
        }
        *self
            .last_start
            .get_or_init(|| self.frame.generation.last_start())
    }

    fn started_over(&self) -> bool {
        self.started_over
    }
}

impl<'t> View<'t> {
    fn new(tree: &'t Tree<'t>, recorded: bool, flags: Flags) -> Self {
        Self {
            tree,
            recorded,
            flags,
            last_starts: vec![OnceCell::new(); tree.nodes.len()],
        }
    }

    fn frame(&self, id: usize) -> &'t Frame {
        if self.recorded {
            return self.tree.nodes[id].source;
        }
        self.tree.frame(id)
    }

    /// True if a replay would retry the failure of an entry in this generation of the frame.
    fn retries(&self, failed: Failed, id: usize, mut generation: usize) -> bool {
        failed.is_retried(self.tree.up_from(id).map(|id| {
            let frame = self.frame(id);
            let reached = mem::replace(&mut generation, self.tree.nodes[id].generation);
            Seen {
                frame,
                flags: self.flags,
                last_start: &self.last_starts[id],
                started_over: reached < frame.earlier.len(),
            }
        }))
    }
}

impl Tree<'_> {
    /// Marks failures as handled that a replay would retry: those that the program had handled before the fork, and the
    /// failures that the changes set.
    pub(super) fn keep_handled(&mut self, outcomes: &Outcomes<'_>, flags: Flags) {
        let is_set = |entry: Entry| matches!(outcomes.get(&entry), Some(NewOutcome::Error(_)));
        let reachable = self.reachable();
        for id in &reachable {
            let subject = Subject::Frame;
            let frame = self.frame(*id);
            if let Some(parent) = self.parent(*id)
                && is_set(Entry { node: *id, subject })
                && matches!(frame.state, State::Failed(_))
                && View::new(self, false, flags).retries(
                    Failed::frame(frame),
                    parent,
                    self.nodes[*id].generation,
                )
            {
                Mark::Kept.set_in_frame(self.edit(*id));
            }
        }
        let before = View::new(self, true, flags);
        let now = View::new(self, false, flags);
        let mut kept = Vec::new();
        for node in reachable {
            let generation = self.last_generation(node);
            for (position, call) in self.frame(node).generation.calls.iter().enumerate() {
                let Some(failed) = Failed::call(call) else {
                    continue;
                };
                if !now.retries(failed, node, generation) {
                    continue;
                }
                let subject = Subject::Call(generation, position);
                let entry = Entry { node, subject };
                let recorded = self.call(entry).and_then(Failed::call);
                let was_handled =
                    recorded.is_some_and(|failed| !before.retries(failed, node, generation));
                if was_handled || is_set(entry) {
                    kept.push(entry);
                }
            }
        }
        for entry in kept {
            if let Some(call) = self.call_mut(entry) {
                Mark::Kept.set_in(&mut call.outcome);
            }
        }
    }
}
