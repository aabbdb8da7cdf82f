//! Reads and writes kept requests. Two tables at the end of the root contain the documents without parts, and the parts
//! of the others, each once.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::Fields;
use super::out::Out;
use super::stop::Stop;
use crate::json::{JsonText, write_count};
use crate::model::{
    Filled, Form, List, ListNode, PROMPT_MEMBERS, PromptForm, Request, RequestTable, fill,
};
use crate::util::IdHashing;

/// Field of the root that contains the documents without parts. Older versions also wrote the parts of prompts into it.
pub(super) const TEXTS_FIELD: &str = "requestTexts";
/// Field of the root that contains the parts of requests.
pub(super) const PARTS_FIELD: &str = "requestParts";

/// The tables while a snapshot is written.
#[derive(Default)]
pub(super) struct RequestTables<'a> {
    texts: Table<'a>,
    parts: Table<'a>,
    filled: HashMap<*const Filled, usize, IdHashing>,
    /// By its address, the place at which a node of a list is written.
    nodes: HashMap<*const ListNode, ListPlace, IdHashing>,
    /// By its place and the entry of the next item, the place of the longer list.
    longer: HashMap<(Form, Option<ListPlace>, usize), ListPlace, IdHashing>,
    /// By its entry, the number of all items of a list.
    counts: HashMap<usize, usize, IdHashing>,
}

/// The first `count` items of the list in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ListPlace {
    entry: usize,
    count: usize,
}

/// Entries, each once.
#[derive(Default)]
struct Table<'a> {
    entries: Vec<Entry<'a>>,
    positions: HashMap<Entry<'a>, usize, IdHashing>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Entry<'a> {
    Value(&'a str),
    /// The whole text of an entry with references.
    Composed(Arc<str>),
}

impl<'a> Table<'a> {
    fn position(&mut self, entry: Entry<'a>) -> usize {
        if let Some(position) = self.positions.get(&entry) {
            return *position;
        }
        self.entries.push(entry.clone());
        self.positions.insert(entry, self.entries.len() - 1);
        self.entries.len() - 1
    }
}

impl<'a> RequestTables<'a> {
    /// Writes the member with the request of a call, unless a part is missing: an edited or damaged snapshot may refer
    /// to entries that it does not contain.
    pub(super) fn write_request(&mut self, request: &'a Request, out: &mut String) {
        match request.resolved() {
            None => {}
            Some(Request::Text(text)) => {
                let at = self.texts.position(Entry::Value(text.as_str()));
                out.push_str(&format!(r#","request":{{"document":{at}}}"#));
            }
            Some(request) => {
                if let Some(at) = self.part(request) {
                    out.push_str(&format!(r#","requestPart":{at}"#));
                }
            }
        }
    }

    /// The entry of a part. `None` if something in it is missing. Recurses as deep as parts nest, which is bounded.
    fn part(&mut self, part: &'a Request) -> Option<usize> {
        match part.resolved()? {
            Request::Text(text) => Some(self.parts.position(Entry::Value(text.as_str()))),
            Request::Filled(filled) => self.filled(filled),
            Request::List(list) => self.list(list),
            Request::Read { .. } => None,
        }
    }

    fn filled(&mut self, filled: &'a Arc<Filled>) -> Option<usize> {
        if let Some(known) = self.filled.get(&Arc::as_ptr(filled)) {
            return Some(*known);
        }
        let mut text = format!(r#"{{"value":{},"parts":{{"#, filled.skeleton.as_str());
        for (index, hole) in filled.holes.iter().enumerate() {
            let at = self.part(&hole.part)?;
            let comma = if index == 0 { "" } else { "," };
            text.push_str(&format!(r#"{comma}"{}":{at}"#, hole.pointer));
        }
        text.push_str("}}");
        let at = self.parts.position(Entry::Composed(Arc::from(text)));
        self.filled.insert(Arc::as_ptr(filled), at);
        Some(at)
    }

    /// A list is written as the items that follow those of an earlier list.
    fn list(&mut self, list: &'a List) -> Option<usize> {
        let (known, nodes) = list.nodes_after(|node| self.nodes.contains_key(&Arc::as_ptr(node)));
        let mut place = known.and_then(|node| self.nodes.get(&Arc::as_ptr(node)).copied());
        let mut added = Vec::new();
        for node in nodes {
            let item = self.part(&node.item)?;
            let longer = self.longer.get(&(list.form, place, item));
            match longer {
                Some(longer) if added.is_empty() => {
                    place = Some(*longer);
                    self.nodes.insert(Arc::as_ptr(node), *longer);
                }
                _ => added.push((node, item)),
            }
        }
        if let (Some(place), true) = (place, added.is_empty())
            && place.count == self.count_of(place.entry)
        {
            return Some(place.entry);
        }
        let mut text = "{\"".to_owned();
        text.push_str(name_of(list.form));
        text.push_str("\":[");
        for (index, (_, item)) in added.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            write_count(*item as u64, &mut text);
        }
        text.push(']');
        if let Some(place) = place {
            text.push_str(&format!(
                r#","after":{},"keep":{}"#,
                place.entry, place.count
            ));
        }
        text.push('}');
        let entry = self.parts.position(Entry::Composed(Arc::from(text)));
        let before = place.map_or(0, |place| place.count);
        self.counts.insert(entry, before + added.len());
        for (index, (node, item)) in added.into_iter().enumerate() {
            let longer = ListPlace {
                entry,
                count: before + index + 1,
            };
            self.longer.insert((list.form, place, item), longer);
            self.nodes.insert(Arc::as_ptr(node), longer);
            place = Some(longer);
        }
        Some(entry)
    }

    fn count_of(&self, entry: usize) -> usize {
        self.counts.get(&entry).copied().unwrap_or(0)
    }

    /// Writes the fields of the root that contain the tables. The root is open at the end of the text.
    pub(super) fn write(&self, out: &mut Out<'_>) {
        for (name, table) in [(TEXTS_FIELD, &self.texts), (PARTS_FIELD, &self.parts)] {
            for (index, entry) in table.entries.iter().enumerate() {
                out.spill_if_full();
                if index == 0 {
                    out.text.push_str(&format!(r#","{name}":["#));
                } else {
                    out.text.push(',');
                }
                match entry {
                    Entry::Value(value) if name == TEXTS_FIELD => out.text.push_str(value),
                    Entry::Value(value) => {
                        out.text.push_str(r#"{"value":"#);
                        out.text.push_str(value);
                        out.text.push('}');
                    }
                    Entry::Composed(text) => out.text.push_str(text),
                }
            }
            if !table.entries.is_empty() {
                out.text.push(']');
            }
        }
    }
}

fn name_of(form: Form) -> &'static str {
    match form {
        Form::Array => "list",
        Form::Text => "text",
    }
}

/// The tables of a snapshot that is read. Filled when the root has been read to its end.
#[derive(Clone, Default)]
pub(super) struct TablesRead {
    pub(super) texts: Arc<RequestTable>,
    pub(super) parts: Arc<RequestTable>,
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
                    None => {
                        fields.scanner.skip_value()?;
                    }
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

/// Reads a table: of documents, or of parts.
pub(super) fn read_table(
    fields: &mut Fields<'_>,
    of_parts: bool,
) -> Result<Vec<Option<Request>>, Stop> {
    let mut parts = PartsRead::default();
    if fields.scanner.peek() != Some(b'[') {
        fields.unexpected("expected an array")?;
        return Ok(Vec::new());
    }
    fields.scanner.enter_array()?;
    let mut first = true;
    while fields.scanner.next_element(&mut first)? {
        if of_parts {
            let entry = EntryDraft::read(fields)?;
            parts.add(entry);
        } else {
            parts.entries.push(Some(Request::Text(fields.span()?)));
        }
    }
    Ok(parts.entries)
}

/// The deepest nesting of parts, so that reading them may recurse.
const MAX_NESTED: usize = 64;
/// The longest text of a request that is made of parts, in bytes: a few entries can describe a text of any length.
const MAX_BYTES: usize = 1 << 30;
/// The most steps in lists that all entries together may take.
const MAX_STEPS: usize = 1 << 26;

#[derive(Default)]
struct EntryDraft {
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
                "list" => draft.items = Some((Form::Array, indexes(fields)?)),
                "text" => draft.items = Some((Form::Text, indexes(fields)?)),
                "after" => draft.after = index(fields)?,
                "keep" => draft.keep = index(fields)?,
                _ => {
                    fields.scanner.skip_value()?;
                }
            }
            Ok(())
        })?;
        Ok(draft)
    }
}

/// The entries so far. An entry can refer only to entries before it.
#[derive(Default)]
struct PartsRead {
    entries: Vec<Option<Request>>,
    /// The length of the text of each entry, and how deep its parts nest.
    sizes: Vec<(usize, usize)>,
    steps: usize,
}

impl PartsRead {
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
        let entry = match (draft.value, draft.items) {
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
