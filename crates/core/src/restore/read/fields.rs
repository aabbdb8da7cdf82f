//! The fields of events that a restore reads, as ranges of the text of the trace.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memchr;

use crate::json::{JsonError, JsonStr, JsonText, RawStr, Scanner};

pub(crate) type FieldSet = u64;

macro_rules! fields {
    ($($length:literal => $($variant:ident = $key:literal),+;)*) => {
        /// A field that a restore reads of some type of event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Field { $($($variant),+),* }

        impl Field {
            pub(crate) const fn key(self) -> &'static str {
                match self { $($(Self::$variant => $key),+),* }
            }

            #[inline]
            fn from_body(key: &str) -> Option<Self> {
                match key.len() {
                    $($length => match key { $($key => Some(Self::$variant),)+ _ => None },)*
                    _ => None,
                }
            }

            pub(crate) const COUNT: usize = Self::ALL.len();

            pub(crate) const ALL: &[Self] = &[$($(Self::$variant),+),*];
        }
    };
}

// Grouped by the length of the key, so that a key is compared with only a few others.
fields! {
    3 => Own = "own", Key = "key";
    4 => Type = "type", Seq = "_seq", Kind = "kind", Name = "name", Meta = "meta", Lane = "lane";
    5 => Trace = "trace", Props = "props", Error = "error", Delta = "delta", Count = "count", Value = "value", Usage = "usage", Lanes = "lanes";
    6 => Memory = "memory", Result = "result", Output = "output", CallId = "callId", SpanId = "spanId", Redact = "redact", Within = "within";
    7 => TraceId = "traceId", AgentId = "agentId", Success = "success", Handled = "handled", Message = "message", Inexact = "inexact", Attempt = "attempt";
    8 => FailedBy = "failedBy", Recorder = "recorder", FirstRun = "firstRun", ToolName = "toolName", NewProps = "newProps", Duration = "duration", Attempts = "attempts", SameTick = "sameTick";
    9 => Timestamp = "timestamp", Normalize = "normalize", InputHash = "inputHash", EndReason = "endReason", AdapterId = "adapterId", Tombstone = "tombstone";
    10 => PropsTypes = "propsTypes";
    11 => ResultTypes = "resultTypes", ContentHash = "contentHash", ToolResults = "toolResults",
        OutputTypes = "outputTypes", Restoration = "restoration", BudgetState = "budgetState";
    12 => ParentSpanId = "parentSpanId", GenerationId = "generationId", FinishReason = "finishReason";
    13 => NewPropsTypes = "newPropsTypes", JournalCallId = "journalCallId";
    15 => HandledFailures = "handledFailures";
}

/// The shortest key has three letters, and an escape has six characters.
const SHORTEST_ESCAPED: usize = 8;

impl Field {
    /// The field with this key; `None` if no event is read for it.
    #[inline]
    pub(crate) fn from_key(key: RawStr<'_>) -> Option<Self> {
        let field = Self::from_body(key.body());
        if field.is_none() && key.body().len() >= SHORTEST_ESCAPED && key.has_escapes() {
            return Self::from_body(&key.normalized());
        }
        field
    }

    /// The fields that need not be read if this one has the given value.
    pub(crate) fn replaces(self, value: &str) -> FieldSet {
        match self {
            Self::Delta => Self::Own.bit(),
            Self::Success if value == "true" => Self::Error.bit(),
            _ => 0,
        }
    }

    /// The fields of [`CallData`](crate::model::CallData), in events that end a call or report its answer.
    pub(crate) const CALL_DATA: &[Self] = &[
        Self::Meta,
        Self::Lane,
        Self::Attempts,
        Self::SameTick,
        Self::Inexact,
    ];

    pub(crate) const fn bit(self) -> FieldSet {
        1 << self as u8
    }

    pub(crate) const fn set(mut fields: &[Self]) -> FieldSet {
        let mut set = 0;
        while let [first, rest @ ..] = fields {
            set |= first.bit();
            fields = rest;
        }
        set
    }
}

/// The position of a kept field in the text.
#[derive(Debug, Clone)]
pub(crate) struct FieldSpan {
    pub field: Field,
    /// The value; empty if it is nested too deep.
    pub range: Range<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldList {
    first: u32,
    count: u32,
}

impl FieldList {
    pub(crate) fn new(first: usize, end: usize) -> Self {
        let count = u32::try_from(end - first).unwrap_or(0);
        Self {
            first: u32::try_from(first).unwrap_or(u32::MAX),
            count,
        }
    }

    /// Looks the fields up in the list of all fields.
    pub(crate) fn with<'a, 't>(
        self,
        source: TraceText<'t>,
        list: &'a [FieldSpan],
    ) -> Fields<'a, 't> {
        let first = self.first as usize;
        let list = list.get(first..first + self.count as usize).unwrap_or(&[]);
        Fields { source, list }
    }

    /// Adjusts the position after `fields` fields were inserted before.
    pub(crate) fn move_by(&mut self, fields: usize) {
        let first = (self.first as usize).saturating_add(fields);
        self.first = u32::try_from(first).unwrap_or(u32::MAX);
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceText<'t> {
    text: &'t str,
    values: Values<'t>,
}

/// The way in which values are taken from the text.
#[derive(Debug, Clone, Copy)]
enum Values<'t> {
    /// Values refer to the text and keep it alive.
    Shared(&'t Arc<String>),
    /// Values are copied. Counts the copied bytes.
    Copied(&'t AtomicUsize),
}

impl<'t> TraceText<'t> {
    /// A text that is kept alive by the values taken from it.
    pub(crate) fn shared(text: &'t Arc<String>) -> Self {
        Self {
            text,
            values: Values::Shared(text),
        }
    }

    /// A text whose values are copied.
    pub(crate) fn borrowed(text: &'t str, copied: &'t AtomicUsize) -> Self {
        Self {
            text,
            values: Values::Copied(copied),
        }
    }

    pub(crate) fn text(self) -> &'t str {
        self.text
    }

    pub(crate) fn slice(self, range: &Range<usize>) -> &'t str {
        &self.text[range.clone()]
    }

    pub(crate) fn json(self, range: &Range<usize>) -> JsonText {
        match self.values {
            Values::Shared(text) => JsonText::from_span(text, range.clone()),
            Values::Copied(bytes) => {
                bytes.fetch_add(range.len(), Ordering::Relaxed);
                JsonText::trusted(self.slice(range).to_owned())
            }
        }
    }

    /// The body of a string in the form that `JSON.stringify` writes; `None` for other values.
    pub(crate) fn string(self, range: &Range<usize>) -> Option<Cow<'t, str>> {
        let text = self.slice(range);
        let body = text.strip_prefix('"')?.strip_suffix('"')?;
        if memchr(b'\\', body.as_bytes()).is_some() {
            return Some(Scanner::new(text).string().ok()?.normalized());
        }
        Some(Cow::Borrowed(body))
    }
}

/// The kept fields of one event, or of one row in an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a, 't> {
    pub source: TraceText<'t>,
    pub list: &'a [FieldSpan],
}

impl<'t> Fields<'_, 't> {
    /// The range of the value, which may be `null`. Of a duplicate key, the last one counts.
    pub(crate) fn range(&self, field: Field) -> Option<&Range<usize>> {
        self.list
            .iter()
            .rev()
            .find(|kept| kept.field == field)
            .map(|kept| &kept.range)
    }

    /// True if the field is present but nested too deep.
    pub(crate) fn is_too_deep(&self, field: Field) -> bool {
        self.range(field).is_some_and(Range::is_empty)
    }

    /// The value, of any type.
    pub(crate) fn json(&self, field: Field) -> Option<JsonText> {
        let range = self.range(field).filter(|range| !range.is_empty())?;
        Some(self.source.json(range))
    }

    /// The value, unless it is `null`.
    pub(crate) fn present(&self, field: Field) -> Option<JsonText> {
        self.json(field).filter(|value| value.as_str() != "null")
    }

    /// The value's text, unless it is `null`.
    pub(crate) fn text(&self, field: Field) -> Option<&'t str> {
        let text = self.source.slice(self.range(field)?);
        (!text.is_empty() && text != "null").then_some(text)
    }

    pub(crate) fn string(&self, field: Field) -> Option<Cow<'t, str>> {
        self.source.string(self.range(field)?)
    }

    pub(crate) fn json_str(&self, field: Field) -> Option<JsonStr> {
        self.string(field)
            .map(|body| JsonStr::from_normalized_body(&body))
    }

    /// The strings of an array. Other elements are left out. `None` if the value is not an array.
    pub(crate) fn json_strs(&self, field: Field) -> Option<Vec<JsonStr>> {
        let mut strings = Vec::new();
        let read = Scanner::new(self.text(field)?).each_element(|scanner| {
            strings.extend(scanner.string_or_skip()?.map(|text| text.to_json_str()));
            Ok::<_, JsonError>(())
        });
        read.ok().map(|()| strings)
    }

    pub(crate) fn flag(&self, field: Field) -> Option<bool> {
        match self.source.slice(self.range(field)?) {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(crate) fn count(&self, field: Field) -> Option<u64> {
        self.source.slice(self.range(field)?).parse().ok()
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/fields.rs"]
mod tests;
