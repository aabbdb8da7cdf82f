//! The callIds of calls whose events contain no callId.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use super::draft::CallDraft;
use crate::json::JsonStr;
use crate::model::Kind;

/// Numbers the calls of a frame by kind and name.
#[derive(Debug, Default)]
pub(crate) struct CallNames<'t> {
    /// The path of the frame, a slash, and the name that was written last.
    path: String,
    frame_length: usize,
    counts: HashMap<(Kind, Cow<'t, str>), u32>,
}

impl<'t> CallNames<'t> {
    pub(crate) fn start_frame(&mut self, frame: &JsonStr) {
        self.path.clear();
        self.path.push_str(frame.body());
        self.path.push('/');
        self.frame_length = self.path.len();
        self.start_generation();
    }

    /// Restarts the numbers.
    pub(crate) fn start_generation(&mut self) {
        self.counts.clear();
    }

    /// The callId of the next call in order.
    pub(crate) fn next(&mut self, call: &CallDraft<'t>, agent_id: &JsonStr) -> JsonStr {
        // A prompt whose model is unknown is named after its agent.
        let name = call
            .name
            .clone()
            .unwrap_or_else(|| Cow::Owned(agent_id.body().to_owned()));
        self.path.truncate(self.frame_length);
        self.path.push_str(call.kind.name());
        self.path.push(':');
        self.path.push_str(&name);
        let count = self.counts.entry((call.kind.clone(), name)).or_insert(0);
        // Writing to a String cannot fail.
        let _ = write!(self.path, ":{count}");
        *count += 1;
        JsonStr::from_normalized_body(&self.path)
    }
}
