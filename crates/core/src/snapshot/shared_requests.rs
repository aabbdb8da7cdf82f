//! Requests for readers that see them one after the other: parts of earlier requests are left out.

use std::collections::HashMap;
use std::sync::Arc;

use crate::json::JsonText;
use crate::model::{Filled, Form, Hole, List, ListNode, MIN_PART, Request};
use crate::util::IdHashing;

/// The parts of the requests so far.
#[derive(Debug, Default)]
pub(crate) struct EarlierRequests {
    /// True if only the items of lists are left out.
    only_lists: bool,
    values: HashMap<JsonText, Place, IdHashing>,
    /// By the address of a node. The requests keep the nodes alive.
    lists: HashMap<*const ListNode, Place, IdHashing>,
}

/// A part of a request: the number of the request, and the pointer in its document.
#[derive(Debug, Clone)]
struct Place {
    request: usize,
    pointer: Arc<str>,
}

/// A request while it is written.
struct Writer<'e> {
    earlier: &'e mut EarlierRequests,
    request: usize,
    out: String,
    /// The members of `shared`.
    shared: String,
    /// False if a part is missing.
    is_complete: bool,
}

impl EarlierRequests {
    /// Leaves out only the first items of lists, which are the earlier messages of conversations.
    pub(crate) fn of_lists() -> Self {
        Self {
            only_lists: true,
            ..Self::default()
        }
    }

    /// JSON text of a request: its document, and where its left out parts are, as `ReadModel::shared_request` describes
    /// it. `None` if a part is missing.
    pub(crate) fn write(&mut self, number: usize, request: &Request) -> Option<String> {
        let mut writer = Writer {
            earlier: self,
            request: number,
            out: r#"{"document":"#.to_owned(),
            shared: String::new(),
            is_complete: true,
        };
        writer.part(request, "", "");
        let Writer {
            mut out,
            shared,
            is_complete,
            ..
        } = writer;
        if !is_complete {
            return None;
        }
        if !shared.is_empty() {
            out.push_str(&format!(r#","shared":{{{}}}"#, &shared[1..]));
        }
        out.push('}');
        Some(out)
    }
}

impl Writer<'_> {
    /// `at`: the place in the text, where shared items are left out. `whole`: the place in the document. Recurses as deep
    /// as parts nest, which is bounded.
    fn part(&mut self, part: &Request, at: &str, whole: &str) {
        let part = match part.resolved() {
            Some(Request::List(list)) if list.form == Form::Array => {
                return self.list(list, at, whole);
            }
            Some(part) => part,
            None => {
                self.is_complete = false;
                return;
            }
        };
        let text = JsonText::trusted(self.text_of(part));
        let may_share = text.len() >= MIN_PART && !self.earlier.only_lists;
        if may_share
            && let Some(place) = self.earlier.values.get(&text).cloned()
            && place.request != self.request
        {
            self.out.push_str("null");
            return self.share(at, &place, None);
        }
        match part {
            Request::Filled(filled) => self.filled(filled, at, whole),
            _ => self.out.push_str(text.as_str()),
        }
        if may_share && !at.is_empty() {
            let place = self.place(whole);
            self.earlier.values.insert(text, place);
        }
    }

    fn filled(&mut self, filled: &Filled, at: &str, whole: &str) {
        let skeleton = filled.skeleton.as_str();
        let mut from = 0;
        for hole in &filled.holes {
            self.out.push_str(&skeleton[from..hole.at]);
            let pointer = &hole.pointer;
            self.part(
                &hole.part,
                &format!("{at}{pointer}"),
                &format!("{whole}{pointer}"),
            );
            from = hole.at + Hole::LENGTH;
        }
        self.out.push_str(&skeleton[from..]);
    }

    /// The items that follow those of an earlier list.
    fn list(&mut self, list: &List, at: &str, whole: &str) {
        let is_known = |node: &Arc<ListNode>| {
            let place = self.earlier.lists.get(&Arc::as_ptr(node));
            place.is_some_and(|place| place.request != self.request)
        };
        let (known, nodes) = list.nodes_after(is_known);
        if let Some(node) = known
            && let Some(place) = self.earlier.lists.get(&Arc::as_ptr(node)).cloned()
        {
            self.share(at, &place, Some(node.len));
        }
        let place = self.place(whole);
        self.out.push('[');
        for (index, node) in nodes.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            let position = node.len - 1;
            self.part(
                &node.item,
                &format!("{at}/{index}"),
                &format!("{whole}/{position}"),
            );
            self.earlier.lists.insert(Arc::as_ptr(node), place.clone());
        }
        self.out.push(']');
    }

    fn text_of(&mut self, part: &Request) -> String {
        let pieces = part.pieces();
        self.is_complete &= pieces.is_some();
        pieces.unwrap_or_default().concat()
    }

    fn place(&self, pointer: &str) -> Place {
        Place {
            request: self.request,
            pointer: Arc::from(pointer),
        }
    }

    fn share(&mut self, pointer: &str, place: &Place, keep: Option<usize>) {
        let Place {
            request,
            pointer: at,
        } = place;
        let keep = keep.map_or(String::new(), |count| format!(r#","keep":{count}"#));
        self.shared.push_str(&format!(
            r#","{pointer}":{{"request":{request},"pointer":"{at}"{keep}}}"#
        ));
    }
}
