//! Calls and frames that were asked inside a call: they go with it, and a change inside it executes it again.

use std::collections::HashSet;

use super::tree::{Entry, Subject, Tree, generation_at};
use super::{Edit, Outcomes};
use crate::json::JsonStr;
use crate::model::Generation;

impl Tree<'_> {
    /// Everything that was recorded inside a call, also inside the calls in it. Nothing for a frame or a row.
    pub(super) fn inside(&self, entry: Entry) -> Vec<Entry> {
        let Subject::Call(generation, _) = entry.subject else {
            return Vec::new();
        };
        let source = self.nodes[entry.node].source;
        let (Some(outer), Some(body)) = (self.call(entry), generation_at(source, generation))
        else {
            return Vec::new();
        };
        let mut outers = HashSet::from([&outer.call_id]);
        let mut found = Vec::new();
        // Calls are in the order of their starts, so a call comes after its outer call.
        for (position, call) in body.calls.iter().enumerate() {
            if call
                .within
                .as_ref()
                .is_some_and(|outer| outers.contains(outer))
            {
                outers.insert(&call.call_id);
                let subject = Subject::Call(generation, position);
                found.push(Entry { subject, ..entry });
            }
        }
        for child in self.nodes[entry.node]
            .children
            .get(generation)
            .into_iter()
            .flatten()
        {
            let within = &self.nodes[*child].source.within;
            if within.as_ref().is_some_and(|outer| outers.contains(outer)) {
                let (node, subject) = (*child, Subject::Frame);
                found.push(Entry { node, subject });
            }
        }
        found
    }

    /// Puts the calls around each change back in flight, so that a replay executes them and reaches it. A call with a
    /// new outcome returns that, whatever changed inside.
    pub(super) fn reopen_outer_calls(&mut self, edits: &[Edit<'_>], outcomes: &Outcomes<'_>) {
        let mut outer_calls = HashSet::new();
        for edit in edits {
            let mut at = Some(edit.entry);
            while let Some(entry) = at {
                at = self
                    .around(entry)
                    .filter(|outer| !outcomes.contains_key(outer));
                // A call may be around several changes, and in an edited recording inside itself.
                if let Some(outer) = at
                    && matches!(outer.subject, Subject::Call(..))
                    && !outer_calls.insert(outer)
                {
                    break;
                }
            }
        }
        for outer in outer_calls {
            if self.is_kept(outer) {
                self.empty(outer);
            }
        }
    }

    /// The call that an entry was asked inside of, or else its frame. `None` for the root.
    fn around(&self, entry: Entry) -> Option<Entry> {
        let node = &self.nodes[entry.node];
        let frame = Entry {
            subject: Subject::Frame,
            ..entry
        };
        match entry.subject {
            Subject::Frame => {
                let parent = node.parent?;
                let body = generation_at(self.nodes[parent].source, node.generation)?;
                let outer = position_of(body, node.source.within.as_ref());
                Some(Entry {
                    node: parent,
                    subject: outer.map_or(Subject::Frame, |position| {
                        Subject::Call(node.generation, position)
                    }),
                })
            }
            Subject::Row(..) => Some(frame),
            Subject::Call(generation, _) => {
                let body = generation_at(node.source, generation)?;
                let outer = position_of(body, self.call(entry)?.within.as_ref());
                Some(outer.map_or(frame, |position| Entry {
                    subject: Subject::Call(generation, position),
                    ..entry
                }))
            }
        }
    }
}

fn position_of(body: &Generation, call_id: Option<&JsonStr>) -> Option<usize> {
    let call_id = call_id?;
    body.calls.iter().position(|call| call.call_id == *call_id)
}
