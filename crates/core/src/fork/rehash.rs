use std::sync::Arc;

use super::tree::{Tree, generation_mut};
use crate::hash::InputHash;
use crate::model::{Call, Frame, Generation, RequestHash};

/// The same tree under other hashes. `calls` has those of all calls, and `inputs` those of all frames, both in the order
/// of the read model. Calls without a new hash keep theirs.
pub fn rehash(
    root: &Arc<Frame>,
    calls: impl IntoIterator<Item = RequestHash>,
    inputs: impl IntoIterator<Item = Option<InputHash>>,
) -> Arc<Frame> {
    let mut calls = calls.into_iter();
    let mut inputs = inputs.into_iter();
    edited(
        root,
        |frame| frame.input_hash = inputs.next().flatten(),
        |generation| {
            edit_calls(generation, |call| {
                if let Some(hash) = calls.next() {
                    call.hash = hash;
                }
            });
        },
    )
}

/// A copy of the tree with edited frames and generations, in the order of the read model.
pub(super) fn edited(
    root: &Arc<Frame>,
    mut edit_frame: impl FnMut(&mut Frame),
    mut edit_generation: impl FnMut(&mut Generation),
) -> Arc<Frame> {
    let mut tree = Tree::load(root);
    for id in 0..tree.nodes.len() {
        let frame = tree.edit(id);
        edit_frame(frame);
        for index in 0..=frame.earlier.len() {
            if let Some(generation) = generation_mut(frame, index) {
                edit_generation(generation);
            }
        }
    }
    tree.store()
}

pub(super) fn edit_calls(generation: &mut Generation, mut edit: impl FnMut(&mut Call)) {
    for position in 0..generation.calls.len() {
        if let Some(call) = generation.calls.get_mut(position) {
            edit(Arc::make_mut(call));
        }
    }
}
