use std::sync::Arc;

use super::tree::{Tree, generation_mut};
use crate::hash::ContentHash;
use crate::model::{Frame, RequestHash};

/// The same tree under other hashes. `calls` has those of all calls, and `inputs` those of all frames, both in the order
/// of the read model; calls without a new hash keep theirs.
#[must_use]
pub fn rehash(
    root: &Arc<Frame>,
    calls: impl IntoIterator<Item = RequestHash>,
    inputs: impl IntoIterator<Item = Option<ContentHash>>,
) -> Arc<Frame> {
    let mut tree = Tree::load(root);
    let mut calls = calls.into_iter();
    let mut inputs = inputs.into_iter();
    for id in 0..tree.nodes.len() {
        let frame = tree.edit(id);
        frame.input_hash = inputs.next().flatten();
        for index in 0..=frame.earlier.len() {
            let Some(generation) = generation_mut(frame, index) else {
                continue;
            };
            for position in 0..generation.calls.len() {
                if let Some(hash) = calls.next()
                    && let Some(call) = generation.calls.get_mut(position)
                {
                    Arc::make_mut(call).hash = hash;
                }
            }
        }
    }
    tree.store()
}
