//! Reads kept requests. Their tables are built when a request is first needed: most readers need none.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::fields::Fields;
use super::stop::Stop;
use super::write_requests::MIN_OUTPUT;
use crate::hash::ContentHash;
use crate::json::{JsonText, quoted};
use crate::model::{
    BuildTable, Form, Frame, List, ListNode, Outcome, PROMPT_MEMBERS, PromptForm, Request,
    RequestTable, fill,
};

/// The tables of a snapshot that is read. Filled when the root has been read to its end.
#[derive(Clone, Default)]
pub(super) struct TablesRead {
    pub(super) texts: Arc<RequestTable>,
    pub(super) parts: Arc<RequestTable>,
    /// The entries of the last table that was read: that of the root.
    drafts: (Vec<JsonText>, Vec<EntryDraft>),
}

impl TablesRead {
    pub(super) fn read_texts(fields: &mut Fields<'_>) -> Result<(), Stop> {
        fields.requests.drafts.0 = read_table(fields, Fields::span)?;
        Ok(())
    }

    pub(super) fn read_parts(fields: &mut Fields<'_>) -> Result<(), Stop> {
        fields.requests.drafts.1 = read_table(fields, EntryDraft::read)?;
        Ok(())
    }

    pub(super) fn fill(&mut self, root: &Frame) {
        let (texts, drafts) = std::mem::take(&mut self.drafts);
        let outputs = if drafts.iter().any(|draft| draft.output.is_some()) {
            outputs_of(root)
        } else {
            Vec::new()
        };
        let set = |table: &RequestTable, build: BuildTable| {
            let _ = table.set(LazyLock::new(build));
        };
        set(
            &self.texts,
            Box::new(|| {
                texts
                    .into_iter()
                    .map(|text| Some(Request::Text(text)))
                    .collect()
            }),
        );
        set(&self.parts, Box::new(|| PartsRead::build(drafts, outputs)));
    }
}

/// The outputs of all calls that parts may refer to.
fn outputs_of(root: &Frame) -> Vec<JsonText> {
    let mut outputs = Vec::new();
    let mut frames = vec![root];
    while let Some(frame) = frames.pop() {
        let earlier = frame.earlier.iter().map(AsRef::as_ref);
        for generation in earlier.chain([&frame.generation]) {
            let calls = generation.calls.iter().map(|call| &call.outcome);
            let rows = generation.rows.iter().map(|row| &row.outcome);
            for outcome in calls.chain(rows) {
                if let Outcome::Output(value) = outcome
                    && value.text.len() >= MIN_OUTPUT
                {
                    outputs.push(value.text.clone());
                }
            }
            frames.extend(generation.children.iter().map(AsRef::as_ref));
        }
    }
    outputs
}

/// A request as written in a call by older versions, or one without parts. In an edited list, it may refer to a later
/// call.
#[derive(Default)]
pub(super) struct RequestDraft {
    document: Option<usize>,
    base: Option<usize>,
    add: Vec<usize>,
    members: Vec<(&'static str, usize)>,
}

impl RequestDraft {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Stop> {
        let mut draft = Self::default();
        fields.members("expected an object", |fields, key| {
            match key {
                "document" => draft.document = index(fields)?,
                "base" => draft.base = index(fields)?,
                "add" => draft.add = indexes(fields)?,
                _ => match PROMPT_MEMBERS.into_iter().find(|name| *name == key) {
                    Some(name) => draft.members.extend(index(fields)?.map(|at| (name, at))),
                    None => fields.skip()?,
                },
            }
            Ok(())
        })?;
        Ok(draft)
    }

    /// Resolves the request of the call at `position`. `all` contains the messages of the earlier calls that are prompts,
    /// and gets those of this one.
    pub(super) fn finish(
        &self,
        all: &mut [Option<Messages>],
        position: usize,
        tables: &TablesRead,
    ) -> Option<Request> {
        let text = |index: usize| Request::Read {
            table: Arc::clone(&tables.texts),
            index,
        };
        if let Some(document) = self.document {
            return Some(text(document));
        }
        let mut messages = match self.base {
            None => None,
            // Without the call that it continues, its messages are unknown.
            Some(base) => all.get(base)?.clone()?,
        };
        for index in &self.add {
            messages = Some(ListNode::after(messages, text(*index)));
        }
        *all.get_mut(position)? = Some(messages.clone());
        let members = self.members.iter().map(|(name, at)| (*name, text(*at)));
        Some(PromptForm::new(members).with(messages))
    }
}

/// The last message of a prompt. `None` if it has no messages.
pub(super) type Messages = Option<Arc<ListNode>>;

fn read_table<'a, T>(
    fields: &mut Fields<'a>,
    read: fn(&mut Fields<'a>) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let mut entries = Vec::new();
    fields.elements("expected an array", |fields| {
        entries.push(read(fields)?);
        Ok(())
    })?;
    Ok(entries)
}

/// The deepest nesting of parts, so that reading them may recurse.
const MAX_NESTED: usize = 64;
/// The longest text of a request that is made of parts, in bytes: a few entries can describe a text of any length.
const MAX_BYTES: usize = 1 << 30;
/// The most steps in lists that all entries together may take.
const MAX_STEPS: usize = 1 << 26;

#[derive(Clone, Default)]
struct EntryDraft {
    /// The hash of an output, and whether the part is a string with its text.
    output: Option<(ContentHash, bool)>,
    value: Option<JsonText>,
    parts: Vec<(String, usize)>,
    items: Option<(Form, Vec<usize>)>,
    after: Option<usize>,
    keep: Option<usize>,
}

impl EntryDraft {
    fn read(fields: &mut Fields<'_>) -> Result<Self, Stop> {
        let mut draft = Self::default();
        fields.members("expected an object", |fields, key| {
            match key {
                "value" => draft.value = Some(fields.span()?),
                "parts" => {
                    fields.members("expected an object", |fields, pointer| {
                        let entry = index(fields)?;
                        draft
                            .parts
                            .extend(entry.map(|entry| (pointer.to_owned(), entry)));
                        Ok(())
                    })?;
                }
                "output" | "outputText" => {
                    let hash = fields.string_body()?.and_then(|body| body.parse().ok());
                    draft.output = hash.map(|hash| (hash, key == "outputText"));
                }
                "list" => draft.items = Some((Form::Array, indexes(fields)?)),
                "text" => draft.items = Some((Form::Text, indexes(fields)?)),
                "after" => draft.after = index(fields)?,
                "keep" => draft.keep = index(fields)?,
                _ => fields.skip()?,
            }
            Ok(())
        })?;
        Ok(draft)
    }
}

/// The entries so far. An entry can refer only to entries before it.
#[derive(Default)]
struct PartsRead {
    /// The outputs, and the strings that contain their texts.
    outputs: HashMap<(ContentHash, bool), JsonText>,
    entries: Vec<Option<Request>>,
    /// The length of the text of each entry, and how deep its parts nest.
    sizes: Vec<(usize, usize)>,
    steps: usize,
}

impl PartsRead {
    fn build(drafts: Vec<EntryDraft>, outputs: Vec<JsonText>) -> Vec<Option<Request>> {
        let mut parts = Self::default();
        for output in outputs {
            let hash = ContentHash::of_text(output.as_str());
            parts.outputs.insert((hash, false), output);
        }
        for draft in drafts {
            parts.add(draft);
        }
        parts.entries
    }

    /// `None` if the output was edited or removed.
    fn output(&mut self, hash: ContentHash, as_text: bool) -> Option<JsonText> {
        if let Some(known) = self.outputs.get(&(hash, as_text)) {
            return Some(known.clone());
        }
        let output = self.outputs.get(&(hash, false)).filter(|_| as_text)?;
        let literal = JsonText::trusted(quoted(output.as_str()));
        self.outputs.insert((hash, true), literal.clone());
        Some(literal)
    }

    /// Adds an entry. One that refers to nothing, or is too large, becomes `None`.
    fn add(&mut self, draft: EntryDraft) {
        let (entry, size) = match self.entry(draft) {
            Some((entry, size)) => (Some(entry), size),
            None => (None, (0, 0)),
        };
        self.entries.push(entry);
        self.sizes.push(size);
    }

    fn entry(&mut self, draft: EntryDraft) -> Option<(Request, (usize, usize))> {
        let mut size = (0, 0);
        let value = match draft.output {
            Some((hash, as_text)) => Some(self.output(hash, as_text)?),
            None => draft.value,
        };
        let entry = match (value, draft.items) {
            (Some(value), None) if draft.parts.is_empty() => {
                size.0 = value.len();
                Request::Text(value)
            }
            (Some(value), None) => {
                size.0 = value.len();
                let mut parts = Vec::new();
                for (pointer, entry) in draft.parts {
                    parts.push((pointer, self.used(entry, &mut size)?));
                }
                fill(value, parts)?
            }
            (None, Some((form, items))) => {
                let mut last = match draft.after {
                    None => None,
                    Some(after) => {
                        let Request::List(list) = self.used(after, &mut size)? else {
                            return None;
                        };
                        // Its items are items of this list, so nothing nests deeper.
                        size.1 = self.sizes.get(after)?.1;
                        self.beginning(list, draft.keep)?
                    }
                };
                for item in items {
                    last = Some(ListNode::after(last, self.used(item, &mut size)?));
                }
                Request::List(List { form, last })
            }
            _ => return None,
        };
        (size.0 <= MAX_BYTES && size.1 <= MAX_NESTED).then_some((entry, size))
    }

    /// An earlier entry. Adds its size to that of the entry that uses it.
    fn used(&self, entry: usize, size: &mut (usize, usize)) -> Option<Request> {
        let (bytes, depth) = self.sizes.get(entry)?;
        size.0 = size.0.saturating_add(*bytes).saturating_add(1);
        size.1 = size.1.max(depth + 1);
        self.entries.get(entry)?.clone()
    }

    /// The first `keep` items of a list; by default all.
    fn beginning(&mut self, list: List, keep: Option<usize>) -> Option<Messages> {
        let keep = keep.unwrap_or(list.len());
        if keep > list.len() {
            return None;
        }
        self.steps = self.steps.saturating_add(list.len() - keep);
        if self.steps > MAX_STEPS {
            return None;
        }
        let mut end = list.last;
        while let Some(node) = end.take_if(|node| node.len > keep) {
            end.clone_from(&node.before);
        }
        Some(end)
    }
}

pub(super) fn index(fields: &mut Fields<'_>) -> Result<Option<usize>, Stop> {
    Ok(fields
        .count()?
        .and_then(|count| usize::try_from(count).ok()))
}

fn indexes(fields: &mut Fields<'_>) -> Result<Vec<usize>, Stop> {
    Ok(read_table(fields, index)?.into_iter().flatten().collect())
}
