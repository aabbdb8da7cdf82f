//! Requests that no recorded frame may answer, because nothing tells whose they are.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::model::{Frame, Kind, RequestHash};
use crate::util::IdHashing;

/// The requests that occur in more than one of several frames, or under them. Only the callId tells these frames apart,
/// and it changes with the order in which the program starts them.
#[derive(Debug)]
pub(super) struct Contested {
    requests: HashSet<(Kind, RequestHash), IdHashing>,
    above: Option<Rc<Contested>>,
}

impl Contested {
    pub(super) fn between<'f>(
        frames: impl Iterator<Item = &'f Frame>,
        above: Option<Rc<Contested>>,
    ) -> Self {
        let mut requests = HashSet::with_hasher(IdHashing::new());
        let mut seen_in = HashMap::with_hasher(IdHashing::new());
        for (index, frame) in frames.enumerate() {
            let mut open = vec![frame];
            while let Some(frame) = open.pop() {
                let generation = &frame.generation;
                for call in &generation.calls {
                    let key = (call.kind.clone(), call.hash.clone());
                    if *seen_in.entry(key.clone()).or_insert(index) != index {
                        requests.insert(key);
                    }
                }
                open.extend(generation.children.iter().map(|child| &**child));
            }
        }
        Self { requests, above }
    }

    pub(super) fn contains(&self, kind: &Kind, hash: &RequestHash) -> bool {
        let key = (kind.clone(), hash.clone());
        let mut next = Some(self);
        while let Some(contested) = next {
            if contested.requests.contains(&key) {
                return true;
            }
            next = contested.above.as_deref();
        }
        false
    }
}
