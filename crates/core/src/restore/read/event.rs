//! Events as they are kept: type, span, order, and ranges of their fields.

use super::fields::{Field, FieldList, FieldSet, FieldSpan, Fields, TraceText};

/// Index into [`Spans`](super::spans::Spans).
pub(crate) type SpanIndex = u32;
pub(crate) const NO_SPAN: SpanIndex = SpanIndex::MAX;

pub(crate) const NO_TRACE: u32 = u32::MAX;

/// Index into the list of payloads; [`NO_PAYLOAD`] for none.
pub(crate) type PayloadIndex = u32;
pub(crate) const NO_PAYLOAD: PayloadIndex = PayloadIndex::MAX;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub kind: EventKind,
    pub span: SpanIndex,
    /// [`NO_SPAN`] for none.
    pub parent: SpanIndex,
    /// Index of the traceId; [`NO_TRACE`] for none.
    pub trace: u32,
    /// Line of the file or position in the list, counted from 1.
    pub line: u32,
    /// Milliseconds since 1970; NaN for none.
    pub time: f64,
    /// `_seq`; NaN for none.
    pub seq: f64,
    /// The event's part of the list of kept fields.
    pub fields: FieldList,
    pub payload: PayloadIndex,
}

/// The type of span that an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
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
    /// A call of any other kind, recorded by `journalCall`.
    Call,
    Custom,
    Reborn,
    Budget,
    /// The first value of a key of an agent's memory.
    Memory,
    /// Snapshots do not depend on such events.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    End,
    /// The event is the only one of its span.
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventKind {
    pub family: Family,
    pub phase: Phase,
}

impl EventKind {
    pub(crate) fn from_type(name: &str) -> Self {
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
            ("memory:init", Phase::Single) => Family::Memory,
            ("call:answer", Phase::Single) => Family::Call,
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

    /// The `type` of the event.
    pub(crate) fn name(self) -> &'static str {
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
            Family::Memory => ("memory:init", "memory:init"),
            Family::Other => ("other", "other"),
        };
        match self.phase {
            Phase::Single if self.family == Family::Call => "call:answer",
            Phase::End => end,
            _ => start,
        }
    }

    /// The fields that a restore reads of such an event.
    pub(crate) fn fields(self) -> FieldSet {
        use Field as F;
        const CALL: FieldSet =
            F::CallId.bit() | F::ContentHash.bit() | F::Within.bit() | F::Lanes.bit();
        const CALL_START: FieldSet = CALL | F::HandledFailures.bit();
        const OUTCOME: FieldSet = F::Success.bit()
            | F::Error.bit()
            | F::Handled.bit()
            | F::FailedBy.bit()
            | F::Tombstone.bit()
            | F::set(F::CALL_DATA);
        const OUTPUT: FieldSet = OUTCOME | F::Output.bit() | F::OutputTypes.bit();
        const TOOL: FieldSet = F::ToolName.bit()
            | F::JournalCallId.bit()
            | F::ContentHash.bit()
            | F::Within.bit()
            | F::Lanes.bit();
        const ENDED: FieldSet = F::Success.bit()
            | F::Error.bit()
            | F::Result.bit()
            | F::ResultTypes.bit()
            | F::Tombstone.bit();
        const AGENT: FieldSet = PROPS | F::InputHash.bit() | F::CallId.bit() | F::Within.bit();
        const PROPS: FieldSet = F::AgentId.bit() | F::Props.bit() | F::PropsTypes.bit();
        match (self.family, self.phase) {
            (Family::Run, Phase::Start) => {
                PROPS
                    | F::Normalize.bit()
                    | F::Redact.bit()
                    | F::Recorder.bit()
                    | F::FirstRun.bit()
                    | F::Restoration.bit()
                    | F::Memory.bit()
                    | F::BudgetState.bit()
            }
            (Family::Run, _) => ENDED | F::FailedBy.bit() | F::Memory.bit(),
            (Family::Agent, Phase::Start) => {
                AGENT
                    | F::BudgetState.bit()
                    | F::Recorder.bit()
                    | F::FirstRun.bit()
                    | F::HandledFailures.bit()
            }
            (Family::Agent, _) => AGENT | ENDED | F::FailedBy.bit() | F::Handled.bit(),
            (Family::Generation, Phase::Start) => PROPS | F::GenerationId.bit() | F::Memory.bit(),
            (Family::Generation, _) => {
                PROPS | F::GenerationId.bit() | F::Memory.bit() | F::EndReason.bit() | ENDED
            }
            (Family::Turn, Phase::Start) => CALL_START,
            (Family::Turn, _) => CALL | OUTCOME | F::Message.bit(),
            (Family::Model, Phase::Start) => F::AdapterId.bit(),
            (Family::Model, _) => {
                F::AdapterId.bit() | F::Usage.bit() | F::FinishReason.bit() | F::Duration.bit()
            }
            (Family::Policy, Phase::End) => F::Success.bit(),
            (Family::Batch, Phase::Start) => F::HandledFailures.bit(),
            (Family::Batch, Phase::End) => F::Success.bit() | F::ToolResults.bit(),
            (Family::Tool, Phase::Start) => TOOL | F::HandledFailures.bit(),
            (Family::Tool, _) => TOOL | OUTPUT,
            (Family::Call, Phase::Start) => {
                CALL_START | F::Kind.bit() | F::Name.bit() | F::Attempt.bit() | F::Recorder.bit()
            }
            (Family::Call, _) => CALL | F::Kind.bit() | F::Name.bit() | OUTPUT,
            (Family::Reborn, _) => F::NewProps.bit() | F::NewPropsTypes.bit(),
            (Family::Budget, _) => F::Delta.bit() | F::Own.bit(),
            (Family::Memory, _) => F::Key.bit() | F::Value.bit(),
            _ => 0,
        }
    }

    /// The subset of [`Self::fields`] that repeats the start of the span. These are read only if that start is
    /// missing, or if events have no `_seq`.
    fn repeated_fields(self) -> FieldSet {
        use Field as F;
        let repeated = match (self.family, self.phase) {
            (Family::Model, Phase::End) => {
                F::Usage.bit() | F::FinishReason.bit() | F::Duration.bit()
            }
            (
                Family::Agent | Family::Generation | Family::Turn | Family::Tool | Family::Call,
                Phase::End,
            )
            | (Family::Call, Phase::Single) => {
                let phase = Phase::Start;
                let start = Self { phase, ..self };
                // The end may have other values of these than the start.
                start.fields() & !(F::Memory.bit() | F::ContentHash.bit())
            }
            _ => 0,
        };
        self.fields() & repeated
    }

    /// The fields in a list. Fields that are read of every such event come first.
    pub(crate) fn field_list(self) -> Vec<Field> {
        let fields_in = |set: FieldSet| {
            Field::ALL
                .iter()
                .filter(move |field| set & field.bit() != 0)
        };
        let repeated = self.repeated_fields();
        let always = fields_in(self.fields() & !repeated);
        always.chain(fields_in(repeated)).copied().collect()
    }
}

/// The fields that a restore reads of the events of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFields {
    /// Names of the fields, in addition to `type`, `agentId`, `timestamp`, `_seq` and `trace`. No other field
    /// affects the restored snapshot.
    pub names: Vec<&'static str>,
    /// The number of names, from the first one, that are read of every event. The others are read only of an
    /// event that has no `_seq` or does not follow the start of its span.
    pub always: usize,
}

/// The fields that a restore reads of events of this type.
pub fn restored_fields(event_type: &str) -> RestoredFields {
    let kind = EventKind::from_type(event_type);
    RestoredFields {
        names: kind.field_list().into_iter().map(Field::key).collect(),
        always: (kind.fields() & !kind.repeated_fields()).count_ones() as usize,
    }
}

impl Event {
    pub(crate) fn fields<'a, 't>(
        &self,
        source: TraceText<'t>,
        list: &'a [FieldSpan],
    ) -> Fields<'a, 't> {
        self.fields.with(source, list)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/event.rs"]
mod tests;
