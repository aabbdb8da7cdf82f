use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use agent_rewind_core::hash;
use agent_rewind_core::json;
use agent_rewind_core::model::{PromptTail, Prompting};
use napi::bindgen_prelude::Either;
use napi_derive::napi;

use crate::error::{Result, json_error, request_error};
use crate::js_text::JsText;
use crate::text::utf8;

/// The RFC 8785 form of any JSON text.
#[napi(catch_unwind)]
pub fn canonicalize(#[napi(ts_arg_type = "string")] text: JsText) -> Result<String> {
    json::canonicalize(&text).map_err(json_error)
}

/// JSON text in the form of `JSON.stringify`, if that form has everything that the text says: true if the text has that
/// form already, false if it has none: it is not JSON, has a duplicate key, or a number that a double does not hold.
#[napi(catch_unwind)]
pub fn lossless_json(#[napi(ts_arg_type = "string")] text: JsText) -> Either<bool, String> {
    match json::lossless(&text) {
        Some(Cow::Borrowed(_)) => Either::A(true),
        Some(Cow::Owned(compact)) => Either::B(compact),
        None => Either::A(false),
    }
}

/// SHA-256 (64 lower-case hex digits) of the RFC 8785 form of any JSON text.
#[napi(catch_unwind)]
pub fn content_hash(#[napi(ts_arg_type = "string")] text: JsText) -> Result<String> {
    let hash = hash::content_hash_any(&text).map_err(json_error)?;
    Ok(hash.to_string())
}

/// As `contentHash`, for UTF-8 bytes, which are read in place.
#[napi(catch_unwind)]
pub fn content_hash_of_bytes(text: &[u8]) -> Result<String> {
    let hash = hash::content_hash_any(utf8(text)?).map_err(json_error)?;
    Ok(hash.to_string())
}

/// The members of a prompt's request other than its messages, kept in canonical form for reuse.
#[napi]
pub struct RequestTail(pub(crate) PromptTail);

#[napi]
impl RequestTail {
    /// `text` is a JSON object from `JSON.stringify` without `messages`. If `normalized` is given, it is hashed
    /// instead.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        #[napi(ts_arg_type = "string")] text: JsText,
        normalized: Option<String>,
    ) -> Result<Self> {
        PromptTail::new(text.into_string(), normalized.as_deref())
            .map(Self)
            .map_err(request_error)
    }
}

/// The messages of a conversation. Each message is read once, however many requests contain it.
#[napi]
pub struct Conversation {
    pub(crate) prompting: RefCell<Prompting>,
    /// Bytes of messages that no call has been started with yet.
    unmetered: Cell<usize>,
}

impl Conversation {
    /// The bytes that the next call adds to the memory of the run.
    pub(crate) fn take_unmetered(&self) -> usize {
        self.unmetered.take()
    }
}

#[napi]
impl Conversation {
    /// `keep`: true to keep the requests.
    #[napi(constructor, catch_unwind)]
    pub fn new(keep: bool) -> Self {
        Self {
            prompting: RefCell::new(Prompting::new(keep)),
            unmetered: Cell::new(0),
        }
    }

    /// Appends the messages of a JSON array from `JSON.stringify`. If `normalized` is given, it is hashed instead.
    #[napi(catch_unwind)]
    pub fn append(
        &self,
        #[napi(ts_arg_type = "string")] messages: JsText,
        normalized: Option<String>,
    ) -> Result<()> {
        self.unmetered.set(self.unmetered.get() + messages.len());
        self.prompting
            .borrow_mut()
            .append(messages.into_string(), normalized.as_deref())
            .map_err(json_error)
    }

    /// The contentHash of the request with all messages so far.
    #[napi(catch_unwind)]
    pub fn hash(&self, tail: &RequestTail) -> String {
        self.prompting.borrow().hash(&tail.0).to_string()
    }
}
