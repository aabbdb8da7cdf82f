use agent_rewind_core::provider::{self, Documents};
use agent_rewind_core::snapshot::ReadModel as CoreReadModel;
use napi_derive::napi;

use crate::snapshot::SnapshotHandle;

/// The frames of a snapshot as a flat list, and the requests of their calls.
#[napi]
pub struct ReadModel {
    model: CoreReadModel,
}

#[napi]
impl ReadModel {
    #[napi(constructor, catch_unwind)]
    pub fn new(snapshot: &SnapshotHandle) -> Self {
        Self {
            model: CoreReadModel::new(snapshot.snapshot.tree()),
        }
    }

    /// JSON text of the list of frames. Can be read once; after that it is empty.
    #[napi(catch_unwind)]
    pub fn take_frames(&mut self) -> String {
        self.model.take_text()
    }

    /// JSON text of the request with this number.
    #[napi(catch_unwind)]
    pub fn request(&self, number: u32) -> Option<String> {
        self.model.request(number as usize)
    }

    /// JSON text of the request with this number, without the parts that the requests of earlier calls of this function
    /// contain: `{ document, shared? }`.
    #[napi(catch_unwind)]
    pub fn shared_request(&mut self, number: u32) -> Option<String> {
        self.model.shared_request(number as usize)
    }
}

/// Reads a call of any provider. Takes and returns JSON text.
#[napi(catch_unwind)]
pub fn read_exchange(
    kind: String,
    request: Option<String>,
    output: Option<String>,
    meta: Option<String>,
) -> String {
    provider::read(Documents {
        kind: &kind,
        request: request.as_deref(),
        output: output.as_deref(),
        meta: meta.as_deref(),
    })
    .to_json()
}
