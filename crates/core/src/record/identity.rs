//! The identity of the frames and calls of a run, which stays the same in runs that resume it.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::rc::Rc;

use super::run::NewFrame;
use crate::hash::{ContentHash, identity};
use crate::json::JsonStr;
use crate::model::base_of;
use crate::util::IdHashing;

/// The identity of a live frame, and the number of equal calls and frames in it so far.
#[derive(Debug)]
pub(super) struct FrameIdentity {
    place: Option<Place>,
    /// Computed when it is first needed.
    id: OnceCell<String>,
    /// The prefix of the callIds in the frame.
    base: Cow<'static, str>,
    seen: RefCell<Seen>,
}

/// The place of a frame in the frame above it.
#[derive(Debug)]
struct Place {
    above: Rc<FrameIdentity>,
    generation: u64,
    kind: String,
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
            base: Cow::Borrowed("root"),
            seen: RefCell::new(Seen::new(generation)),
        })
    }

    /// A frame under this one.
    pub(super) fn open_child(self: &Rc<Self>, child: &NewFrame, input: ContentHash) -> Rc<Self> {
        let kind = agent_kind(&child.agent_id, child.within.as_ref(), &self.base);
        let mut seen = self.seen.borrow_mut();
        Rc::new(Self {
            place: Some(Place {
                above: Rc::clone(self),
                generation: seen.generation,
                occurrence: seen.count(&kind, input),
                kind,
                input,
            }),
            id: OnceCell::new(),
            base: Cow::Owned(base_of(&child.agent_id, &child.call_id).to_owned()),
            seen: RefCell::new(Seen::new(child.generation)),
        })
    }

    /// Counts a call that starts. Returns its occurrence: the number of earlier calls with the same kind and request.
    pub(super) fn open_call(&self, within: Option<&JsonStr>, kind: &str, hash: ContentHash) -> u32 {
        let kind = self.kind(within, kind);
        self.seen.borrow_mut().count(&kind, hash)
    }

    /// The kind of a call as a part of its id.
    pub(super) fn kind<'a>(&self, within: Option<&JsonStr>, kind: &'a str) -> Cow<'a, str> {
        kind_inside(within, &self.base, kind)
    }

    pub(super) fn next_generation(&self) {
        let mut seen = self.seen.borrow_mut();
        *seen = Seen::new(seen.generation.saturating_add(1));
    }

    /// The id of the frame. Recurses as deep as the run nests, which is bounded.
    pub(super) fn id(&self) -> &str {
        self.id.get_or_init(|| match &self.place {
            None => String::new(),
            Some(place) => identity(
                place.above.id(),
                place.generation,
                &place.kind,
                &place.input.to_string(),
                place.occurrence,
            )
            .to_string(),
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

/// The kind of a frame as a part of its id. `base`: the prefix of the callIds in the frame above.
pub(super) fn agent_kind(agent_id: &JsonStr, within: Option<&JsonStr>, base: &str) -> String {
    let kind = format!("agent:{}", agent_id.body());
    kind_inside(within, base, &kind).into_owned()
}

/// The kind of a call as a part of its id. `base`: the prefix of the callIds in its frame.
pub(super) fn kind_inside<'a>(within: Option<&JsonStr>, base: &str, kind: &'a str) -> Cow<'a, str> {
    let Some(outer) = within.map(JsonStr::body) else {
        return Cow::Borrowed(kind);
    };
    // The frame may have another callId in the recording.
    let outer = outer.strip_prefix(base).unwrap_or(outer);
    Cow::Owned(format!("{}>{kind}", outer.trim_start_matches('/')))
}

impl Seen {
    fn new(generation: u64) -> Self {
        Self {
            generation,
            hashing: IdHashing::new(),
            counts: HashMap::with_hasher(IdHashing::new()),
        }
    }

    fn count(&mut self, kind: &str, hash: ContentHash) -> u32 {
        let key = self.hashing.hash_one((kind, hash));
        let count = self.counts.entry(key).or_insert(0);
        *count += 1;
        *count - 1
    }
}
