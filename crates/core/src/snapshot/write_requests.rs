//! Writes kept requests. Two tables at the end of the root contain the documents without parts, and the parts of the
//! others, each once. A part that contains the output of a call refers to it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::out::Out;
use crate::hash::ContentHash;
use crate::json::{JsonError, JsonText, Scanner, write_count, write_joined};
use crate::model::{Filled, Form, List, ListNode, Request, member_pointer};
use crate::util::IdHashing;

/// Field of the root that contains the documents without parts. Older versions also wrote the parts of prompts into it.
pub(super) const TEXTS_FIELD: &str = "requestTexts";
/// Field of the root that contains the parts of requests.
pub(super) const PARTS_FIELD: &str = "requestParts";

/// The shortest output that parts refer to.
pub(super) const MIN_OUTPUT: usize = 512;

/// The tables while a snapshot is written.
#[derive(Default)]
pub(super) struct RequestTables<'a> {
    /// The outputs that were written, by what tells most of them apart.
    outputs: HashMap<Ends, Outputs<'a>, IdHashing>,
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

/// Outputs of equal length and ends. They are hashed as a whole only if one of them is looked up, because hashing all
/// outputs would double the cost of writing.
#[derive(Default)]
struct Outputs<'a> {
    added: Vec<&'a str>,
    known: HashSet<&'a str, IdHashing>,
}

/// The length of a text, and its first and last bytes.
#[derive(PartialEq, Eq, Hash)]
struct Ends(usize, [u8; 8], [u8; 8]);

impl Ends {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let first = bytes.first_chunk().copied().unwrap_or_default();
        Self(
            bytes.len(),
            first,
            bytes.last_chunk().copied().unwrap_or_default(),
        )
    }
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
    /// Notes that the snapshot contains this output.
    pub(super) fn add_output(&mut self, output: &'a JsonText) {
        if output.len() >= MIN_OUTPUT {
            let outputs = self.outputs.entry(Ends::of(output.as_str())).or_default();
            outputs.added.push(output.as_str());
        }
    }

    /// The output with this text, if the snapshot contains it.
    fn known_output(&mut self, text: &str) -> Option<&'a str> {
        let Outputs { added, known } = self.outputs.get_mut(&Ends::of(text))?;
        known.extend(added.drain(..));
        known.get(text).copied()
    }

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
            Request::Text(text) => Some(self.value(text.as_str())),
            Request::Filled(filled) => self.filled(filled),
            Request::List(list) => self.list(list),
            Request::Read { .. } => None,
        }
    }

    fn value(&mut self, text: &'a str) -> usize {
        let whole = Entry::Value(text);
        if let Some(known) = self.parts.positions.get(&whole) {
            return *known;
        }
        let with_output = if text.len() < MIN_OUTPUT || self.outputs.is_empty() {
            None
        } else {
            self.output(text).or_else(|| self.around_outputs(text))
        };
        let at = self
            .parts
            .position(with_output.unwrap_or(Entry::Value(text)));
        self.parts.positions.insert(whole, at);
        at
    }

    /// The entry of a value that is an output, or a string that contains the JSON text of one.
    fn output(&mut self, text: &str) -> Option<Entry<'a>> {
        let mut scanner = Scanner::new(text);
        let (name, output) = if scanner.peek() == Some(b'"') {
            // Of this length, an output is an object, a list or a string. Most texts are prose.
            if !text[1..].starts_with(['{', '[', '\\']) {
                return None;
            }
            let literal = scanner.string().ok()?;
            // It is written again in the form of `JSON.stringify`.
            if literal.normalized() != literal.body() {
                return None;
            }
            let output = literal.to_json_str().to_display().into_owned();
            ("outputText", self.known_output(&output)?)
        } else {
            ("output", self.known_output(text)?)
        };
        let hash = ContentHash::of_text(output);
        Some(Entry::Composed(format!(r#"{{"{name}":"{hash}"}}"#).into()))
    }

    /// The entry of an object with outputs as members, such as a message with the result of a tool.
    fn around_outputs(&mut self, text: &str) -> Option<Entry<'a>> {
        let mut scanner = Scanner::new(text);
        if scanner.peek() != Some(b'{') {
            return None;
        }
        let (mut skeleton, mut parts, mut from) = (String::new(), String::new(), 0);
        let read = scanner.each_member(|scanner, key| {
            let range = scanner.skip_value()?;
            if range.len() >= MIN_OUTPUT
                && let Some(entry) = self.output(&text[range.clone()])
            {
                let at = self.parts.position(entry);
                let comma = if parts.is_empty() { "" } else { "," };
                parts.push_str(&format!(r#"{comma}"{}":{at}"#, member_pointer(key.body())));
                skeleton.push_str(&text[from..range.start]);
                skeleton.push_str("null");
                from = range.end;
            }
            Ok::<_, JsonError>(())
        });
        read.ok()?;
        skeleton.push_str(&text[from..]);
        let entry = format!(r#"{{"value":{skeleton},"parts":{{{parts}}}}}"#);
        (from > 0).then(|| Entry::Composed(entry.into()))
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
        let mut text = format!(r#"{{"{}":["#, name_of(list.form));
        write_joined(&added, &mut text, |(_, item), text| {
            write_count(*item as u64, text);
        });
        text.push(']');
        if let Some(ListPlace { entry, count }) = place {
            text.push_str(&format!(r#","after":{entry},"keep":{count}"#));
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
