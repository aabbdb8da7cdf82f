//! Recorded frames, and by what a replay finds those of sub-agents.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::iter;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::contested::Contested;
use super::journal_index::{JournalIndex, place_of};
use super::source::Place;
use crate::hash::InputHash;
use crate::json::JsonStr;
use crate::model::{Flag, Flags, Frame, Generation};
use crate::retry_rule::Ancestor;
use crate::util::IdHashing;

/// A recorded frame, and which of its entries a replay has used.
#[derive(Debug)]
pub(super) struct RecordedFrame {
    pub(super) frame: Arc<Frame>,
    /// Position in its parent.
    pub(super) position: usize,
    /// Weak, because the parent owns this frame. Every [`ReplaySource`] owns the root, and with it all frames.
    parent: Option<Weak<RecordedFrame>>,
    pub(super) claimed: Cell<bool>,
    /// True if it is inside a call whose recorded answer was returned.
    pub(super) included: Cell<bool>,
    flags: Flags,
    /// Start of the last call or child of the last generation, computed when it is first needed.
    last_start: OnceCell<Option<u64>>,
    pub(super) journal: RefCell<Option<JournalIndex>>,
    /// The entries that other frames have borrowed. If this frame is found later by its input, it still has all of them.
    pub(super) borrowed: RefCell<Option<JournalIndex>>,
    pub(super) children: RefCell<Option<ChildIndex>>,
}

#[derive(Debug, Default)]
pub(super) struct ChildIndex {
    pub(super) nodes: Vec<Rc<RecordedFrame>>,
    pub(super) by_input: HashMap<(Place, JsonStr, InputHash), VecDeque<usize>, IdHashing>,
    /// Frames whose input is not covered by its hash. Nothing but their callIds tells those of one entry apart.
    inexact: HashMap<(Place, JsonStr, InputHash), Twins, IdHashing>,
    pub(super) by_call_id: HashMap<JsonStr, usize, IdHashing>,
}

/// Recorded frames with the same agent and inexact input.
#[derive(Debug, Default)]
struct Twins {
    positions: Vec<usize>,
    contested: Option<Rc<Contested>>,
}

impl RecordedFrame {
    pub(super) fn new(
        frame: Arc<Frame>,
        position: usize,
        parent: Option<Weak<Self>>,
        flags: Flags,
    ) -> Self {
        Self {
            frame,
            position,
            parent,
            flags,
            claimed: Cell::new(false),
            included: Cell::new(false),
            last_start: OnceCell::new(),
            journal: RefCell::new(None),
            borrowed: RefCell::new(None),
            children: RefCell::new(None),
        }
    }

    /// The frame, then its parent, up to the root.
    pub(super) fn up(self: &Rc<Self>) -> impl Iterator<Item = Rc<Self>> {
        iter::successors(Some(Rc::clone(self)), |frame| {
            frame.parent.as_ref()?.upgrade()
        })
    }
}

impl Ancestor for Rc<RecordedFrame> {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn last_start(&self) -> Option<u64> {
        if self.flags.has(Flag::SeenFailures) {
            return None;
        }
        let find = || self.frame.generation.last_start();
        *self.last_start.get_or_init(find)
    }
}

impl ChildIndex {
    pub(super) fn new(parent: &Rc<RecordedFrame>, flags: Flags) -> Self {
        let mut index = Self::default();
        for child in &parent.frame.generation.children {
            let position = index.nodes.len();
            if let Some(input) = child.input_hash {
                let place = place_of(child.within.as_ref(), flags);
                let key = (place, child.agent_id.clone(), input);
                if input.exact {
                    index.by_input.entry(key).or_default().push_back(position);
                } else {
                    let twins = index.inexact.entry(key).or_default();
                    twins.positions.push(position);
                }
            }
            index.by_call_id.insert(child.call_id.clone(), position);
            let above = Some(Rc::downgrade(parent));
            let node = RecordedFrame::new(Arc::clone(child), position, above, parent.flags);
            index.nodes.push(Rc::new(node));
        }
        index
    }

    /// The requests in this frame that may be those of another one. `above`: those in the frame around it.
    pub(super) fn contested_in(
        &mut self,
        place: &Place,
        frame: &Frame,
        above: Option<&Rc<Contested>>,
    ) -> Option<Rc<Contested>> {
        let key = |input| (place.clone(), frame.agent_id.clone(), input);
        let twins = frame
            .input_hash
            .and_then(|input| self.inexact.get_mut(&key(input)))
            .filter(|twins| twins.positions.len() > 1);
        let Some(twins) = twins else {
            return above.cloned();
        };
        let nodes = &self.nodes;
        let frames = twins.positions.iter().map(|at| &*nodes[*at].frame);
        let contested = &mut twins.contested;
        Some(Rc::clone(contested.get_or_insert_with(|| {
            Rc::new(Contested::between(frames, above.cloned()))
        })))
    }
}

/// The frame of `runWith` over a snapshot whose root is an agent's frame.
pub(super) fn run_frame_over(agent: &Arc<Frame>) -> Frame {
    let mut generation = Generation::new(0, None, None);
    let mut child = Frame::clone(agent);
    child.within = None;
    child.call_id =
        JsonStr::from_normalized_body(&format!("root/agent:{}:0", agent.agent_id.body()));
    generation.children.push_back_mut(Arc::new(child));
    let mut frame = Frame::new(
        JsonStr::from_plain("root"),
        JsonStr::from_plain(""),
        generation,
    );
    frame.memory = agent.memory.clone();
    frame.budget = agent.budget.clone();
    frame
}
