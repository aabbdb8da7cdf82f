//! Removes entries, and everything that was started after they ended.

use std::collections::HashMap;
use std::sync::Arc;

use super::tree::{Entry, ROOT, Subject, Tree, generation_at, generation_mut, generations};
use crate::model::{Call, Frame, Generation, Memory, Outcome, RequestHash, State};

/// An entry that is removed together with everything after it.
pub(super) struct Dropped {
    pub(super) entry: Entry,
    /// The entry itself stays, because it gets a new outcome.
    pub(super) stays: bool,
}

/// The last generation that a frame may keep, so that a replay reaches the changed entries.
pub(super) struct Routes(HashMap<usize, usize>);

impl Routes {
    pub(super) fn to(tree: &Tree<'_>, entries: impl Iterator<Item = Entry>) -> Self {
        let mut last = HashMap::new();
        for entry in entries {
            let node = &tree.nodes[entry.node];
            let (mut at, mut generation) = match entry.subject {
                Subject::Frame => (node.parent, node.generation),
                Subject::Call(generation, _) | Subject::Row(generation, _) => {
                    (Some(entry.node), generation)
                }
            };
            while let Some(id) = at {
                let known = last.entry(id).or_insert(generation);
                *known = generation.min(*known);
                (at, generation) = (tree.nodes[id].parent, tree.nodes[id].generation);
            }
        }
        Self(last)
    }
}

/// The order after which everything is removed. `None` keeps everything.
#[derive(Clone, Copy)]
struct Cut(Option<u64>);

impl Cut {
    fn is_before(self, order: Option<u64>) -> bool {
        self.0.is_some_and(|cut| order > Some(cut))
    }
}

impl Tree<'_> {
    /// Removes entries from the tree, and everything that was started after they ended. Entries that started earlier
    /// stay, even if they ended later. Frames that ended later, and those that lost entries, are executed again.
    ///
    /// A removed call or frame keeps its start, like one that has started and contains nothing yet, and no content. So other occurrences
    /// of the same request keep their position, and failures before it still count as handled.
    pub(super) fn remove(&mut self, all_dropped: &[Dropped], routes: &Routes) {
        let ends = all_dropped.iter();
        let ends = ends.filter_map(|dropped| self.end_of(dropped.entry));
        let cut = Cut(ends.min());
        let mut lost = vec![false; self.nodes.len()];
        let mut emptied = vec![false; self.nodes.len()];
        for dropped in all_dropped {
            let Entry { node, subject } = dropped.entry;
            let is_frame = subject == Subject::Frame;
            let owner = if is_frame {
                self.parent(node)
            } else {
                Some(node)
            };
            if let Some(owner) = owner {
                lost[owner] = true;
            }
            if !dropped.stays {
                emptied[node] |= is_frame;
                self.empty(dropped.entry);
                for inner in self.inside(dropped.entry) {
                    emptied[inner.node] |= inner.subject == Subject::Frame;
                    self.empty(inner);
                }
            }
        }
        // Parents are trimmed before their children are visited.
        let mut open = vec![ROOT];
        let mut next = 0;
        while let Some(id) = open.get(next).copied() {
            lost[id] |= self.trim(id, cut, routes);
            open.extend(self.nodes[id].children.last().into_iter().flatten());
            next += 1;
        }
        for id in open.iter().rev() {
            if lost[*id]
                && let Some(parent) = self.parent(*id)
            {
                lost[parent] = true;
            }
        }
        let mut reopened = vec![false; self.nodes.len()];
        for id in open.into_iter().filter(|id| !emptied[*id]) {
            let frame = self.frame(id);
            let above = self.parent(id).is_some_and(|parent| reopened[parent]);
            if lost[id] || cut.is_before(frame.end) || above && is_orphan(frame) {
                reopened[id] = true;
                let frame = self.edit(id);
                frame.end = None;
                frame.state = State::Running;
            }
            if lost[id] {
                self.reset_to_start(id);
            }
        }
    }

    pub(super) fn empty(&mut self, entry: Entry) {
        match entry.subject {
            Subject::Row(..) => {
                self.gone_rows.insert(entry);
            }
            Subject::Call(..) => {
                if let Some(call) = self.call_mut(entry) {
                    call.answered = None;
                    call.end = None;
                    call.outcome = Outcome::Pending;
                    call.data = std::mem::take(&mut call.data).of_start();
                    // It may contain what the later calls of the source were about.
                    call.request = None;
                    call.dropped = true;
                }
            }
            Subject::Frame => {
                let frame = self.edit(entry.node);
                let start = generation_at(frame, 0).filter(|first| first.id == 0);
                let memory = start.and_then(|first| first.memory.clone());
                let (call_id, agent_id) = (frame.call_id.clone(), frame.agent_id.clone());
                *frame = Frame {
                    within: frame.within.clone(),
                    input_hash: frame.input_hash,
                    start: frame.start,
                    divergence: frame.divergence,
                    ..Frame::new(call_id, agent_id, Generation::new(0, None, memory))
                };
                self.nodes[entry.node].children = vec![Vec::new()];
            }
        }
    }

    /// Removes the entries that were started after the cut. True if there were any.
    fn trim(&mut self, id: usize, cut: Cut, routes: &Routes) -> bool {
        let count = self.last_generation(id) + 1;
        let route = routes.0.get(&id).copied().unwrap_or(usize::MAX);
        let last = route.min(self.last_before(id, cut));
        let loses_generations = last + 1 < count;
        if loses_generations {
            let frame = self.edit(id);
            if let Some(generation) = frame.earlier.get(last) {
                frame.generation = Generation::clone(generation);
            }
            while frame.earlier.len() > last {
                frame.earlier.drop_last_mut();
            }
            self.nodes[id].children.truncate(last + 1);
        }
        let body = &self.frame(id).generation;
        // Calls are in the order of their starts.
        let calls = body.calls.iter().rev();
        let late_calls = calls
            .take_while(|call| cut.is_before(Some(call.start)))
            .count();
        let is_late = |child: &Frame| cut.is_before(child.start);
        let loses_children = body.children.iter().any(|child| is_late(child));
        if late_calls > 0 {
            let calls = &mut self.edit(id).generation.calls;
            for _ in 0..late_calls {
                calls.drop_last_mut();
            }
        }
        if loses_children {
            let children = &mut self.edit(id).generation.children;
            *children = children
                .iter()
                .filter(|child| !is_late(child))
                .cloned()
                .collect();
            let mut ids = self.nodes[id].children.pop().unwrap_or_default();
            ids.retain(|child| !is_late(self.nodes[*child].source));
            self.nodes[id].children.push(ids);
        }
        loses_generations || late_calls > 0 || loses_children
    }

    /// The last generation that is known to have started before the cut, because a call or sub-agent in it did. (Starts
    /// of generations are not recorded.) If nothing in the frame came after the cut, the last generation of all. Otherwise
    /// the generations after the returned one are executed again.
    fn last_before(&self, id: usize, cut: Cut) -> usize {
        let frame = self.frame(id);
        let last = frame.earlier.len();
        let Some(order) = cut.0.filter(|_| last > 0) else {
            return last;
        };
        let had_started = |generation: &Generation| {
            let children = generation.children.iter().filter_map(|child| child.start);
            let calls = generation.calls.iter().map(|call| call.start);
            calls.chain(children).any(|start| start < order)
        };
        let started = (0..=last).rev();
        let certain = started
            .filter(|index| generation_at(frame, *index).is_some_and(had_started))
            .max()
            .unwrap_or(0);
        let mut recorded = generations(self.nodes[id].source).skip(certain);
        let came_later = recorded.any(|generation| goes_past(generation, cut));
        if came_later { certain } else { last }
    }

    /// Resets the memory to its value at the start. The memory at the cut is unknown, but a replay from the start
    /// reproduces it.
    fn reset_to_start(&mut self, id: usize) {
        let count = self.last_generation(id) as u64 + 1;
        if self.frame(id).generation.id >= count && self.is_legacy() {
            // The recording keeps all generations of a frame in one. A replay goes through them from the first one, which
            // starts with empty memory.
            let frame = self.edit(id);
            frame.generation.id = 0;
            frame.generation.props = None;
            frame.generation.memory = None;
            frame.memory = Memory::default();
        }
        if let Some(memory) = self.frame(id).generation.memory.clone() {
            self.edit(id).memory = memory;
        }
    }

    /// True for recordings of `@rejelly/core`, whose hashes are shorter.
    fn is_legacy(&self) -> bool {
        let sources = self.nodes.iter().map(|node| node.source);
        let mut generations = sources.flat_map(|frame| generations(frame));
        generations.any(|generation| {
            let mut calls = generation.calls.iter();
            calls.any(|call| matches!(call.hash, RequestHash::Foreign(_)))
        })
    }

    pub(super) fn call_mut(&mut self, entry: Entry) -> Option<&mut Call> {
        let Subject::Call(generation, position) = entry.subject else {
            return None;
        };
        let body = generation_mut(self.edit(entry.node), generation)?;
        body.calls.get_mut(position).map(Arc::make_mut)
    }
}

/// True for a frame that was closed because its parent ended.
fn is_orphan(frame: &Frame) -> bool {
    frame.start.is_some() && frame.end.is_none() && matches!(frame.state, State::Failed(_))
}

/// True if a start or end in the generation or under it comes after the cut.
fn goes_past(generation: &Generation, cut: Cut) -> bool {
    let mut open = vec![generation];
    while let Some(generation) = open.pop() {
        let mut calls = generation.calls.iter();
        let mut children = generation.children.iter();
        if calls.any(|call| cut.is_before(call.end.max(call.answered).max(Some(call.start))))
            || children.any(|child| cut.is_before(child.end.max(child.start)))
        {
            return true;
        }
        open.extend(
            generation
                .children
                .iter()
                .flat_map(|child| generations(child)),
        );
    }
    false
}
