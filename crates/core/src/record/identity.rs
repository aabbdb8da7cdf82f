//! The identity of the frames and calls of a run, which stays the same in runs that resume it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::rc::Rc;

use crate::hash::{ContentHash, identity};
use crate::json::JsonStr;
use crate::util::IdHashing;

/// The identity of a live frame, and the number of equal calls and frames in it so far.
#[derive(Debug)]
pub(super) struct FrameIdentity {
    place: Option<Place>,
    /// Computed when it is first needed.
    id: OnceCell<String>,
    seen: RefCell<Seen>,
}

/// The place of a frame in the frame above it.
#[derive(Debug)]
struct Place {
    above: Rc<FrameIdentity>,
    generation: u64,
    agent_id: JsonStr,
    input: ContentHash,
    occurrence: u32,
}

#[derive(Debug)]
struct Seen {
    generation: u64,
    hashing: IdHashing,
    /// By a hash of kind and content, because a long run has many calls.
    counts: HashMap<u64, u32, IdHashing>,
}

impl FrameIdentity {
    /// The root of a run. `first_run`: the id of the run that was not resumed from another one.
    pub(super) fn root(first_run: String, generation: u64) -> Rc<Self> {
        Rc::new(Self {
            place: None,
            id: OnceCell::from(first_run),
            seen: RefCell::new(Seen::new(generation)),
        })
    }

    /// A frame under this one that starts in its generation `generation`.
    pub(super) fn open_child(
        self: &Rc<Self>,
        agent_id: JsonStr,
        input: ContentHash,
        generation: u64,
    ) -> Rc<Self> {
        let mut seen = self.seen.borrow_mut();
        Rc::new(Self {
            place: Some(Place {
                above: Rc::clone(self),
                generation: seen.generation,
                occurrence: seen.count("agent", agent_id.body(), input),
                agent_id,
                input,
            }),
            id: OnceCell::new(),
            seen: RefCell::new(Seen::new(generation)),
        })
    }

    /// Counts a call that starts. Returns its occurrence: the number of earlier calls with the same kind and request.
    pub(super) fn open_call(&self, kind: &str, hash: ContentHash) -> u32 {
        self.seen.borrow_mut().count("", kind, hash)
    }

    pub(super) fn next_generation(&self) {
        let mut seen = self.seen.borrow_mut();
        *seen = Seen::new(seen.generation.saturating_add(1));
    }

    /// The id of the frame. Recurses as deep as the run nests, which is bounded.
    pub(super) fn id(&self) -> &str {
        self.id.get_or_init(|| match &self.place {
            None => String::new(),
            Some(place) => frame_id(
                place.above.id(),
                place.generation,
                &place.agent_id,
                Some(place.input),
                place.occurrence,
            ),
        })
    }

    pub(super) fn root_id(&self) -> &str {
        match &self.place {
            Some(place) => place.above.root_id(),
            None => self.id(),
        }
    }

    /// The frame under the root that this one is in, or the root itself.
    pub(super) fn below_root(&self) -> &Self {
        let mut frame = self;
        while let Some(Place { above, .. }) = &frame.place
            && above.place.is_some()
        {
            frame = above;
        }
        frame
    }
}

/// The id of a frame under the frame `above`.
pub(super) fn frame_id(
    above: &str,
    generation: u64,
    agent_id: &JsonStr,
    input: Option<ContentHash>,
    occurrence: u32,
) -> String {
    let kind = format!("agent:{}", agent_id.body());
    let input = input.map(|hash| hash.to_string()).unwrap_or_default();
    identity(above, generation, &kind, &input, occurrence).to_string()
}

impl Seen {
    fn new(generation: u64) -> Self {
        Self {
            generation,
            hashing: IdHashing::new(),
            counts: HashMap::with_hasher(IdHashing::new()),
        }
    }

    fn count(&mut self, family: &str, kind: &str, hash: ContentHash) -> u32 {
        let key = self.hashing.hash_one((family, kind, hash));
        let count = self.counts.entry(key).or_insert(0);
        *count += 1;
        *count - 1
    }
}
