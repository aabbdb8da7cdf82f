//! The frames of a recorded tree while they are edited: a flat list with links to parents. A frame is copied when it is
//! changed.

use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use crate::json::JsonStr;
use crate::model::{Call, Frame, Generation, Kind, Outcome, RequestHash, Row};

/// Position of the root in the list.
pub(super) const ROOT: usize = 0;

/// Parents are listed before their children, so ids grow from the root down.
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// Rows that are removed when the tree is stored.
    pub(super) gone_rows: HashSet<Entry>,
    /// Calls that are added when the tree is stored, to the last generation of a frame.
    pub(super) new_calls: Vec<(usize, Call)>,
}

pub(super) struct Node<'a> {
    /// The frame as it was recorded.
    pub(super) source: &'a Arc<Frame>,
    /// The changed frame. Its children are replaced when the tree is stored.
    edited: Option<Box<Frame>>,
    pub(super) parent: Option<usize>,
    /// Index of the parent's generation that contains the frame.
    pub(super) generation: usize,
    /// Ids of the children by generation, in the order of the frame's list.
    pub(super) children: Vec<Vec<usize>>,
}

/// A call, a row or a frame of the recorded tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// The frame, or for a call or a row the frame that contains it.
    pub(super) node: usize,
    pub(super) subject: Subject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    Frame,
    /// Index of its generation, and position in it.
    Call(usize, usize),
    /// Index of its generation, and position in it.
    Row(usize, usize),
}

/// An entry with the fields by which it is found.
#[derive(Clone)]
pub(super) struct Listed<'t> {
    pub(super) entry: Entry,
    pub(super) frame: &'t Frame,
    /// `None` for a row.
    pub(super) call_id: Option<&'t JsonStr>,
    /// `None` for a frame.
    pub(super) request: Option<(&'t Kind, &'t RequestHash)>,
    pub(super) start: Option<u64>,
}

/// All generations of a frame, the last one last.
pub(super) fn generations(frame: &Frame) -> impl Iterator<Item = &Generation> {
    let earlier = frame.earlier.iter().map(AsRef::as_ref);
    earlier.chain(iter::once(&frame.generation))
}

pub(super) fn generation_at(frame: &Frame, index: usize) -> Option<&Generation> {
    match frame.earlier.get(index) {
        Some(generation) => Some(generation),
        None => (index == frame.earlier.len()).then_some(&frame.generation),
    }
}

impl<'a> Node<'a> {
    fn new(source: &'a Arc<Frame>, parent: Option<usize>, generation: usize) -> Self {
        Self {
            source,
            edited: None,
            parent,
            generation,
            children: Vec::new(),
        }
    }
}

impl<'a> Tree<'a> {
    pub(super) fn load(root: &'a Arc<Frame>) -> Self {
        let mut nodes = vec![Node::new(root, None, 0)];
        let mut next = ROOT;
        while let Some(node) = nodes.get(next) {
            let source: &'a Frame = node.source;
            let mut children = Vec::with_capacity(source.earlier.len() + 1);
            for (index, generation) in generations(source).enumerate() {
                let first = nodes.len();
                let found = generation.children.iter();
                nodes.extend(found.map(|child| Node::new(child, Some(next), index)));
                children.push((first..nodes.len()).collect());
            }
            nodes[next].children = children;
            next += 1;
        }
        Self {
            nodes,
            gone_rows: HashSet::new(),
            new_calls: Vec::new(),
        }
    }

    pub(super) fn frame(&self, id: usize) -> &Frame {
        let node = &self.nodes[id];
        node.edited.as_deref().unwrap_or(node.source)
    }

    pub(super) fn edit(&mut self, id: usize) -> &mut Frame {
        let node = &mut self.nodes[id];
        let source = node.source;
        node.edited
            .get_or_insert_with(|| Box::new(Frame::clone(source)))
    }

    pub(super) fn parent(&self, id: usize) -> Option<usize> {
        self.nodes[id].parent
    }

    pub(super) fn last_generation(&self, id: usize) -> usize {
        self.frame(id).earlier.len()
    }

    /// The frames that a replay reaches: the root, and the children of last generations. Parents come first.
    pub(super) fn reachable(&self) -> Vec<usize> {
        let mut found = vec![ROOT];
        let mut next = 0;
        while let Some(id) = found.get(next) {
            found.extend(self.nodes[*id].children.last().into_iter().flatten());
            next += 1;
        }
        found
    }

    /// The frame, then its parent, up to the root.
    pub(super) fn up_from(&self, id: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(id), |id| self.parent(*id))
    }

    /// All recorded entries. Frames come before the entries in them.
    pub(super) fn entries(&self) -> impl Iterator<Item = Listed<'a>> {
        self.nodes.iter().enumerate().flat_map(|(id, node)| {
            let frame: &'a Frame = node.source;
            let listed = move |subject, call_id, request, start| Listed {
                entry: Entry { node: id, subject },
                frame,
                call_id,
                request,
                start,
            };
            let own = listed(Subject::Frame, Some(&frame.call_id), None, frame.start);
            let inner = generations(frame).enumerate();
            iter::once(own).chain(inner.flat_map(move |(generation, body)| {
                let calls = body.calls.iter().enumerate().map(move |(position, call)| {
                    let subject = Subject::Call(generation, position);
                    let request = Some((&call.kind, &call.hash));
                    listed(subject, Some(&call.call_id), request, Some(call.start))
                });
                calls.chain(body.rows.iter().enumerate().map(move |(position, row)| {
                    let request = Some((&row.kind, &row.hash));
                    listed(Subject::Row(generation, position), None, request, None)
                }))
            }))
        })
    }

    pub(super) fn call(&self, entry: Entry) -> Option<&'a Call> {
        let source: &'a Frame = self.nodes[entry.node].source;
        match entry.subject {
            Subject::Call(generation, position) => {
                let calls = &generation_at(source, generation)?.calls;
                calls.get(position).map(AsRef::as_ref)
            }
            _ => None,
        }
    }

    fn row(&self, entry: Entry) -> Option<&'a Row> {
        let source: &'a Frame = self.nodes[entry.node].source;
        match entry.subject {
            Subject::Row(generation, position) => {
                let rows = &generation_at(source, generation)?.rows;
                rows.get(position).map(AsRef::as_ref)
            }
            _ => None,
        }
    }

    pub(super) fn request_outcome(&self, entry: Entry) -> Option<(&Kind, &Outcome)> {
        let of_call = self.call(entry).map(|call| (&call.kind, &call.outcome));
        of_call.or_else(|| self.row(entry).map(|row| (&row.kind, &row.outcome)))
    }

    /// The order at which the run received the outcome of an entry.
    pub(super) fn end_of(&self, entry: Entry) -> Option<u64> {
        match entry.subject {
            Subject::Frame => self.nodes[entry.node].source.end,
            Subject::Call(..) => self.call(entry)?.known_from(),
            Subject::Row(..) => None,
        }
    }

    /// A name for messages.
    pub(super) fn name_of(&self, entry: Entry) -> String {
        if let Some(row) = self.row(entry) {
            return format!("the row {}", row.hash);
        }
        let frame = &self.nodes[entry.node].source.call_id;
        let call_id = self.call(entry).map_or(frame, |call| &call.call_id);
        format!("\"{}\"", call_id.body())
    }

    /// True if the entry is still part of the tree, in the last generation of its frame.
    pub(super) fn is_kept(&self, entry: Entry) -> bool {
        let is_last = |generation| generation == self.last_generation(entry.node);
        let body = &self.frame(entry.node).generation;
        let in_frame = match entry.subject {
            Subject::Frame => true,
            Subject::Call(generation, position) => {
                is_last(generation) && position < body.calls.len()
            }
            Subject::Row(generation, position) => is_last(generation) && position < body.rows.len(),
        };
        in_frame && self.up_from(entry.node).all(|id| self.is_in_parent(id))
    }

    fn is_in_parent(&self, id: usize) -> bool {
        let node = &self.nodes[id];
        node.parent.is_none_or(|parent| {
            let children = self.nodes[parent].children.get(node.generation);
            children.is_some_and(|ids| ids.contains(&id))
        })
    }

    /// Assembles the tree. Unchanged frames are shared with the source.
    pub(super) fn store(mut self) -> Arc<Frame> {
        self.store_rows();
        for id in (0..self.nodes.len()).rev() {
            for (generation, ids) in std::mem::take(&mut self.nodes[id].children)
                .into_iter()
                .enumerate()
            {
                for (position, child) in ids.into_iter().enumerate() {
                    if let Some(changed) = self.nodes[child].edited.take()
                        && let Some(body) = generation_mut(self.edit(id), generation)
                    {
                        body.children.set_mut(position, Arc::from(changed));
                    }
                }
            }
        }
        let root = &mut self.nodes[ROOT];
        root.edited
            .take()
            .map_or_else(|| Arc::clone(root.source), Arc::from)
    }

    /// Removes rows and adds calls. This comes last, because it changes the positions of entries.
    fn store_rows(&mut self) {
        let frames: HashSet<usize> = self.gone_rows.iter().map(|entry| entry.node).collect();
        for node in frames {
            let generation = self.last_generation(node);
            let rows = &self.frame(node).generation.rows;
            let is_kept = |position| {
                let subject = Subject::Row(generation, position);
                !self.gone_rows.contains(&Entry { node, subject })
            };
            let kept = rows.iter().enumerate();
            let kept = kept.filter(|(position, _)| is_kept(*position));
            let kept = kept.map(|(_, row)| Arc::clone(row)).collect();
            self.edit(node).generation.rows = kept;
        }
        for (node, call) in std::mem::take(&mut self.new_calls) {
            let calls = &mut self.edit(node).generation.calls;
            let mut all: Vec<_> = calls.iter().map(Arc::clone).collect();
            // After the calls with the same start.
            let later = all.iter().position(|known| known.start > call.start);
            all.insert(later.unwrap_or(all.len()), Arc::new(call));
            *calls = all.into_iter().collect();
        }
    }
}

pub(super) fn generation_mut(frame: &mut Frame, index: usize) -> Option<&mut Generation> {
    if index == frame.earlier.len() {
        return Some(&mut frame.generation);
    }
    frame.earlier.get_mut(index).map(Arc::make_mut)
}
