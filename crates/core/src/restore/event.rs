//! What is kept of an event: what it is, where it belongs, when it was, and spans of its fields.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::json::{JsonStr, JsonText, RawStr, Scanner};

/// Index into [`Spans`](super::spans::Spans).
pub(super) type SpanIndex = u32;
/// Stands for "no span".
pub(super) const NO_SPAN: SpanIndex = SpanIndex::MAX;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Event {
    pub kind: EventKind,
    pub span: SpanIndex,
    /// [`NO_SPAN`] for none.
    pub parent: SpanIndex,
    /// Index of the traceId; `None` where the event has none.
    pub trace: Option<u32>,
    /// Line of the file or place in the list; from 1.
    pub line: u32,
    /// Milliseconds since 1970; NaN where the event has none.
    pub time: f64,
    /// `_seq`; NaN where the event has none.
    pub seq: f64,
    /// The event's part of the list of kept fields.
    pub fields: FieldList,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FieldList {
    first: u32,
    count: u32,
}

impl FieldList {
    pub(super) fn new(first: usize, end: usize) -> Self {
        let count = u32::try_from(end - first).unwrap_or(0);
        Self {
            first: u32::try_from(first).unwrap_or(u32::MAX),
            count,
        }
    }
}

/// What sort of span an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Run,
    Agent,
    Generation,
    /// `promptAgent`.
    Policy,
    Turn,
    Model,
    /// `tools:execute`: the tool calls of one turn.
    Batch,
    Tool,
    /// A call of any kind, journaled through the open primitive.
    Call,
    Custom,
    Reborn,
    Budget,
    /// Nothing that a snapshot is made from.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Start,
    End,
    /// The event is all of its span.
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventKind {
    pub family: Family,
    pub phase: Phase,
}

impl EventKind {
    pub(super) fn from_type(name: &str) -> Self {
        let (base, phase) = if let Some(base) = name.strip_suffix(":start") {
            (base, Phase::Start)
        } else if let Some(base) = name.strip_suffix(":end") {
            (base, Phase::End)
        } else {
            (name, Phase::Single)
        };
        let family = match (base, phase) {
            ("agent:reborn", Phase::Single) => Family::Reborn,
            ("budget:update", Phase::Single) => Family::Budget,
            (_, Phase::Single) => Family::Other,
            ("runWith", _) => Family::Run,
            ("agent", _) => Family::Agent,
            ("generation", _) => Family::Generation,
            ("promptAgent", _) => Family::Policy,
            ("turn", _) => Family::Turn,
            ("model:call", _) => Family::Model,
            ("tools:execute", _) => Family::Batch,
            ("tool:call", _) => Family::Tool,
            ("call", _) => Family::Call,
            ("custom:span", _) => Family::Custom,
            _ => Family::Other,
        };
        Self { family, phase }
    }

    /// The type as events name it.
    pub(super) fn name(self) -> &'static str {
        let (start, end) = match self.family {
            Family::Run => ("runWith:start", "runWith:end"),
            Family::Agent => ("agent:start", "agent:end"),
            Family::Generation => ("generation:start", "generation:end"),
            Family::Policy => ("promptAgent:start", "promptAgent:end"),
            Family::Turn => ("turn:start", "turn:end"),
            Family::Model => ("model:call:start", "model:call:end"),
            Family::Batch => ("tools:execute:start", "tools:execute:end"),
            Family::Tool => ("tool:call:start", "tool:call:end"),
            Family::Call => ("call:start", "call:end"),
            Family::Custom => ("custom:span:start", "custom:span:end"),
            Family::Reborn => ("agent:reborn", "agent:reborn"),
            Family::Budget => ("budget:update", "budget:update"),
            Family::Other => ("other", "other"),
        };
        if self.phase == Phase::End { end } else { start }
    }

    /// The fields that a restore reads of such an event, a bit each.
    pub(super) fn fields(self) -> FieldSet {
        use Field as F;
        const CALL: FieldSet = F::CallId.bit() | F::ContentHash.bit();
        const OUTCOME: FieldSet =
            F::Success.bit() | F::Error.bit() | F::Tombstone.bit() | F::Meta.bit();
        const OUTPUT: FieldSet = OUTCOME | F::Output.bit() | F::OutputTypes.bit();
        const TOOL: FieldSet = F::ToolName.bit() | F::JournalCallId.bit() | F::ContentHash.bit();
        const ENDED: FieldSet = F::Success.bit()
            | F::Error.bit()
            | F::Result.bit()
            | F::ResultTypes.bit()
            | F::Tombstone.bit();
        const AGENT: FieldSet = PROPS | F::InputHash.bit() | F::CallId.bit();
        const PROPS: FieldSet = F::AgentId.bit() | F::Props.bit() | F::PropsTypes.bit();
        match (self.family, self.phase) {
            (Family::Run, Phase::Start) => {
                PROPS
                    | F::Normalize.bit()
                    | F::Restoration.bit()
                    | F::Memory.bit()
                    | F::BudgetState.bit()
            }
            (Family::Run, _) => ENDED | F::Memory.bit(),
            (Family::Agent, Phase::Start) => AGENT | F::BudgetState.bit(),
            (Family::Agent, _) => AGENT | ENDED,
            (Family::Generation, Phase::Start) => PROPS | F::GenerationId.bit() | F::Memory.bit(),
            (Family::Generation, _) => {
                PROPS | F::GenerationId.bit() | F::Memory.bit() | F::EndReason.bit() | ENDED
            }
            (Family::Turn, Phase::Start) => CALL,
            (Family::Turn, _) => CALL | OUTCOME | F::Message.bit(),
            (Family::Model, _) => F::AdapterId.bit(),
            (Family::Batch, Phase::End) => F::ToolResults.bit(),
            (Family::Tool, Phase::Start) => TOOL,
            (Family::Tool, _) => TOOL | OUTPUT,
            (Family::Call, Phase::Start) => CALL | F::Kind.bit() | F::Name.bit(),
            (Family::Call, _) => CALL | F::Kind.bit() | F::Name.bit() | OUTPUT,
            (Family::Reborn, _) => F::NewProps.bit() | F::NewPropsTypes.bit(),
            (Family::Budget, _) => F::Delta.bit() | F::Own.bit(),
            _ => 0,
        }
    }
}

/// A set of fields, a bit each.
pub(super) type FieldSet = u64;

macro_rules! fields {
    ($($length:literal => $($variant:ident = $key:literal),+;)*) => {
        /// A field of an event that some kind of event is read for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Field { $($($variant),+),* }

        impl Field {
            pub(super) const fn key(self) -> &'static str {
                match self { $($(Self::$variant => $key),+),* }
            }

            #[inline]
            fn from_body(key: &str) -> Option<Self> {
                match key.len() {
                    $($length => match key { $($key => Some(Self::$variant),)+ _ => None },)*
                    _ => None,
                }
            }

            pub(super) const COUNT: usize = Self::ALL.len();

            const ALL: &[Self] = &[$($(Self::$variant),+),*];
        }
    };
}

// By the length of the key, so that a key is compared with a few others only.
fields! {
    3 => Own = "own";
    4 => Type = "type", Seq = "_seq", Kind = "kind", Name = "name", Meta = "meta";
    5 => Trace = "trace", Props = "props", Error = "error", Delta = "delta", Count = "count";
    6 => Memory = "memory", Result = "result", Output = "output", CallId = "callId", SpanId = "spanId";
    7 => TraceId = "traceId", AgentId = "agentId", Success = "success", Message = "message";
    8 => ToolName = "toolName", NewProps = "newProps";
    9 => Timestamp = "timestamp", Normalize = "normalize", InputHash = "inputHash", EndReason = "endReason", AdapterId = "adapterId", Tombstone = "tombstone";
    10 => PropsTypes = "propsTypes";
    11 => ResultTypes = "resultTypes", ContentHash = "contentHash", ToolResults = "toolResults",
        OutputTypes = "outputTypes", Restoration = "restoration", BudgetState = "budgetState";
    12 => ParentSpanId = "parentSpanId", GenerationId = "generationId";
    13 => NewPropsTypes = "newPropsTypes", JournalCallId = "journalCallId";
}

impl Field {
    /// The field with this key, if any event is read for it.
    #[inline]
    pub(super) fn from_key(key: RawStr<'_>) -> Option<Self> {
        let field = Self::from_body(key.body());
        if field.is_none() && key.has_escapes() {
            return Self::from_body(&key.normalized());
        }
        field
    }

    /// The fields that are not read where this one is there.
    pub(super) fn replaces(self) -> FieldSet {
        if self == Self::Delta {
            Self::Own.bit()
        } else {
            0
        }
    }

    pub(super) const fn bit(self) -> FieldSet {
        1 << self as u8
    }
}

/// Where a kept field stands in the text.
#[derive(Debug, Clone)]
pub(super) struct FieldSpan {
    pub field: Field,
    /// The value's text; empty where it is nested too deep to be kept.
    pub range: Range<usize>,
}

impl Event {
    pub(super) fn fields<'a, 't>(
        &self,
        source: Source<'t>,
        list: &'a [FieldSpan],
    ) -> Fields<'a, 't> {
        let first = self.fields.first as usize;
        let list = list
            .get(first..first + self.fields.count as usize)
            .unwrap_or(&[]);
        Fields { source, list }
    }
}

/// The text of a trace, shared by all that is cut from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t>(pub &'t Arc<String>);

impl<'t> Source<'t> {
    pub(super) fn text(self) -> &'t str {
        self.0
    }

    pub(super) fn slice(self, range: &Range<usize>) -> &'t str {
        &self.0[range.clone()]
    }

    pub(super) fn json(self, range: &Range<usize>) -> JsonText {
        JsonText::from_span(self.0, range.clone())
    }

    /// The body of a string literal in the form that `JSON.stringify` writes; `None` if the value
    /// is something else.
    pub(super) fn string(self, range: &Range<usize>) -> Option<Cow<'t, str>> {
        let text = self.slice(range);
        let body = text.strip_prefix('"')?.strip_suffix('"')?;
        if body.contains('\\') {
            return Some(Scanner::new(text).string().ok()?.normalized());
        }
        Some(Cow::Borrowed(body))
    }
}

/// The kept fields of one event, or of one row in an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a, 't> {
    pub source: Source<'t>,
    pub list: &'a [FieldSpan],
}

impl<'t> Fields<'_, 't> {
    /// Where the value stands; `null` counts as a value here. Of a doubled key the last one counts.
    pub(super) fn range(&self, field: Field) -> Option<&Range<usize>> {
        self.list
            .iter()
            .rev()
            .find(|kept| kept.field == field)
            .map(|kept| &kept.range)
    }

    /// Whether the field is there but nested too deep to be kept.
    pub(super) fn is_too_deep(&self, field: Field) -> bool {
        self.range(field).is_some_and(Range::is_empty)
    }

    /// The value, whatever it is.
    pub(super) fn json(&self, field: Field) -> Option<JsonText> {
        let range = self.range(field).filter(|range| !range.is_empty())?;
        Some(self.source.json(range))
    }

    /// The value, unless it is `null`.
    pub(super) fn present(&self, field: Field) -> Option<JsonText> {
        self.json(field).filter(|value| value.as_str() != "null")
    }

    /// The value's text, unless it is `null`.
    pub(super) fn text(&self, field: Field) -> Option<&'t str> {
        let text = self.source.slice(self.range(field)?);
        (!text.is_empty() && text != "null").then_some(text)
    }

    pub(super) fn string(&self, field: Field) -> Option<Cow<'t, str>> {
        self.source.string(self.range(field)?)
    }

    pub(super) fn json_str(&self, field: Field) -> Option<JsonStr> {
        self.string(field)
            .map(|body| JsonStr::from_normalized_body(&body))
    }

    pub(super) fn flag(&self, field: Field) -> Option<bool> {
        match self.source.slice(self.range(field)?) {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(super) fn count(&self, field: Field) -> Option<u64> {
        self.source.slice(self.range(field)?).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_key() {
        for field in Field::ALL {
            assert_eq!(
                Field::from_body(field.key()),
                Some(*field),
                "{}",
                field.key()
            );
        }
        for key in [
            "",
            "messages",
            "rawText",
            "__proto__",
            "a key that is longer than any other",
        ] {
            assert_eq!(Field::from_body(key), None, "{key}");
        }
    }

    #[test]
    fn types_have_a_family_and_a_phase() {
        for (name, family, phase) in [
            ("agent:start", Family::Agent, Phase::Start),
            ("agent:reborn", Family::Reborn, Phase::Single),
            ("tool:call:end", Family::Tool, Phase::End),
            ("budget:update", Family::Budget, Phase::Single),
            ("my:own:start", Family::Other, Phase::Start),
            ("sys:log", Family::Other, Phase::Single),
        ] {
            assert_eq!(
                EventKind::from_type(name),
                EventKind { family, phase },
                "{name}"
            );
        }
    }
}
