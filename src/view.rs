use agent_rewind_core::view::View;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::error::Result;
use crate::snapshot::SnapshotHandle;
use crate::text::utf8;

/// A run as people look at it. All texts are JSON.
#[napi]
pub struct RunView {
    view: View,
}

#[napi]
impl RunView {
    /// `trace`: the trace that the snapshot was restored from, and the id of the run in it.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        snapshot: &SnapshotHandle,
        trace: Option<Buffer>,
        trace_id: Option<String>,
    ) -> Result<Self> {
        let trace = trace.as_deref().map(utf8).transpose()?;
        let trace = trace.zip(trace_id.as_deref());
        Ok(Self {
            view: View::new(snapshot.snapshot.tree(), trace),
        })
    }

    /// The list of rows.
    #[napi(catch_unwind)]
    pub fn rows(&self) -> String {
        self.view.rows()
    }

    /// Everything of one row.
    #[napi(catch_unwind)]
    pub fn details(&self, row: u32) -> Option<String> {
        self.view.details(row as usize)
    }
}

/// The lines of two texts in order, each after a space, `-` or `+`.
#[napi(catch_unwind)]
pub fn diff_lines(before: String, after: String) -> Vec<String> {
    let lines = agent_rewind_core::diff::lines(&before, &after).into_iter();
    lines.map(|(mark, line)| format!("{mark}{line}")).collect()
}
