//! Finds the parts of requests that earlier requests of the run contain.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use super::request::{Filled, Form, Hole, List, ListNode, MIN_PART, Request};
use crate::json::{JsonError, JsonText, Scanner};
use crate::util::IdHashing;

/// The shortest string that is stored apart from the value that contains it.
const MIN_STRING: usize = 512;
/// The shortest string that is stored in chunks, because it may be the beginning of a longer one.
const MIN_CHUNKED: usize = 8 * 1_024;
const CHUNK: usize = 512;
/// Values below this level are stored with the value that contains them.
const MAX_DEPTH: usize = 16;

/// The parts of the requests of a run.
#[derive(Debug, Default)]
pub struct Sharing {
    texts: HashSet<JsonText, IdHashing>,
    /// By a hash of the items of the list up to the node.
    nodes: HashMap<u64, Arc<ListNode>, IdHashing>,
    hashing: IdHashing,
}

/// A value in the text of a document.
enum Found {
    /// Without parts.
    Plain(Range<usize>),
    Part(Range<usize>, Request),
    /// An object with parts.
    Object(Range<usize>, Vec<FoundPart>),
}

struct FoundPart {
    pointer: String,
    range: Range<usize>,
    part: Request,
}

impl Sharing {
    /// The request with its large parts shared with earlier requests. A short one, and one that has parts already, is
    /// returned unchanged.
    #[must_use]
    pub fn share(&mut self, request: Request) -> Request {
        let Request::Text(text) = &request else {
            return request;
        };
        if text.len() < MIN_PART {
            return request;
        }
        match self.value(text.as_str(), &mut Scanner::new(text.as_str()), 0) {
            Ok(Found::Part(_, part)) => part,
            Ok(Found::Object(range, parts)) => self.filled(text.as_str(), &range, parts),
            // Text that is not JSON is kept as it is.
            Ok(Found::Plain(_)) | Err(_) => request,
        }
    }

    /// Recurses to [`MAX_DEPTH`].
    fn value(
        &mut self,
        text: &str,
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<Found, JsonError> {
        match scanner.peek() {
            Some(b'{') if depth < MAX_DEPTH => self.object(text, scanner, depth),
            Some(b'[') if depth < MAX_DEPTH => self.array(text, scanner, depth),
            Some(b'"') => {
                let range = scanner.skip_value()?;
                Ok(match range.len() {
                    ..MIN_STRING => Found::Plain(range),
                    MIN_STRING..MIN_CHUNKED => {
                        let part = Request::Text(self.text(&text[range.clone()]));
                        Found::Part(range, part)
                    }
                    _ => {
                        let part = self.string(&text[range.clone()]);
                        Found::Part(range, part)
                    }
                })
            }
            _ => Ok(Found::Plain(scanner.skip_value()?)),
        }
    }

    fn object(
        &mut self,
        text: &str,
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<Found, JsonError> {
        let start = scanner.position();
        let (mut parts, mut plain) = (Vec::new(), Vec::new());
        scanner.each_member(|scanner, key| {
            let pointer = || member_pointer(key.body());
            match self.value(text, scanner, depth + 1)? {
                Found::Plain(range) if range.len() >= MIN_PART => plain.push((pointer(), range)),
                Found::Plain(_) => {}
                Found::Part(range, part) => parts.push(FoundPart {
                    pointer: pointer(),
                    range,
                    part,
                }),
                Found::Object(range, inner) => {
                    let stored: usize = inner.iter().map(|part| part.range.len()).sum();
                    if range.len() - stored < MIN_PART {
                        let above = pointer();
                        parts.extend(inner.into_iter().map(|part| FoundPart {
                            pointer: format!("{above}{}", part.pointer),
                            ..part
                        }));
                    } else {
                        parts.push(FoundPart {
                            pointer: pointer(),
                            part: self.filled(text, &range, inner),
                            range,
                        });
                    }
                }
            }
            Ok::<_, JsonError>(())
        })?;
        let range = start..scanner.position();
        if parts.is_empty() {
            return Ok(Found::Plain(range));
        }
        for (pointer, range) in plain {
            let part = Request::Text(self.text(&text[range.clone()]));
            parts.push(FoundPart {
                pointer,
                range,
                part,
            });
        }
        parts.sort_by_key(|part| part.range.start);
        Ok(Found::Object(range, parts))
    }

    fn filled(&mut self, text: &str, range: &Range<usize>, parts: Vec<FoundPart>) -> Request {
        let mut skeleton = String::new();
        let mut from = range.start;
        let holes = parts.into_iter().map(|part| {
            skeleton.push_str(&text[from..part.range.start]);
            let at = skeleton.len();
            skeleton.push_str("null");
            from = part.range.end;
            Hole {
                at,
                pointer: Arc::from(part.pointer),
                part: part.part,
            }
        });
        let holes = holes.collect();
        skeleton.push_str(&text[from..range.end]);
        Request::Filled(Arc::new(Filled {
            skeleton: self.text(&skeleton),
            holes,
        }))
    }

    fn array(
        &mut self,
        text: &str,
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<Found, JsonError> {
        let start = scanner.position();
        let mut items = Vec::new();
        scanner.each_element(|scanner| -> Result<(), JsonError> {
            items.push(scanner.skip_value()?);
            Ok(())
        })?;
        let range = start..scanner.position();
        // A list of numbers is one value: its items are too small to be shared.
        let is_list = items.first().is_some_and(|item| {
            matches!(text.as_bytes().get(item.start), Some(b'{' | b'[' | b'"'))
        });
        if range.len() < MIN_PART || !is_list {
            return Ok(Found::Plain(range));
        }
        let mut last = None;
        for item in items {
            last = Some(self.node(last, Form::Array, &text[item], depth + 1)?);
        }
        Ok(Found::Part(
            range,
            Request::List(List {
                form: Form::Array,
                last,
            }),
        ))
    }

    /// A long string. A chunk ends at a place that depends only on what is before it.
    fn string(&mut self, text: &str) -> Request {
        let bytes = text.as_bytes();
        let (mut last, mut from, end) = (None, 1, text.len() - 1);
        while from < end {
            let mut to = from;
            while to < end && (to < from + CHUNK || !text.is_char_boundary(to)) {
                to += match (bytes.get(to), bytes.get(to + 1)) {
                    (Some(b'\\'), Some(b'u')) => 6,
                    (Some(b'\\'), _) => 2,
                    _ => 1,
                };
            }
            let to = to.min(end);
            let chunk = format!("\"{}\"", &text[from..to]);
            match self.node(last.take(), Form::Text, &chunk, MAX_DEPTH) {
                Ok(node) => last = Some(node),
                Err(_) => return Request::Text(self.text(text)),
            }
            from = to;
        }
        Request::List(List {
            form: Form::Text,
            last,
        })
    }

    /// The list with this item after `before`.
    fn node(
        &mut self,
        before: Option<Arc<ListNode>>,
        form: Form,
        item: &str,
        depth: usize,
    ) -> Result<Arc<ListNode>, JsonError> {
        let address = before.as_ref().map(Arc::as_ptr);
        let key = self.hashing.hash_one((address, form, item));
        if let Some(node) = self.nodes.get(&key)
            && node.before.as_ref().map(Arc::as_ptr) == address
            && is_text(&node.item, item)
        {
            return Ok(Arc::clone(node));
        }
        let part = match self.value(item, &mut Scanner::new(item), depth)? {
            Found::Plain(range) => Request::Text(self.text(&item[range])),
            Found::Part(_, part) => part,
            Found::Object(range, parts) => self.filled(item, &range, parts),
        };
        let node = ListNode::after(before, part);
        self.nodes.insert(key, Arc::clone(&node));
        Ok(node)
    }

    fn text(&mut self, text: &str) -> JsonText {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let own = JsonText::trusted(text.to_owned());
        self.texts.insert(own.clone());
        own
    }
}

fn is_text(request: &Request, text: &str) -> bool {
    if let Request::Text(known) = request {
        return known.as_str() == text;
    }
    let mut rest = text;
    for piece in request.pieces().unwrap_or_default() {
        match rest.strip_prefix(piece) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The JSON pointer to a member of an object. Names and pointers are bodies of JSON strings.
pub(crate) fn member_pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A filled value at the given places of a skeleton, which has `null` there. `None` if a place is not in it.
pub(crate) fn fill(skeleton: JsonText, parts: Vec<(String, Request)>) -> Option<Request> {
    let mut holes = Vec::with_capacity(parts.len());
    for (pointer, part) in parts {
        let range = find(skeleton.as_str(), &pointer).ok().flatten()?;
        holes.push(Hole {
            at: range.start,
            pointer: Arc::from(pointer),
            part,
        });
    }
    holes.sort_by_key(|hole| hole.at);
    let overlap = holes
        .windows(2)
        .any(|pair| pair[0].at + Hole::LENGTH > pair[1].at);
    (!overlap).then(|| Request::Filled(Arc::new(Filled { skeleton, holes })))
}

/// The range of the `null` at a pointer, whose tokens are names of members. The pointer is the body of a JSON string.
fn find(text: &str, pointer: &str) -> Result<Option<Range<usize>>, JsonError> {
    let mut scanner = Scanner::new(text);
    for token in pointer.split('/').skip(1) {
        let wanted = token.replace("~1", "/").replace("~0", "~");
        if scanner.peek() != Some(b'{') {
            return Ok(None);
        }
        scanner.enter_object()?;
        let mut first = true;
        loop {
            match scanner.next_member(&mut first)? {
                None => return Ok(None),
                Some(key) if key.normalized() == wanted => break,
                Some(_) => scanner.skip()?,
            }
        }
    }
    let range = scanner.skip_value()?;
    Ok((&text[range.clone()] == "null").then_some(range))
}

#[cfg(test)]
#[path = "../../tests/unit/model/sharing.rs"]
mod tests;
