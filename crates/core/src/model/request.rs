//! Requests as they are kept. Their large parts are stored once, however many requests contain them.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::hash::{ContentHash, Conversation, RequestTail, RequestTailError};
use crate::json::{JsonError, JsonText, Scanner};
use crate::util::IdHashing;

/// A request document, or a part of one.
#[derive(Debug, Clone)]
pub enum Request {
    Text(JsonText),
    Filled(Arc<Filled>),
    List(List),
    /// An entry of the table of a snapshot that was read.
    Read {
        table: Arc<RequestTable>,
        index: usize,
    },
}

/// The texts or parts of a snapshot's requests. Set when the whole snapshot has been read, and built when an entry is first
/// needed. `None`: an entry that cannot be read.
pub type RequestTable = OnceLock<LazyLock<Vec<Option<Request>>, BuildTable>>;

pub type BuildTable = Box<dyn FnOnce() -> Vec<Option<Request>> + Send>;

/// A value with parts that are stored apart from it.
#[derive(Debug)]
pub struct Filled {
    /// The value with `null` in place of each part.
    pub skeleton: JsonText,
    /// In the order of their positions.
    pub holes: Vec<Hole>,
}

#[derive(Debug, Clone)]
pub struct Hole {
    /// Position of the `null`.
    pub at: usize,
    /// JSON pointer to it, as the body of a JSON string.
    pub pointer: Arc<str>,
    pub part: Request,
}

impl Hole {
    /// The length of `null`.
    pub(crate) const LENGTH: usize = 4;
}

/// An array, or a long string in chunks. Lists that begin with the same items share them.
#[derive(Debug, Clone)]
pub struct List {
    pub form: Form,
    /// `None` for an empty list.
    pub last: Option<Arc<ListNode>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    Array,
    /// The items are strings, which are concatenated.
    Text,
}

/// An item, and the items before it.
#[derive(Debug)]
pub struct ListNode {
    pub before: Option<Arc<Self>>,
    pub item: Request,
    /// The number of items up to this one.
    pub len: usize,
}

impl ListNode {
    pub fn after(before: Option<Arc<Self>>, item: Request) -> Arc<Self> {
        let len = before.as_ref().map_or(0, |node| node.len) + 1;
        Arc::new(Self { before, item, len })
    }
}

/// Not recursive, because lists can be long.
impl Drop for ListNode {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

impl List {
    pub fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |node| node.len)
    }

    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The nodes from the first one that `is_known` does not accept to the last, and the accepted one before them.
    pub fn nodes_after(
        &self,
        mut is_known: impl FnMut(&Arc<ListNode>) -> bool,
    ) -> (Option<&Arc<ListNode>>, Vec<&Arc<ListNode>>) {
        let mut nodes = Vec::new();
        let mut next = self.last.as_ref();
        while let Some(node) = next {
            if is_known(node) {
                break;
            }
            nodes.push(node);
            next = node.before.as_ref();
        }
        nodes.reverse();
        (next, nodes)
    }
}

impl Request {
    /// The whole document as one text.
    pub fn document(text: String) -> Self {
        Self::Text(JsonText::trusted(text))
    }

    /// The entry that this one refers to. `None` if a snapshot refers to an entry that it does not contain: it may have
    /// been edited or damaged.
    pub fn resolved(&self) -> Option<&Self> {
        match self {
            Self::Read { table, index } => table.get()?.get(*index)?.as_ref(),
            other => Some(other),
        }
    }

    /// False if a part is missing. `complete`: the lists that are known to be complete, to which those of this one are
    /// added. Recurses as deep as parts nest, which is bounded.
    pub(crate) fn is_complete(&self, complete: &mut HashSet<*const ListNode, IdHashing>) -> bool {
        match self.resolved() {
            None | Some(Self::Read { .. }) => false,
            Some(Self::Text(_)) => true,
            Some(Self::Filled(filled)) => {
                let mut parts = filled.holes.iter();
                parts.all(|hole| hole.part.is_complete(complete))
            }
            Some(Self::List(list)) => {
                let nodes = list
                    .nodes_after(|node| complete.contains(&Arc::as_ptr(node)))
                    .1;
                for node in nodes {
                    if !node.item.is_complete(complete) {
                        return false;
                    }
                    complete.insert(Arc::as_ptr(node));
                }
                true
            }
        }
    }

    /// The pieces of the document. Concatenated, they are its JSON text. `None` if a part is missing.
    pub fn pieces(&self) -> Option<Vec<&str>> {
        let mut pieces = Vec::new();
        self.push_pieces(&mut pieces).then_some(pieces)
    }

    /// Recurses as deep as parts nest, which is bounded. False if a part is missing.
    fn push_pieces<'a>(&'a self, pieces: &mut Vec<&'a str>) -> bool {
        match self.resolved() {
            None | Some(Self::Read { .. }) => false,
            Some(Self::Text(text)) => {
                pieces.push(text.as_str());
                true
            }
            Some(Self::Filled(filled)) => {
                let skeleton = filled.skeleton.as_str();
                let mut from = 0;
                for hole in &filled.holes {
                    pieces.push(&skeleton[from..hole.at]);
                    if !hole.part.push_pieces(pieces) {
                        return false;
                    }
                    from = hole.at + Hole::LENGTH;
                }
                pieces.push(&skeleton[from..]);
                true
            }
            Some(Self::List(list)) => {
                let (open, close) = match list.form {
                    Form::Array => ("[", "]"),
                    Form::Text => ("\"", "\""),
                };
                pieces.push(open);
                for (index, node) in list.nodes_after(|_| false).1.into_iter().enumerate() {
                    if list.form == Form::Array && index > 0 {
                        pieces.push(",");
                    }
                    let first = pieces.len();
                    if !node.item.push_pieces(pieces) {
                        return false;
                    }
                    if list.form == Form::Text {
                        let body = |text: &'a str| text.strip_prefix('"')?.strip_suffix('"');
                        match &pieces[first..] {
                            [text] if body(text).is_some() => {
                                pieces[first] = body(text).unwrap_or_default();
                            }
                            _ => return false,
                        }
                    }
                }
                pieces.push(close);
                true
            }
        }
    }
}

/// The names of the members of a prompt's document other than its messages, in order.
pub const PROMPT_MEMBERS: [&str; 4] = ["model", "options", "schema", "tools"];

/// The shortest text that is stored apart from the value that contains it.
pub(crate) const MIN_PART: usize = 256;

/// The document of a prompt without its messages, which begin at [`MESSAGES_AT`].
#[derive(Debug, Clone)]
pub struct PromptForm {
    skeleton: JsonText,
    holes: Vec<Hole>,
}

/// The shortest member of a prompt that is stored apart. It is the same in each turn.
const MIN_MEMBER: usize = 16;
const BEFORE_MESSAGES: &str = r#"{"messages":"#;

impl PromptForm {
    /// `members`: the members other than the messages.
    pub fn new(members: impl IntoIterator<Item = (&'static str, Request)>) -> Self {
        let mut skeleton = format!("{BEFORE_MESSAGES}null");
        let mut holes = Vec::new();
        for (name, part) in members {
            skeleton.push_str(&format!(r#","{name}":"#));
            match part {
                Request::Text(text) if text.len() < MIN_MEMBER => skeleton.push_str(text.as_str()),
                part => {
                    holes.push(Hole {
                        at: skeleton.len(),
                        pointer: Arc::from(format!("/{name}")),
                        part,
                    });
                    skeleton.push_str("null");
                }
            }
        }
        skeleton.push('}');
        Self {
            skeleton: JsonText::trusted(skeleton),
            holes,
        }
    }

    pub fn with(&self, messages: Option<Arc<ListNode>>) -> Request {
        let messages = Hole {
            at: BEFORE_MESSAGES.len(),
            pointer: Arc::from("/messages"),
            part: Request::List(List {
                form: Form::Array,
                last: messages,
            }),
        };
        Request::Filled(Arc::new(Filled {
            skeleton: self.skeleton.clone(),
            holes: std::iter::once(messages)
                .chain(self.holes.iter().cloned())
                .collect(),
        }))
    }
}

/// The messages of a conversation: hashed as they are appended, and stored for its requests.
#[derive(Debug, Default)]
pub struct Prompting {
    hasher: Conversation,
    messages: Option<Arc<ListNode>>,
    keep: bool,
}

/// A tail in the forms for hashing and for storing.
#[derive(Debug)]
pub struct PromptTail {
    hashed: RequestTail,
    form: PromptForm,
}

impl Prompting {
    /// `keep`: true if the run keeps requests.
    pub fn new(keep: bool) -> Self {
        Self {
            keep,
            ..Self::default()
        }
    }

    /// Appends messages: a JSON array from `JSON.stringify`. Appends all of them or, on an error, none. `normalized`:
    /// the text to hash instead, if normalization rules apply.
    pub fn append(&mut self, messages: String, normalized: Option<&str>) -> Result<(), JsonError> {
        self.hasher.append(normalized.unwrap_or(&messages))?;
        if self.keep {
            for text in elements(messages)? {
                let before = self.messages.take();
                self.messages = Some(ListNode::after(before, Request::Text(text)));
            }
        }
        Ok(())
    }

    pub fn hash(&self, tail: &PromptTail) -> ContentHash {
        self.hasher.hash(&tail.hashed)
    }

    /// The request with all messages so far. `None` if the run does not keep requests.
    pub fn request(&self, tail: &PromptTail) -> Option<Request> {
        self.keep.then(|| tail.form.with(self.messages.clone()))
    }
}

impl PromptTail {
    /// `text`: an object without `messages`, from `JSON.stringify`. `normalized`: the text to hash instead, if
    /// normalization rules apply.
    pub fn new(text: String, normalized: Option<&str>) -> Result<Self, RequestTailError> {
        let hashed = RequestTail::new(normalized.unwrap_or(&text))?;
        let source = Arc::new(text);
        let mut members = Vec::new();
        Scanner::new(&source).each_member(|scanner, key| -> Result<(), JsonError> {
            let range = scanner.skip_value()?;
            if let Some(at) = PROMPT_MEMBERS.iter().position(|name| key.is(name)) {
                members.push((at, Request::Text(JsonText::from_span(&source, range))));
            }
            Ok(())
        })?;
        members.sort_by_key(|(at, _)| *at);
        let members = members
            .into_iter()
            .map(|(at, part)| (PROMPT_MEMBERS[at], part));
        Ok(Self {
            hashed,
            form: PromptForm::new(members),
        })
    }
}

fn elements(array: String) -> Result<Vec<JsonText>, JsonError> {
    let source = Arc::new(array);
    let mut elements = Vec::new();
    Scanner::new(&source)
        .each_element(|scanner| {
            elements.push(JsonText::from_span(&source, scanner.skip_value()?));
            Ok(())
        })
        .map(|()| elements)
}

/// Two requests are equal if their document texts are.
impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.pieces(), other.pieces());
        let bytes = |pieces: Option<Vec<&str>>| pieces.map(|pieces| pieces.concat());
        bytes(left) == bytes(right)
    }
}

impl Eq for Request {}

#[cfg(test)]
#[path = "../../tests/unit/model/request.rs"]
mod tests;
