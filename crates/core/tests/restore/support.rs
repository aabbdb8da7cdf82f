//! Builds traces and reads values from snapshots.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agent_rewind_core::json::{Scanner, canonicalize};
use agent_rewind_core::model::{Call, Frame, Kind, Outcome, State};
use agent_rewind_core::restore::{Origin, RestoreError, RestoreErrorKind, RestoreOptions, restore};
use agent_rewind_core::snapshot::{Anchor, Snapshot};

pub fn options() -> RestoreOptions {
    RestoreOptions {
        span_id: None,
        anchor: Anchor::After,
        trace_id: None,
        metadata: None,
        now_ms: 1_700_000_000_000.0,
    }
}

pub fn at(span_id: &str, anchor: Anchor) -> RestoreOptions {
    RestoreOptions {
        span_id: Some(span_id.to_owned()),
        anchor,
        ..options()
    }
}

pub fn try_lines(text: &str, options: &RestoreOptions) -> Result<Snapshot, RestoreErrorKind> {
    let kind = |error: RestoreError| error.kind;
    restore(Arc::new(text.to_owned()), Origin::Lines, options).map_err(kind)
}

pub fn lines(text: &str) -> Snapshot {
    try_lines(text, &options()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub fn cut(text: &str, span_id: &str, anchor: Anchor) -> Snapshot {
    try_lines(text, &at(span_id, anchor)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub fn codes(snapshot: &Snapshot) -> Vec<&'static str> {
    snapshot
        .warnings
        .iter()
        .map(|warning| warning.code)
        .collect()
}

pub fn scenarios() -> Vec<(String, PathBuf)> {
    let traces = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/traces");
    let mut found: Vec<_> = fs::read_dir(traces)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .collect();
    found.sort();
    assert!(found.len() >= 8, "the fixtures are missing");
    found
}

pub fn trace_of(scenario: &str) -> String {
    let (_, path) = scenarios()
        .into_iter()
        .find(|(name, _)| name == scenario)
        .unwrap();
    fs::read_to_string(path.join("trace.jsonl")).unwrap()
}

/// A JSON value. Unlike `serde_json`, it supports lone surrogates, which stay escaped.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// The normalized body of a string.
    Text(String),
    /// The token of a number or a word.
    Token(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(text: &str) -> Self {
        let mut scanner = Scanner::new(text);
        let value = Self::read(&mut scanner);
        scanner.finish().unwrap();
        value
    }

    fn read(scanner: &mut Scanner<'_>) -> Self {
        let mut first = true;
        match scanner.peek() {
            Some(b'{') => {
                scanner.enter_object().unwrap();
                let mut members = Vec::new();
                while let Some(key) = scanner.next_member(&mut first).unwrap() {
                    members.push((key.normalized().into_owned(), Self::read(scanner)));
                }
                Self::Object(members)
            }
            Some(b'[') => {
                scanner.enter_array().unwrap();
                let mut elements = Vec::new();
                while scanner.next_element(&mut first).unwrap() {
                    elements.push(Self::read(scanner));
                }
                Self::List(elements)
            }
            Some(b'"') => Self::Text(scanner.string().unwrap().normalized().into_owned()),
            _ => {
                let range = scanner.skip_value().unwrap();
                Self::Token(scanner.slice(range).to_owned())
            }
        }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Token(text) => text,
            other => panic!("not a text: {other:?}"),
        }
    }

    pub fn field(&self, key: &str) -> &str {
        self.get(key)
            .unwrap_or_else(|| panic!("no {key} in {self:?}"))
            .text()
    }

    pub fn list(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Self::List(elements)) => elements,
            other => panic!("{key} is no list: {other:?}"),
        }
    }

    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            other => panic!("not an object: {other:?}"),
        }
    }

    pub fn texts(&self, key: &str) -> Vec<String> {
        self.list(key)
            .iter()
            .map(|element| element.text().to_owned())
            .collect()
    }

    /// The canonical form, to compare values that are written differently.
    pub fn canonical(&self) -> String {
        canonicalize(&self.written()).unwrap()
    }

    pub fn written(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Text(body) => write!(out, "\"{body}\"").unwrap(),
            Self::Token(token) => out.push_str(token),
            Self::List(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    element.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    write!(out, "{}\"{key}\":", if index > 0 { "," } else { "" }).unwrap();
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// All frames, parents before children, each with the index of its parent.
pub fn frames(snapshot: &Snapshot) -> Vec<(Arc<Frame>, Option<usize>)> {
    let mut list = vec![(Arc::clone(&snapshot.root), None)];
    let mut next = 0;
    while next < list.len() {
        let frame = Arc::clone(&list[next].0);
        let generations = frame
            .earlier
            .iter()
            .map(|generation| &**generation)
            .chain([&frame.generation]);
        for generation in generations {
            list.extend(
                generation
                    .children
                    .iter()
                    .map(|child| (Arc::clone(child), Some(next))),
            );
        }
        next += 1;
    }
    list
}

pub fn frame(snapshot: &Snapshot, call_id: &str) -> Arc<Frame> {
    let found = frames(snapshot)
        .into_iter()
        .find(|(frame, _)| frame.call_id.body() == call_id);
    match found {
        Some((frame, _)) => frame,
        None => panic!("no frame {call_id} in {:?}", call_ids(snapshot)),
    }
}

pub fn call_ids(snapshot: &Snapshot) -> Vec<String> {
    frames(snapshot)
        .iter()
        .map(|(frame, _)| frame.call_id.body().to_owned())
        .collect()
}

pub fn calls(frame: &Frame) -> Vec<Arc<Call>> {
    frame.generation.calls.iter().cloned().collect()
}

/// The calls of all generations.
pub fn all_calls(frame: &Frame) -> Vec<Arc<Call>> {
    let earlier = frame
        .earlier
        .iter()
        .flat_map(|generation| generation.calls.iter());
    earlier
        .chain(frame.generation.calls.iter())
        .cloned()
        .collect()
}

/// The hashes of the calls with an output, in order of start.
pub fn outputs(frame: &Frame, kind: &Kind) -> Vec<String> {
    let gave = |call: &&Arc<Call>| call.kind == *kind && matches!(call.outcome, Outcome::Output(_));
    all_calls(frame)
        .iter()
        .filter(gave)
        .map(|call| call.hash.to_string())
        .collect()
}

pub fn status(frame: &Frame) -> &'static str {
    match frame.state {
        State::Running => "running",
        State::Completed(_) => "completed",
        State::Failed(_) => "failed",
    }
}

pub fn memory(frame: &Frame) -> String {
    memory_text(&frame.memory)
}

pub fn memory_text(memory: &agent_rewind_core::model::Memory) -> String {
    let members: Vec<String> = memory
        .iter()
        .map(|(key, value)| format!("\"{}\":{}", key.body(), value.as_str()))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A short text that describes the tree, to compare trees.
pub fn shape(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for (frame, _) in frames(snapshot) {
        write!(
            out,
            "{} {} {:?} {}",
            frame.call_id,
            status(&frame),
            frame.input_hash,
            memory(&frame)
        )
        .unwrap();
        for call in all_calls(&frame) {
            write!(
                out,
                " [{} {} {} {:?}]",
                call.kind.name(),
                call.hash,
                call.call_id,
                call.outcome
            )
            .unwrap();
        }
        out.push('\n');
    }
    out
}

/// Writes a trace. The time of an event is its position. With `_seq`, it is a trace of this recorder.
#[derive(Debug, Clone, Default)]
pub struct Log {
    pub lines: Vec<String>,
    pub numbered: bool,
}

impl Log {
    /// A trace in the form of other recorders.
    pub fn old() -> Self {
        Self::default()
    }

    pub fn own() -> Self {
        Self {
            numbered: true,
            ..Self::default()
        }
    }

    /// `fields` are members, without the braces.
    pub fn event(&mut self, kind: &str, span: &str, parent: &str, fields: &str) -> &mut Self {
        let place = self.lines.len();
        let seq = if self.numbered {
            format!(r#","_seq":{place}"#)
        } else {
            String::new()
        };
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!(",{fields}")
        };
        self.lines.push(format!(
            r#"{{"type":"{kind}","schemaVersion":1,"timestamp":{}{seq},"trace":{{"traceId":"t1","spanId":"{span}","parentSpanId":"{parent}"}}{fields}}}"#,
            1_000 + place,
        ));
        self
    }

    pub fn run(&mut self) -> &mut Self {
        self.event("runWith:start", "run", "", "")
    }

    pub fn run_end(&mut self, fields: &str) -> &mut Self {
        self.event("runWith:end", "run", "", fields)
    }

    /// Starts an agent and its first generation; the spans are `<span>` and `<span>.g0`.
    pub fn agent(&mut self, span: &str, parent: &str, id: &str, props: &str) -> &mut Self {
        self.event(
            "agent:start",
            span,
            parent,
            &format!(r#""agentId":"{id}","props":{props}"#),
        );
        self.generation(span, 0, props, "{}")
    }

    pub fn generation(&mut self, agent: &str, id: u64, props: &str, memory: &str) -> &mut Self {
        let memory = if self.numbered {
            format!(r#","memory":{memory}"#)
        } else {
            String::new()
        };
        let fields = format!(r#""generationId":{id},"props":{props}{memory}"#);
        self.event(
            "generation:start",
            &format!("{agent}.g{id}"),
            agent,
            &fields,
        )
    }

    pub fn generation_end(
        &mut self,
        agent: &str,
        id: u64,
        reason: &str,
        memory: &str,
    ) -> &mut Self {
        let fields = format!(
            r#""generationId":{id},"endReason":"{reason}","success":{},"memory":{memory}"#,
            reason != "error"
        );
        self.event("generation:end", &format!("{agent}.g{id}"), agent, &fields)
    }

    /// Ends generation 0 and the agent with a result.
    pub fn agent_end(&mut self, span: &str, parent: &str, result: &str) -> &mut Self {
        self.generation_end(span, 0, "return", "{}");
        self.event(
            "agent:end",
            span,
            parent,
            &format!(r#""success":true,"result":{result}"#),
        )
    }

    pub fn agent_fails(&mut self, span: &str, parent: &str, error: &str) -> &mut Self {
        self.generation_end(span, 0, "error", "{}");
        self.event(
            "agent:end",
            span,
            parent,
            &format!(r#""success":false,"error":{error}"#),
        )
    }

    /// A turn with start and end.
    pub fn turn(&mut self, span: &str, parent: &str, hash: &str, answer: &str) -> &mut Self {
        self.turn_start(span, parent, hash)
            .turn_end(span, parent, hash, answer)
    }

    pub fn turn_start(&mut self, span: &str, parent: &str, hash: &str) -> &mut Self {
        let own = if self.numbered {
            format!(r#""contentHash":"{hash}","#)
        } else {
            String::new()
        };
        self.event(
            "turn:start",
            span,
            parent,
            &format!(r#"{own}"messages":[{{"role":"user"}}],"step":0"#),
        )
    }

    pub fn turn_end(&mut self, span: &str, parent: &str, hash: &str, answer: &str) -> &mut Self {
        let message = format!(r#"{{"role":"assistant","content":"{answer}"}}"#);
        let fields = format!(
            r#""messages":[{{"role":"user"}}],"message":{message},"success":true,"contentHash":"{hash}","cache":false"#
        );
        self.event("turn:end", span, parent, &fields)
    }

    pub fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    pub fn restore(&self) -> Snapshot {
        lines(&self.text())
    }
}

/// Random numbers that are the same in every test run.
#[derive(Debug)]
pub struct Scramble(u64);

impl Scramble {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
