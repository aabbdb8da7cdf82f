//! The frames of a snapshot for readers: a flat list in which every call has its outcome and every prompt its whole
//! request. Members have the names that they have in the text of a snapshot.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::memory::write_memory;
use super::write::{write_generation_fields, write_state};
use super::write_journal::{write_call, write_outcome};
use crate::model::{Call, Frame, Generation, Request, Row, Text};

/// The list as JSON text, and the requests apart from it: in the text, each prompt would repeat the messages of those
/// before it.
#[derive(Debug, Default)]
pub struct ReadModel {
    text: String,
    requests: Vec<KeptRequest>,
}

#[derive(Debug)]
struct KeptRequest {
    call: Arc<Call>,
    /// The prompt of the same generation that this one continues.
    continues: Option<usize>,
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
        let kept = self.requests.get(request)?.call.request.as_ref()?;
        Some(kept.pieces().concat())
    }

    /// JSON text of a request, relative to the earlier request that it continues: `after` is the callId of the earlier
    /// one, `messages` the additional messages, `without` the names of members that only the earlier one has. Members
    /// that differ are included. A request that is not a prompt is `{"document": …}`.
    #[must_use]
    pub fn added_request(&self, request: usize) -> Option<String> {
        let kept = self.requests.get(request)?;
        let (messages, tail) = match kept.call.request.as_ref()? {
            Request::Document(text) => return Some(format!(r#"{{"document":{}}}"#, text.as_str())),
            Request::Prompt { messages, tail, .. } => (messages, tail),
        };
        let mut out = "{".to_owned();
        let before = kept.continues.and_then(|before| self.requests.get(before));
        let mut known = 0;
        let mut members_before: &[(&'static str, Text)] = &[];
        if let Some(before) = before
            && let Some(Request::Prompt { messages, tail, .. }) = &before.call.request
        {
            known = messages.len();
            members_before = tail.as_slice();
            out.push_str(r#""after":"#);
            before.call.call_id.write_quoted(&mut out);
            out.push(',');
        }
        out.push_str(r#""messages":"#);
        let new = (known..messages.len()).filter_map(|index| messages.get(index));
        write_list(new.map(Text::as_str), &mut out);
        let of = |members: &[(&'static str, Text)], wanted: &str| {
            let mut members = members.iter();
            members
                .find(|(name, _)| *name == wanted)
                .map(|(_, text)| text.as_str().to_owned())
        };
        for (name, text) in tail.iter() {
            if of(members_before, name).as_deref() != Some(text.as_str()) {
                out.push_str(&format!(r#","{name}":{}"#, text.as_str()));
            }
        }
        let names = members_before.iter().map(|(name, _)| *name);
        let without: Vec<_> = names.filter(|name| of(tail, name).is_none()).collect();
        if !without.is_empty() {
            out.push_str(r#","without":"#);
            let quoted = without.iter().map(|name| format!("\"{name}\""));
            write_list(quoted, &mut out);
        }
        out.push('}');
        Some(out)
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
        let mut last_prompts = HashMap::new();
        for call in &generation.calls {
            write_call(call, false, &mut self.text);
            if call.replays.is_some() {
                self.text.push_str(r#","replayed":true"#);
            }
            if let Some(request) = &call.request {
                let continues = match request {
                    Request::Document(_) => None,
                    Request::Prompt { conversation, .. } => {
                        last_prompts.get(&Arc::as_ptr(conversation)).copied()
                    }
                };
                let before = continues.and_then(|before| self.requests.get(before));
                if request.is_complete(before.map_or(0, KeptRequest::message_count)) {
                    let number = self.requests.len();
                    if let Request::Prompt { conversation, .. } = request {
                        last_prompts.insert(Arc::as_ptr(conversation), number);
                    }
                    self.text.push_str(&format!(r#","request":{number}"#));
                    let call = Arc::clone(call);
                    self.requests.push(KeptRequest { call, continues });
                }
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

impl KeptRequest {
    fn message_count(&self) -> usize {
        match &self.call.request {
            Some(Request::Prompt { messages, .. }) => messages.len(),
            _ => 0,
        }
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
