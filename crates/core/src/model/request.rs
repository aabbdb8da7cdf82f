//! Stored requests. Each message, schema and tool list is stored once, however many requests contain it.

use std::sync::{Arc, OnceLock};

use rpds::VectorSync;

use crate::hash::{ContentHash, Conversation, RequestTail, RequestTailError};
use crate::json::{JsonError, JsonText, Scanner};

/// The request of a call.
#[derive(Debug, Clone)]
pub enum Request {
    /// The whole document.
    Document(Text),
    /// A prompt: its messages, and the other members of the document.
    Prompt {
        conversation: Arc<ConversationMark>,
        messages: VectorSync<Text>,
        tail: Arc<Tail>,
    },
}

/// Identifies a conversation by its address. Of two prompts in one conversation, the later one starts with all messages
/// of the earlier one.
#[derive(Debug, Default)]
pub struct ConversationMark {
    /// Values of size zero could share an address.
    _occupied: u8,
}

/// The members of a prompt's document except its messages, in order: name and value.
pub type Tail = Vec<(&'static str, Text)>;

/// The members that a tail may have, in the order of the document.
pub const TAIL_MEMBERS: [&str; 4] = ["model", "options", "schema", "tools"];

/// JSON text that requests share.
#[derive(Debug, Clone)]
pub enum Text {
    Own(JsonText),
    /// An entry of the table of a snapshot that was read.
    Shared {
        table: Arc<TextTable>,
        index: usize,
    },
}

/// The texts of a snapshot's requests. Filled when the whole snapshot has been read.
pub type TextTable = OnceLock<Vec<JsonText>>;

impl Text {
    /// Empty if a snapshot refers to an entry that it does not contain.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Own(text) => text.as_str(),
            Self::Shared { table, index } => table
                .get()
                .and_then(|texts| texts.get(*index))
                .map_or("", JsonText::as_str),
        }
    }
}

impl Request {
    /// The prompt with this document. If it begins with all messages of `before`, it continues that prompt.
    ///
    /// # Errors
    /// Text that is not a JSON object with a list of messages.
    pub fn prompt(document: String, before: Option<&Self>) -> Result<Self, JsonError> {
        let source = Arc::new(document);
        let mut scanner = Scanner::new(&source);
        let mut all = Vec::new();
        let mut members = Vec::new();
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            if key.is("messages") {
                all = elements_in(&source, &mut scanner)?;
                continue;
            }
            let value = JsonText::from_span(&source, scanner.skip_value()?);
            if let Some(name) = TAIL_MEMBERS.into_iter().find(|name| key.is(name)) {
                members.push((name, Text::Own(value)));
            }
        }
        let (conversation, mut messages) = match before {
            Some(Self::Prompt {
                conversation,
                messages: known,
                ..
            }) if known.len() <= all.len()
                && known
                    .iter()
                    .zip(&all)
                    .all(|(known, text)| known.as_str() == text.as_str()) =>
            {
                (Arc::clone(conversation), known.clone())
            }
            _ => (Arc::default(), VectorSync::new_sync()),
        };
        for text in all.into_iter().skip(messages.len()) {
            messages.push_back_mut(Text::Own(text));
        }
        Ok(Self::Prompt {
            conversation,
            messages,
            tail: Arc::new(in_order(members)),
        })
    }

    /// False if a text is missing: an edited or damaged snapshot may refer to texts that it does not contain. The first
    /// `checked` messages are known to be complete.
    #[must_use]
    pub fn is_complete(&self, checked: usize) -> bool {
        let is_present = |text: &Text| !text.as_str().is_empty();
        match self {
            Self::Document(text) => is_present(text),
            Self::Prompt { messages, tail, .. } => {
                let new = (checked..messages.len()).filter_map(|index| messages.get(index));
                new.chain(tail.iter().map(|(_, text)| text)).all(is_present)
            }
        }
    }

    /// The pieces of the document. Concatenated, they are its JSON text.
    #[must_use]
    pub fn pieces(&self) -> Vec<&str> {
        match self {
            Self::Document(text) => vec![text.as_str()],
            Self::Prompt { messages, tail, .. } => {
                let mut pieces = Vec::with_capacity(messages.len() * 2 + tail.len() * 4 + 2);
                pieces.push(r#"{"messages":["#);
                for (index, message) in messages.iter().enumerate() {
                    if index > 0 {
                        pieces.push(",");
                    }
                    pieces.push(message.as_str());
                }
                pieces.push("]");
                for (name, text) in tail.iter() {
                    pieces.extend([",\"", name, "\":", text.as_str()]);
                }
                pieces.push("}");
                pieces
            }
        }
    }
}

/// The messages of a conversation: hashed as they are appended, and stored for its requests.
#[derive(Debug, Default)]
pub struct Prompting {
    hasher: Conversation,
    mark: Arc<ConversationMark>,
    messages: VectorSync<Text>,
    keep: bool,
}

/// A tail in the forms for hashing and for storing.
#[derive(Debug)]
pub struct PromptTail {
    hashed: RequestTail,
    members: Arc<Tail>,
}

impl Prompting {
    /// `keep`: true if the run keeps requests.
    #[must_use]
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
                self.messages.push_back_mut(Text::Own(text));
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn hash(&self, tail: &PromptTail) -> ContentHash {
        self.hasher.hash(&tail.hashed)
    }

    /// The request with all messages so far. `None` if the run does not keep requests.
    #[must_use]
    pub fn request(&self, tail: &PromptTail) -> Option<Request> {
        self.keep.then(|| Request::Prompt {
            conversation: Arc::clone(&self.mark),
            messages: self.messages.clone(),
            tail: Arc::clone(&tail.members),
        })
    }
}

impl PromptTail {
    /// `text`: an object without `messages`, from `JSON.stringify`. `normalized`: the text to hash instead, if
    /// normalization rules apply.
    pub fn new(text: String, normalized: Option<&str>) -> Result<Self, RequestTailError> {
        let hashed = RequestTail::new(normalized.unwrap_or(&text))?;
        let source = Arc::new(text);
        let mut members = Vec::new();
        let mut scanner = Scanner::new(&source);
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            let range = scanner.skip_value()?;
            if let Some(name) = TAIL_MEMBERS.into_iter().find(|name| key.is(name)) {
                members.push((name, Text::Own(JsonText::from_span(&source, range))));
            }
        }
        Ok(Self {
            hashed,
            members: Arc::new(in_order(members)),
        })
    }
}

fn in_order(mut members: Tail) -> Tail {
    members.sort_by_key(|(name, _)| TAIL_MEMBERS.iter().position(|member| member == name));
    members
}

fn elements(array: String) -> Result<Vec<JsonText>, JsonError> {
    let source = Arc::new(array);
    elements_in(&source, &mut Scanner::new(&source))
}

fn elements_in(
    source: &Arc<String>,
    scanner: &mut Scanner<'_>,
) -> Result<Vec<JsonText>, JsonError> {
    let mut elements = Vec::new();
    scanner.enter_array()?;
    let mut first = true;
    while scanner.next_element(&mut first)? {
        elements.push(JsonText::from_span(source, scanner.skip_value()?));
    }
    Ok(elements)
}

/// Two requests are equal if their document texts are.
impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.pieces(), other.pieces());
        left.iter()
            .flat_map(|piece| piece.bytes())
            .eq(right.iter().flat_map(|piece| piece.bytes()))
    }
}

impl Eq for Request {}

#[cfg(test)]
#[path = "../../tests/unit/model/request.rs"]
mod tests;
