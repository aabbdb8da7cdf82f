//! Applies the kept events to drafts of frames, generations and calls.

use std::collections::HashMap;
use std::fmt::Write;

use super::draft::{CallDraft, FrameDraft, GenerationDraft, GenerationEnd, Index, NONE, RUN_FRAME};
use super::outcome::{state, value};
use crate::json::{JsonStr, JsonText};
use crate::model::{Memory, Recorder};
use crate::restore::error::RestoreErrorKind;
use crate::restore::order::topology::Topology;
use crate::restore::read::event::{Event, EventKind, Family, NO_SPAN, Phase, SpanIndex};
use crate::restore::read::fields::{Field, Fields};
use crate::restore::read::payload::{Payload, input_of};
use crate::restore::read::spans::NO_EVENT;
use crate::restore::read::trace::Trace;
use crate::restore::read::warnings::{Warnings, code};
use crate::util::limits::MAX_FRAME_DEPTH;
use crate::util::{Faults, IdHashing};

pub(crate) struct Builder<'a, 't> {
    pub trace: &'a Trace<'t>,
    topology: &'a Topology,
    pub warnings: &'a mut Warnings,
    /// True for a trace of this recorder. Other recorders number children and keep one journal over all generations
    /// of a frame.
    pub is_own: bool,
    /// True if the run continued from a snapshot, so that its memory did not start empty.
    pub is_continued: bool,
    /// The normalization and redaction rules of the run.
    pub normalize: Option<JsonText>,
    pub redact: Option<JsonText>,
    pub recorder: Option<Recorder>,
    pub first_run: Option<String>,
    /// True if the run started something after the failure of an agent.
    pub went_on: bool,
    payloads: Vec<Option<Payload>>,
    /// Parents come before their children.
    pub frames: Vec<FrameDraft>,
    pub generations: Vec<GenerationDraft>,
    pub calls: Vec<CallDraft<'t>>,
    frame_of: Vec<Index>,
    generation_of: Vec<Index>,
    pub call_of: Vec<Index>,
    /// The number of agents by id and by generation, or by frame in traces of other recorders.
    agent_counts: HashMap<(Index, JsonStr), u32, IdHashing>,
}

impl<'a, 't> Builder<'a, 't> {
    pub(crate) fn new(
        trace: &'a Trace<'t>,
        topology: &'a Topology,
        payloads: Vec<Option<Payload>>,
        warnings: &'a mut Warnings,
    ) -> Self {
        let spans = trace.spans.len();
        let [call_id, agent_id] = ["root", ""].map(JsonStr::from_normalized_body);
        let mut run = FrameDraft::new(NO_SPAN, NONE, call_id, agent_id);
        run.generations.push(0);
        let count = |family| {
            let phase = Phase::Start;
            let kinds = trace.events.iter().map(|event| event.kind);
            kinds
                .filter(|kind| *kind == EventKind { family, phase })
                .count()
        };
        let agents = count(Family::Agent) + 1;
        let mut frames = Vec::with_capacity(agents);
        frames.push(run);
        let mut generations = Vec::with_capacity(agents);
        generations.push(GenerationDraft::default());
        Self {
            trace,
            topology,
            warnings,
            is_own: trace.events.iter().any(|event| !event.seq.is_nan()),
            is_continued: false,
            normalize: None,
            redact: None,
            recorder: None,
            first_run: None,
            went_on: false,
            payloads,
            frames,
            generations,
            calls: Vec::with_capacity(count(Family::Turn) + count(Family::Tool)),
            frame_of: vec![NONE; spans],
            generation_of: vec![NONE; spans],
            call_of: vec![NONE; spans],
            agent_counts: HashMap::with_hasher(IdHashing::new()),
        }
    }

    pub(crate) fn apply(&mut self, events: &[Event]) -> Result<(), RestoreErrorKind> {
        for (order, event) in (0_u64..).zip(events) {
            let frame = self.frame(self.topology.agent(event.span))?;
            let fields = event.fields(self.trace.source, &self.trace.fields);
            match (event.kind.family, event.kind.phase) {
                (Family::Run, Phase::Start) => self.run_start(order, event, &fields)?,
                (Family::Run, _) => self.run_end(order, event, &fields),
                (Family::Agent, Phase::Start) => {
                    let FrameDraft {
                        start,
                        in_generation,
                        ..
                    } = &mut self.frames[frame as usize];
                    *start = Some(order);
                    let generation = *in_generation;
                    self.mark_handled_in(generation, &fields);
                    self.budget_state(frame, event, &fields);
                    self.read_recorder(event, &fields)?;
                }
                (Family::Agent, _) => {
                    let frame = &mut self.frames[frame as usize];
                    frame.end = Some(order);
                    frame.state = state(&fields);
                    frame.handled |= fields.flag(Field::Handled) == Some(true);
                    frame.failed_by = fields.json_strs(Field::FailedBy);
                }
                (Family::Generation, Phase::Start) => {
                    self.generation(event.span, frame);
                }
                (Family::Generation, _) => self.generation_end(frame, event, &fields),
                (Family::Reborn, _) => {
                    let generation = self.generation_at(event.span, frame);
                    let new_props = value(&fields, Field::NewProps, Field::NewPropsTypes);
                    self.generations[generation as usize].new_props = new_props;
                }
                (Family::Turn | Family::Tool | Family::Call, Phase::Start) => {
                    let generation = self.generation_at(event.span, frame);
                    self.mark_handled_in(generation, &fields);
                    self.call_start(order, frame, event, &fields);
                    self.read_recorder(event, &fields)?;
                }
                (Family::Call, Phase::Single) => {
                    self.call_answer(order, frame, event, &fields);
                }
                (Family::Turn | Family::Tool | Family::Call, _) => {
                    self.call_end(order, frame, event, &fields);
                }
                (Family::Model, _) => self.model_call(event, &fields),
                (Family::Batch, Phase::Start) => {
                    let generation = self.generation_at(event.span, frame);
                    self.generations[generation as usize].last_batch = Some(order);
                    self.mark_handled_in(generation, &fields);
                }
                (Family::Batch, Phase::End) => self.batch_end(order, frame, event),
                (Family::Budget, _) => self.usage(order, frame, event, &fields),
                (Family::Memory, _) => self.initial_value(frame, event, &fields),
                _ => {}
            }
        }
        Ok(())
    }

    pub fn warn_field(&mut self, event: &Event, field: Field, expected: &str) {
        let message = format!(
            "{}.{}: expected {expected}; the field was left out",
            event.kind.name(),
            field.key()
        );
        let spans = &self.trace.spans;
        self.warnings
            .add_at(code::INVALID_FIELD, event, spans, message);
    }

    /// Reads who recorded the run, and the id of the first run. The run's start contains it, or the start of an agent that
    /// was called without a run. A call with secrets repeats the recorder, with the key of their digests.
    fn read_recorder(
        &mut self,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) -> Result<(), RestoreErrorKind> {
        if let Some(id) = fields.json_str(Field::FirstRun) {
            self.first_run = Some(id.to_display().into_owned());
        }
        let Some(text) = fields.text(Field::Recorder) else {
            return Ok(());
        };
        let path = format!("{}.recorder", event.kind.name());
        let recorder = Recorder::read(text, &path);
        self.recorder =
            Some(recorder.map_err(|faults| RestoreErrorKind::Recorder(Faults(faults)))?);
        Ok(())
    }

    fn run_start(
        &mut self,
        order: u64,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) -> Result<(), RestoreErrorKind> {
        self.read_recorder(event, fields)?;
        let props = value(fields, Field::Props, Field::PropsTypes);
        let run = &mut self.frames[RUN_FRAME as usize];
        run.start = Some(order);
        run.input_hash = input_of(fields);
        run.props = props;
        self.budget_state(RUN_FRAME, event, fields);
        self.normalize = fields
            .present(Field::Normalize)
            .filter(|rules| rules.as_str().starts_with('['));
        self.redact = fields
            .present(Field::Redact)
            .filter(|rules| rules.as_str().starts_with('{'));
        self.generations[0].memory = self.take_memory(event);
        self.is_continued = fields.text(Field::Restoration).is_some_and(|restoration| {
            let text: String = restoration.split_ascii_whitespace().collect();
            text.contains(r#""isRestored":true"#)
        });
        Ok(())
    }

    fn run_end(&mut self, order: u64, event: &Event, fields: &Fields<'_, 't>) {
        let frame = &mut self.frames[RUN_FRAME as usize];
        frame.end = Some(order);
        frame.state = state(fields);
        frame.failed_by = fields.json_strs(Field::FailedBy);
        let memory = self.take_memory(event);
        let state = self.frames[RUN_FRAME as usize].state.clone();
        self.generations[0].end = Some(GenerationEnd {
            reborn: false,
            memory,
            state,
        });
    }

    fn initial_value(&mut self, frame: Index, event: &Event, fields: &Fields<'_, 't>) {
        let (Some(key), Some(value)) = (fields.json_str(Field::Key), fields.json(Field::Value))
        else {
            return self.warn_field(event, Field::Value, "a key and a value");
        };
        let generation = self.generation_at(event.span, frame);
        self.generations[generation as usize]
            .initial
            .push((key, value));
    }

    /// Takes the values that were parsed from the event. They can be taken once.
    pub fn take_payload(&mut self, event: &Event) -> Option<Payload> {
        self.payloads.get_mut(event.payload as usize)?.take()
    }

    fn take_memory(&mut self, event: &Event) -> Option<Memory> {
        let Some(Payload::Memory(memory)) = self.take_payload(event) else {
            return None;
        };
        if memory.is_none() {
            self.warn_field(event, Field::Memory, "an object");
        }
        memory
    }

    fn generation_end(&mut self, frame: Index, event: &Event, fields: &Fields<'_, 't>) {
        let generation = self.generation(event.span, frame);
        let end = GenerationEnd {
            reborn: fields
                .string(Field::EndReason)
                .is_some_and(|reason| reason == "reborn"),
            memory: self.take_memory(event),
            state: state(fields),
        };
        self.generations[generation as usize].end = Some(end);
    }

    /// The frame of an agent's span. Created at the first event under it, which is the start of the agent unless
    /// that is missing.
    fn frame(&mut self, agent: SpanIndex) -> Result<Index, RestoreErrorKind> {
        let mut missing = Vec::new();
        let mut current = agent;
        let mut parent = loop {
            match self.frame_of.get(current as usize) {
                None => break RUN_FRAME,
                Some(&known) if known != NONE => break known,
                Some(_) => {
                    missing.push(current);
                    current = self.topology.agent(self.trace.spans.get(current).parent);
                }
            }
        };
        while let Some(agent) = missing.pop() {
            parent = self.new_frame(agent, parent)?;
        }
        Ok(parent)
    }

    fn new_frame(&mut self, agent: SpanIndex, parent: Index) -> Result<Index, RestoreErrorKind> {
        let span = self.trace.spans.get(agent);
        let in_generation = self.generation_at(span.parent, parent);
        // The end of an agent, or one of its generations, replaces a missing start.
        let source = [span.start, span.end, self.topology.implied_by(agent)]
            .into_iter()
            .find(|at| *at != NO_EVENT);
        let event = source.and_then(|at| self.trace.events.get(at as usize));
        let fields = event.map_or(
            Fields {
                source: self.trace.source,
                list: &[],
            },
            |event| event.fields(self.trace.source, &self.trace.fields),
        );
        let agent_id = fields
            .json_str(Field::AgentId)
            .unwrap_or_else(|| JsonStr::from_normalized_body(""));
        let props = value(&fields, Field::Props, Field::PropsTypes);
        let payload = event.and_then(|event| self.take_payload(event));
        let input_hash = match payload {
            Some(Payload::Input(hash)) => Some(hash),
            _ => input_of(&fields),
        };
        let depth = self.frames[parent as usize].depth + 1;
        if depth > MAX_FRAME_DEPTH {
            let path = format!(
                "agent \"{agent_id}\" (span {})",
                self.trace.spans.display(agent)
            );
            return Err(RestoreErrorKind::FramesTooDeep {
                path,
                limit: MAX_FRAME_DEPTH,
            });
        }
        let counted_in = if self.is_own { in_generation } else { parent };
        let call_id = self.agent_call_id(counted_in, parent, &agent_id, &fields);
        let index = index_of(self.frames.len());
        self.frames.push(FrameDraft {
            in_generation,
            depth,
            within: fields.json_str(Field::Within),
            input_hash,
            props,
            ..FrameDraft::new(agent, parent, call_id, agent_id)
        });
        self.generations[in_generation as usize]
            .children
            .push(index);
        self.frame_of[agent as usize] = index;
        Ok(index)
    }

    /// The path of an agent's frame: the callId of its event if that is below the parent's, else a path with the
    /// number of earlier agents with the same id.
    fn agent_call_id(
        &mut self,
        counted_in: Index,
        parent: Index,
        agent_id: &JsonStr,
        fields: &Fields<'_, 't>,
    ) -> JsonStr {
        let count = self
            .agent_counts
            .entry((counted_in, agent_id.clone()))
            .or_insert(0);
        let number = *count;
        *count += 1;
        let parent_id = self.frames[parent as usize].call_id.body();
        let is_below = |id: &JsonStr| {
            id.body()
                .strip_prefix(parent_id)
                .is_some_and(|rest| rest.starts_with("/agent:"))
        };
        if let Some(call_id) = fields.json_str(Field::CallId).filter(is_below) {
            return call_id;
        }
        let mut call_id = String::with_capacity(parent_id.len() + agent_id.body().len() + 32);
        call_id.push_str(parent_id);
        call_id.push_str("/agent:");
        call_id.push_str(agent_id.body());
        // Writing to a String cannot fail.
        let _ = write!(call_id, ":{number}");
        JsonStr::from_normalized_body(&call_id)
    }

    /// The generation of a span: the one above it, else the last one of the frame.
    pub fn generation_at(&mut self, span: SpanIndex, frame: Index) -> Index {
        match self.topology.generation(span) {
            NO_SPAN => match self.frames[frame as usize].generations.last() {
                Some(last) => *last,
                None => self.new_generation(frame, GenerationDraft::default()),
            },
            generation => self.generation(generation, frame),
        }
    }

    fn new_generation(&mut self, frame: Index, draft: GenerationDraft) -> Index {
        let index = index_of(self.generations.len());
        self.generations.push(draft);
        self.frames[frame as usize].generations.push(index);
        index
    }

    /// The generation of a generation's span. Created at the first event under it.
    fn generation(&mut self, span: SpanIndex, frame: Index) -> Index {
        let known = self.generation_of[span as usize];
        if known != NONE {
            return known;
        }
        let at = self.trace.spans.get(span);
        let source = [at.start, at.end].into_iter().find(|at| *at != NO_EVENT);
        let event = source.and_then(|at| self.trace.events.get(at as usize).copied());
        let mut draft = GenerationDraft {
            has_span: true,
            ..GenerationDraft::default()
        };
        let number = self.frames[frame as usize].generations.len() as u64;
        draft.id = number;
        if let Some(event) = event {
            let fields = event.fields(self.trace.source, &self.trace.fields);
            draft.id = fields.count(Field::GenerationId).unwrap_or(number);
            draft.props = value(&fields, Field::Props, Field::PropsTypes);
            // The end event of a generation contains the memory at the end.
            if event.kind.phase == Phase::Start {
                draft.memory = self.take_memory(&event);
            }
        }
        let last = self.frames[frame as usize].generations.last().copied();
        let index = match last {
            // Calls and children that were recorded before the first generation belong to it.
            Some(last) if frame != RUN_FRAME && !self.generations[last as usize].has_span => {
                let open = &mut self.generations[last as usize];
                (draft.calls, draft.children) = (
                    std::mem::take(&mut open.calls),
                    std::mem::take(&mut open.children),
                );
                *open = draft;
                last
            }
            _ => self.new_generation(frame, draft),
        };
        self.generation_of[span as usize] = index;
        index
    }
}

pub(crate) fn index_of(length: usize) -> Index {
    Index::try_from(length).unwrap_or(NONE)
}
