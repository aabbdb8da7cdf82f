//! The frames of a snapshot for readers: a flat list in which every call has its outcome and every prompt its whole
//! request. Members have the names that they have in the text of a snapshot.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::memory::write_memory;
use super::shared_requests::EarlierRequests;
use super::write::{write_generation_fields, write_state};
use super::write_journal::{write_call, write_outcome};
use crate::model::{Call, Frame, Generation, ListNode, Row};
use crate::util::IdHashing;

/// The list as JSON text, and the requests apart from it: in the text, each prompt would repeat the messages of those
/// before it.
#[derive(Debug, Default)]
pub struct ReadModel {
    text: String,
    /// The calls with requests.
    requests: Vec<Arc<Call>>,
    earlier: EarlierRequests,
    /// Lists of requests that are known to be complete.
    complete: HashSet<*const ListNode, IdHashing>,
}

impl ReadModel {
    /// Frames come before their children, and siblings one behind the other.
    #[must_use]
    pub fn new(root: &Frame) -> Self {
        let mut model = Self::default();
        let mut frames = vec![(root, None)];
        model.text.push('[');
        let mut next = 0;
        while let Some((frame, parent)) = frames.get(next).copied() {
            if next > 0 {
                model.text.push(',');
            }
            model.open_frame(frame, parent);
            let earlier = frame.earlier.iter().map(AsRef::as_ref);
            for (index, generation) in earlier.chain([&frame.generation]).enumerate() {
                if index > 0 {
                    model.text.push(',');
                }
                let first = frames.len();
                let children = generation.children.iter();
                frames.extend(children.map(|child| (child.as_ref(), Some((next, index)))));
                model.write_generation(generation, first..frames.len());
            }
            model.text.push_str("]}");
            next += 1;
        }
        model.text.push(']');
        model
    }

    /// JSON text of the list, which is taken out.
    pub fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// JSON text of a request document. `request`: its number, which the call has in the list.
    #[must_use]
    pub fn request(&self, request: usize) -> Option<String> {
        let kept = self.requests.get(request)?.request.as_ref()?;
        Some(kept.pieces()?.concat())
    }

    /// JSON text of a request without the parts that earlier requests contain: `{ document, shared? }`. `shared` names
    /// these parts by JSON pointer into `document`, each as `{ request, pointer, keep? }`: the number of the request that
    /// has it, and the pointer in the whole document of that one. With `keep`, they are the first `keep` items of that
    /// list, and `document` contains the others. Otherwise `document` contains `null`. Earlier requests are those of
    /// earlier calls of this function.
    pub fn shared_request(&mut self, request: usize) -> Option<String> {
        let call = self.requests.get(request)?;
        self.earlier.write(request, call.request.as_ref()?)
    }

    /// Leaves the list of generations open. `parent`: position of the parent, and which of its generations.
    fn open_frame(&mut self, frame: &Frame, parent: Option<(usize, usize)>) {
        let out = &mut self.text;
        out.push('{');
        if let Some((parent, generation)) = parent {
            out.push_str(&format!(
                r#""parent":{parent},"parentGeneration":{generation},"#
            ));
        }
        out.push_str(r#""callId":"#);
        frame.call_id.write_quoted(out);
        out.push_str(r#","agentId":"#);
        frame.agent_id.write_quoted(out);
        out.push_str(r#","memory":"#);
        write_memory(&frame.memory, out);
        if !frame.edited.is_empty() {
            out.push_str(r#","editedKeys":"#);
            let keys = frame.edited.iter();
            write_list(keys.map(|key| format!("\"{}\"", key.body())), out);
        }
        if frame.replays.is_some() {
            out.push_str(r#","replayed":true"#);
        }
        out.push_str(r#","state":"#);
        write_state(frame, out);
        out.push_str(r#","generations":["#);
    }

    /// `children`: the positions of the frames in it.
    fn write_generation(&mut self, generation: &Generation, children: Range<usize>) {
        self.text.push('{');
        write_generation_fields(generation, &mut self.text);
        self.text.push_str(r#","calls":["#);
        for row in &generation.rows {
            write_row(row, &mut self.text);
            self.text.push(',');
        }
        for call in &generation.calls {
            write_call(call, false, &mut self.text);
            if call.replays.is_some() {
                self.text.push_str(r#","replayed":true"#);
            }
            let request = call.request.as_ref();
            if request.is_some_and(|request| request.is_complete(&mut self.complete)) {
                let number = self.requests.len();
                self.text.push_str(&format!(r#","request":{number}"#));
                self.requests.push(Arc::clone(call));
            }
            self.text.push_str("},");
        }
        if self.text.ends_with(',') {
            self.text.pop();
        }
        self.text.push_str(r#"],"children":"#);
        write_list(children.map(|child| child.to_string()), &mut self.text);
        self.text.push('}');
    }
}

/// A journal row without a call, written as a call without a callId and orders.
fn write_row(row: &Row, out: &mut String) {
    out.push_str(r#"{"kind":""#);
    out.push_str(row.kind.name());
    out.push_str(r#"","contentHash":""#);
    row.hash.push_to(out);
    out.push('"');
    write_outcome(&row.outcome, false, out);
    out.push('}');
}

fn write_list(items: impl Iterator<Item = impl AsRef<str>>, out: &mut String) {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(item.as_ref());
    }
    out.push(']');
}
