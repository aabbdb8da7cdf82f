//! Reads and writes kept requests. A table at the end of the root contains every message, schema and
//! tool list once. A prompt refers to the prompt that it continues.

use std::collections::HashMap;
use std::sync::Arc;

use rpds::VectorSync;

use super::fields::Fields;
use super::stop::Stop;
use crate::json::{JsonText, write_count};
use crate::model::{ConversationMark, Request, TAIL_MEMBERS, Tail, Text, TextTable};
use crate::util::IdHashing;

/// Field of the root that contains the table.
pub(super) const TABLE_FIELD: &str = "requestTexts";

/// The table while a snapshot is written.
#[derive(Default)]
pub(super) struct RequestTable<'a> {
    texts: Vec<&'a str>,
    positions: HashMap<&'a str, usize, IdHashing>,
    /// By conversation, the last prompt of the list that is being written.
    last_prompts: HashMap<*const ConversationMark, (usize, usize)>,
}

impl<'a> RequestTable<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Prompts refer only to prompts of the same list.
    pub(super) fn begin_list(&mut self) {
        self.last_prompts.clear();
    }

    fn position(&mut self, text: &'a str) -> usize {
        *self.positions.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }

    /// Writes the member `request` of the call at `position` of its list, unless a text is missing: an
    /// edited or damaged snapshot may refer to texts that its table does not contain.
    pub(super) fn write_request(
        &mut self,
        position: usize,
        request: &'a Request,
        out: &mut String,
    ) {
        match request {
            Request::Document(text) => {
                if !request.is_complete(0) {
                    return;
                }
                let at = self.position(text.as_str());
                out.push_str(&format!(r#","request":{{"document":{at}}}"#));
            }
            Request::Prompt {
                conversation,
                messages,
                tail,
            } => {
                let conversation = Arc::as_ptr(conversation);
                let last = self.last_prompts.get(&conversation).copied();
                let known = last.map_or(0, |(_, count)| count);
                if !request.is_complete(known) {
                    return;
                }
                self.last_prompts
                    .insert(conversation, (position, messages.len()));
                out.push_str(r#","request":{"#);
                if let Some((base, _)) = last {
                    out.push_str(&format!(r#""base":{base},"#));
                }
                out.push_str(r#""add":["#);
                for index in known..messages.len() {
                    let Some(message) = messages.get(index) else {
                        break;
                    };
                    if index > known {
                        out.push(',');
                    }
                    write_count(self.position(message.as_str()) as u64, out);
                }
                out.push(']');
                for (name, text) in tail.iter() {
                    let at = self.position(text.as_str());
                    out.push_str(&format!(r#","{name}":{at}"#));
                }
                out.push('}');
            }
        }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.texts.iter().copied()
    }
}

/// A request as written in a call. In an edited list, it may refer to a later call.
#[derive(Default)]
pub(super) struct RequestDraft {
    document: Option<usize>,
    base: Option<usize>,
    add: Vec<usize>,
    tail: Vec<(&'static str, usize)>,
}

impl RequestDraft {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Stop> {
        let mut draft = Self::default();
        fields.members("expected an object", |fields, key| {
            match key {
                "document" => draft.document = index(fields)?,
                "base" => draft.base = index(fields)?,
                "add" => draft.add = indexes(fields)?,
                _ => match TAIL_MEMBERS.into_iter().find(|name| *name == key) {
                    Some(name) => draft.tail.extend(index(fields)?.map(|at| (name, at))),
                    None => {
                        fields.scanner.skip_value()?;
                    }
                },
            }
            Ok(())
        })?;
        Ok(draft)
    }

    /// Resolves the request. `before` contains the requests of the earlier calls in the list.
    pub(super) fn finish(
        &self,
        before: &[Option<Request>],
        table: &Arc<TextTable>,
    ) -> Option<Request> {
        let text = |index: usize| Text::Shared {
            table: Arc::clone(table),
            index,
        };
        if let Some(document) = self.document {
            return Some(Request::Document(text(document)));
        }
        let (conversation, mut messages) = match self.base.map(|base| before.get(base)) {
            None => (Arc::default(), VectorSync::new_sync()),
            Some(Some(Some(Request::Prompt {
                conversation,
                messages,
                ..
            }))) => (Arc::clone(conversation), messages.clone()),
            // The call that it continues was removed, so its messages are unknown.
            Some(_) => return None,
        };
        for index in &self.add {
            messages.push_back_mut(text(*index));
        }
        let tail: Tail = self
            .tail
            .iter()
            .map(|(name, at)| (*name, text(*at)))
            .collect();
        Some(Request::Prompt {
            conversation,
            messages,
            tail: Arc::new(tail),
        })
    }
}

/// Reads the table.
pub(super) fn read_table(fields: &mut Fields<'_>) -> Result<Vec<JsonText>, Stop> {
    let mut texts = Vec::new();
    if fields.scanner.peek() != Some(b'[') {
        fields.unexpected("expected an array")?;
        return Ok(texts);
    }
    fields.scanner.enter_array()?;
    let mut first = true;
    while fields.scanner.next_element(&mut first)? {
        texts.push(fields.span()?);
    }
    Ok(texts)
}

fn index(fields: &mut Fields<'_>) -> Result<Option<usize>, Stop> {
    Ok(fields
        .count()?
        .and_then(|count| usize::try_from(count).ok()))
}

fn indexes(fields: &mut Fields<'_>) -> Result<Vec<usize>, Stop> {
    let mut all = Vec::new();
    if fields.scanner.peek() != Some(b'[') {
        fields.unexpected("expected an array")?;
        return Ok(all);
    }
    fields.scanner.enter_array()?;
    let mut first = true;
    while fields.scanner.next_element(&mut first)? {
        all.extend(index(fields)?);
    }
    Ok(all)
}
