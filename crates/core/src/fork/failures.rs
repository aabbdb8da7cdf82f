//! Failures that stay handled. A resumed run retries the calls whose failure ended the recorded run, and replays the
//! failures that the program had handled. It tells them apart by what was started after them, some of which a fork takes
//! out.

use std::cell::OnceCell;

use super::tree::{Entry, Subject, Tree};
use super::{NewOutcome, Outcomes};
use crate::model::{Frame, Outcome, State};
use crate::replay::{Ancestor, Failed};

/// The frames as they were recorded, or as they are now.
struct View<'t> {
    tree: &'t Tree<'t>,
    recorded: bool,
    last_starts: Vec<OnceCell<Option<u64>>>,
}

/// A frame of the view that a failure reaches.
struct Seen<'t> {
    frame: &'t Frame,
    last_start: &'t OnceCell<Option<u64>>,
}

impl Ancestor for Seen<'_> {
    fn frame(&self) -> &Frame {
        self.frame
    }

    fn last_start(&self) -> Option<u64> {
        *self
            .last_start
            .get_or_init(|| self.frame.generation.last_start())
    }
}

impl<'t> View<'t> {
    fn new(tree: &'t Tree<'t>, recorded: bool) -> Self {
        Self {
            tree,
            recorded,
            last_starts: vec![OnceCell::new(); tree.nodes.len()],
        }
    }

    fn frame(&self, id: usize) -> &'t Frame {
        if self.recorded {
            return self.tree.nodes[id].source;
        }
        self.tree.frame(id)
    }

    /// True if the failure of an entry in this generation of the frame ended the run.
    fn was_ended_by(&self, failed: Failed, id: usize, generation: usize) -> bool {
        // A frame that started another generation had handled the failure.
        let mut generation = generation;
        for id in self.tree.up_from(id) {
            if generation < self.frame(id).earlier.len() {
                return false;
            }
            generation = self.tree.nodes[id].generation;
        }
        failed.ended_the_run(self.tree.up_from(id).map(|id| Seen {
            frame: self.frame(id),
            last_start: &self.last_starts[id],
        }))
    }
}

impl Tree<'_> {
    /// Marks failures as handled that a replay would retry: those that the program had handled before the fork, and the
    /// failures that the changes set.
    pub(super) fn keep_handled(&mut self, outcomes: &Outcomes<'_>) {
        let is_set = |entry: Entry| matches!(outcomes.get(&entry), Some(NewOutcome::Error(_)));
        let reachable = self.reachable();
        for id in &reachable {
            let subject = Subject::Frame;
            let frame = self.frame(*id);
            if let Some(parent) = self.parent(*id)
                && is_set(Entry { node: *id, subject })
                && matches!(frame.state, State::Failed(_))
                && View::new(self, false).was_ended_by(
                    Failed::frame(frame),
                    parent,
                    self.nodes[*id].generation,
                )
            {
                let frame = self.edit(*id);
                frame.stopped = false;
                frame.handled = true;
            }
        }
        let (before, now) = (View::new(self, true), View::new(self, false));
        let mut kept = Vec::new();
        for node in reachable {
            let generation = self.last_generation(node);
            for (position, call) in self.frame(node).generation.calls.iter().enumerate() {
                let Some(failed) = Failed::call(call) else {
                    continue;
                };
                if !now.was_ended_by(failed, node, generation) {
                    continue;
                }
                let subject = Subject::Call {
                    generation,
                    position,
                };
                let entry = Entry { node, subject };
                let recorded = self.call(entry).and_then(Failed::call);
                let was_handled =
                    recorded.is_some_and(|failed| !before.was_ended_by(failed, node, generation));
                if was_handled || is_set(entry) {
                    kept.push(entry);
                }
            }
        }
        for entry in kept {
            if let Some(call) = self.call_mut(entry)
                && let Outcome::Failure {
                    stopped, handled, ..
                } = &mut call.outcome
            {
                *stopped = false;
                *handled = true;
            }
        }
    }
}
