//! Snapshots as JSON text, in the documented shape. Written without recursion.

use std::collections::{HashMap, HashSet};

use super::requests::{RequestTable, TABLE_FIELD};
use super::{Snapshot, VERSION, Warning};
use crate::frame::{Course, Frame, Generation, State};
use crate::hash::content_hash_any;
use crate::id_hash::IdHashing;
use crate::journal::{Call, Kind, Outcome, RequestHash, Value};
use crate::json::{JsonStr, JsonText, write_count};
use crate::memory::Memory;

/// Writes the whole snapshot.
#[must_use]
pub fn write_snapshot(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    out.push_str(r#"{"processId":"#);
    write_plain(&snapshot.process_id, &mut out);
    out.push_str(r#","timestamp":"#);
    crate::json::write_number(snapshot.timestamp, &mut out);
    out.push_str(r#","root":"#);
    write_frame(snapshot.tree(), &mut out);
    out.push_str(r#","provenance":"#);
    write_provenance(snapshot, &mut out);
    out.push_str(r#","version":"#);
    out.push_str(&VERSION.to_string());
    if let Some(metadata) = &snapshot.metadata {
        out.push_str(r#","metadata":"#);
        out.push_str(metadata.as_str());
    }
    if let Some(normalize) = &snapshot.normalize {
        out.push_str(r#","normalize":"#);
        out.push_str(normalize.as_str());
    }
    if let Some(redact) = &snapshot.redact {
        out.push_str(r#","redact":"#);
        out.push_str(redact.as_str());
    }
    if let Some(warnings) = warnings_text(snapshot) {
        out.push_str(r#","warnings":"#);
        out.push_str(&warnings);
    }
    out.push('}');
    out
}

fn write_provenance(snapshot: &Snapshot, out: &mut String) {
    let provenance = &snapshot.provenance;
    out.push_str(r#"{"traceId":"#);
    write_plain(&provenance.trace_id, out);
    if let Some(span_id) = &provenance.span_id {
        out.push_str(r#","spanId":"#);
        write_plain(span_id, out);
    }
    if let Some(anchor) = provenance.anchor {
        out.push_str(&format!(r#","anchor":"{}""#, anchor.name()));
    }
    if let Some(source) = &provenance.forked_from {
        out.push_str(r#","forkedFrom":"#);
        out.push_str(source.as_str());
    }
    if let Some(source) = provenance.source {
        out.push_str(&format!(r#","source":"{}""#, source.name()));
    }
    out.push('}');
}

/// JSON text of the warnings, where there are any.
#[must_use]
pub fn warnings_text(snapshot: &Snapshot) -> Option<String> {
    if let Some(text) = &snapshot.read_warnings {
        return Some(text.as_str().to_owned());
    }
    if snapshot.warnings.is_empty() {
        return None;
    }
    let mut out = String::new();
    write_warnings(&snapshot.warnings, &mut out);
    Some(out)
}

fn write_warnings(warnings: &[Warning], out: &mut String) {
    out.push('[');
    for (index, warning) in warnings.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(r#"{"code":"#);
        write_plain(warning.code, out);
        out.push_str(r#","message":"#);
        write_plain(&warning.message, out);
        if let Some(line) = warning.line {
            out.push_str(r#","line":"#);
            out.push_str(&line.to_string());
        }
        if let Some(span_id) = &warning.span_id {
            out.push_str(r#","spanId":"#);
            write_plain(span_id, out);
        }
        out.push('}');
    }
    out.push(']');
}

/// Text that is handed on as it grows, so that a long one never stands in memory as a whole.
struct Out<'s> {
    text: String,
    spill: &'s mut dyn FnMut(&mut String),
}

impl Out<'_> {
    /// Called before, not after, something is written: the end of the text stays at hand.
    fn spill_if_full(&mut self) {
        const FULL: usize = 1 << 18;
        if self.text.len() >= FULL {
            (self.spill)(&mut self.text);
        }
    }
}

/// What is still to be written, last first.
enum Task<'a> {
    Text(&'static str),
    Key(&'a JsonStr),
    Frame(&'a Frame),
    FrameTail(&'a Frame),
    Generation(&'a Generation),
}

/// Writes a root frame and all frames under it; the texts of their requests stand at its end.
pub fn write_frame(frame: &Frame, out: &mut String) {
    let text = std::mem::take(out);
    *out = stream_frame(frame, text, &mut |_| ());
}

/// Writes a root frame after `text`. What has been written is given to `spill` from time to time,
/// which takes out of it what it will; what is left at the end is the result.
pub fn stream_frame(frame: &Frame, text: String, spill: &mut dyn FnMut(&mut String)) -> String {
    let mut requests = RequestTable::default();
    let mut out = Out { text, spill };
    write_frames(frame, &mut requests, &mut out);
    if !requests.is_empty() {
        out.text.pop();
        for (index, text) in requests.texts().enumerate() {
            out.spill_if_full();
            if index == 0 {
                out.text.push_str(&format!(r#","{TABLE_FIELD}":["#));
            } else {
                out.text.push(',');
            }
            out.text.push_str(text);
        }
        out.text.push_str("]}");
    }
    out.text
}

fn write_frames<'a>(frame: &'a Frame, requests: &mut RequestTable<'a>, out: &mut Out<'_>) {
    let mut tasks = vec![Task::Frame(frame)];
    while let Some(task) = tasks.pop() {
        out.spill_if_full();
        match task {
            Task::Text(text) => out.text.push_str(text),
            Task::Key(key) => {
                key.write_quoted(&mut out.text);
                out.text.push(':');
            }
            Task::Frame(frame) => {
                write_head(frame, requests, out);
                tasks.push(Task::FrameTail(frame));
                push_children(&frame.generation, &mut tasks);
            }
            Task::FrameTail(frame) => {
                write_tail(frame, &mut out.text);
                if frame.earlier.is_empty() {
                    out.text.push('}');
                } else {
                    out.text.push_str(r#","generations":["#);
                    tasks.push(Task::Text("]}"));
                    let first = tasks.len();
                    for generation in &frame.earlier {
                        tasks.push(Task::Generation(generation));
                        tasks.push(Task::Text(","));
                    }
                    tasks.pop();
                    tasks[first..].reverse();
                }
            }
            Task::Generation(generation) => {
                out.text.push('{');
                write_generation_fields(generation, &mut out.text);
                out.text.push_str(r#","journal":"#);
                let in_row = write_journal(generation, out);
                out.text.push_str(r#","calls":"#);
                write_calls(generation, &in_row, requests, out);
                out.text.push_str(r#","children":{"#);
                tasks.push(Task::Text("}}"));
                push_children(generation, &mut tasks);
            }
        }
    }
}

fn push_children<'a>(generation: &'a Generation, tasks: &mut Vec<Task<'a>>) {
    let first = tasks.len();
    for child in &generation.children {
        if tasks.len() > first {
            tasks.push(Task::Text(","));
        }
        tasks.push(Task::Key(&child.call_id));
        tasks.push(Task::Frame(child));
    }
    tasks[first..].reverse();
}

fn write_head<'a>(frame: &'a Frame, requests: &mut RequestTable<'a>, out: &mut Out<'_>) {
    out.text.push_str(r#"{"callId":"#);
    frame.call_id.write_quoted(&mut out.text);
    out.text.push_str(r#","agentId":"#);
    frame.agent_id.write_quoted(&mut out.text);
    out.text.push_str(r#","memory":"#);
    write_memory(&frame.memory, &mut out.text);
    out.text.push_str(r#","journal":"#);
    let in_row = write_journal(&frame.generation, out);
    if !frame.generation.calls.is_empty() {
        out.text.push_str(r#","calls":"#);
        write_calls(&frame.generation, &in_row, requests, out);
    }
    out.text.push_str(r#","children":{"#);
}

fn write_tail(frame: &Frame, out: &mut String) {
    out.push_str(r#"},"state":"#);
    let mut output_types = None;
    match &frame.state {
        State::Running => out.push_str(r#"{"status":"running"}"#),
        State::Completed(value) => {
            out.push_str(r#"{"status":"completed","output":"#);
            out.push_str(value.text.as_str());
            out.push('}');
            output_types = value.types.as_ref();
        }
        State::Failed(None) => out.push_str(r#"{"status":"failed"}"#),
        State::Failed(Some(error)) => {
            out.push_str(r#"{"status":"failed","error":"#);
            out.push_str(error.as_str());
            out.push('}');
        }
    }
    out.push_str(r#","budgetState":"#);
    frame.budget.write_json(out);
    if let Some(types) = output_types {
        out.push_str(r#","outputTypes":"#);
        out.push_str(types.as_str());
    }
    if let Some(hash) = frame.input_hash {
        out.push_str(&format!(r#","inputHash":"{hash}""#));
    }
    for (name, place) in [("startOrder", frame.start), ("endOrder", frame.end)] {
        if let Some(place) = place {
            out.push_str(&format!(r#","{name}":{place}"#));
        }
    }
    for (name, holds) in [
        ("stopped", frame.stopped),
        ("handled", frame.handled),
        ("unreached", frame.course == Course::Unreached),
    ] {
        if holds {
            out.push_str(&format!(r#","{name}":true"#));
        }
    }
    if frame.generation.memory.is_some()
        || frame.generation.props.is_some()
        || frame.generation.id > 0
    {
        out.push_str(r#","generation":{"#);
        write_generation_fields(&frame.generation, out);
        out.push('}');
    }
    // Also for an empty memory: what is added to that by hand counts as edited.
    if !frame.memory.is_empty() || frame.generation.memory.is_some() {
        write_memory_hashes(frame, out);
    }
}

/// What was edited stays so: a hash that no value has.
fn write_memory_hashes(frame: &Frame, out: &mut String) {
    let edited: HashSet<&JsonStr> = frame.edited.iter().collect();
    let is_edited = |key: &JsonStr| edited.contains(key);
    let removed = frame.edited.iter();
    let removed = removed.filter(|key| frame.memory.get(key).is_none());
    let hash_of = |(key, value): (&JsonStr, &JsonText)| {
        // A value that cannot be hashed counts as edited, which is the safe side.
        let hash = content_hash_any(value.as_str()).ok();
        hash.filter(|_| !is_edited(key))
            .map_or_else(String::new, |hash| hash.to_string())
    };
    out.push_str(r#","memoryHashes":{"#);
    let hashes = frame.memory.iter().map(|entry| (entry.0, hash_of(entry)));
    let gone = removed.map(|key| (key, String::new()));
    for (index, (key, hash)) in hashes.chain(gone).enumerate() {
        if index > 0 {
            out.push(',');
        }
        key.write_quoted(out);
        out.push_str(&format!(r#":"{hash}""#));
    }
    out.push('}');
}

fn write_generation_fields(generation: &Generation, out: &mut String) {
    out.push_str(&format!(r#""id":{}"#, generation.id));
    if let Some(props) = &generation.props {
        out.push_str(r#","props":"#);
        out.push_str(props.text.as_str());
        if let Some(types) = &props.types {
            out.push_str(r#","propsTypes":"#);
            out.push_str(types.as_str());
        }
    }
    if let Some(memory) = &generation.memory {
        out.push_str(r#","memory":"#);
        write_memory(memory, out);
    }
}

fn write_memory(memory: &Memory, out: &mut String) {
    out.push('{');
    for (index, (key, value)) in memory.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        key.write_quoted(out);
        out.push(':');
        out.push_str(value.as_str());
    }
    out.push('}');
}

/// Writes the rows, one a hash, and tells of each call whether its outcome stands in a row.
fn write_journal(generation: &Generation, out: &mut Out<'_>) -> Vec<bool> {
    let mut journal = Journal::new(generation.calls.len());
    for row in &generation.rows {
        journal.put(&row.kind, &row.hash, None, &row.outcome);
    }
    for (position, call) in generation.calls.iter().enumerate() {
        journal.put(&call.kind, &call.hash, Some(position), &call.outcome);
    }
    journal.write(out);
    let mut in_row = vec![false; generation.calls.len()];
    for call in journal.calls_in_rows() {
        in_row[call] = true;
    }
    in_row
}

struct Journal<'a> {
    kinds: Vec<(&'a Kind, Vec<RowText<'a>>)>,
    positions: HashMap<(&'a Kind, &'a RequestHash), (usize, usize), IdHashing>,
}

struct RowText<'a> {
    hash: &'a RequestHash,
    outcome: &'a Outcome,
    call: Option<usize>,
}

impl<'a> Journal<'a> {
    fn new(calls: usize) -> Self {
        Self {
            kinds: Vec::new(),
            positions: HashMap::with_capacity_and_hasher(calls, IdHashing::new()),
        }
    }

    /// The last output stands in the row; a tombstone only where there is no output.
    fn put(
        &mut self,
        kind: &'a Kind,
        hash: &'a RequestHash,
        call: Option<usize>,
        outcome: &'a Outcome,
    ) {
        if matches!(outcome, Outcome::Pending | Outcome::Failure { .. }) {
            return;
        }
        if let Some((kind_at, row_at)) = self.positions.get(&(kind, hash)) {
            let row = &mut self.kinds[*kind_at].1[*row_at];
            // A row that no call names answers any number of times: it stays, and the calls stand beside it.
            if row.call.is_none() {
                return;
            }
            if matches!(outcome, Outcome::Output(_)) || !matches!(row.outcome, Outcome::Output(_)) {
                row.outcome = outcome;
                row.call = call;
            }
            return;
        }
        let kind_at = self
            .kinds
            .iter()
            .position(|(known, _)| *known == kind)
            .unwrap_or_else(|| {
                self.kinds.push((kind, Vec::new()));
                self.kinds.len() - 1
            });
        let rows = &mut self.kinds[kind_at].1;
        self.positions.insert((kind, hash), (kind_at, rows.len()));
        rows.push(RowText {
            hash,
            outcome,
            call,
        });
    }

    fn calls_in_rows(&self) -> impl Iterator<Item = usize> {
        self.kinds
            .iter()
            .flat_map(|(_, rows)| rows.iter().filter_map(|row| row.call))
    }

    fn write(&self, out: &mut Out<'_>) {
        out.text.push_str(r#"{"prompt":"#);
        self.write_kind(&Kind::Prompt, out);
        out.text.push_str(r#","tool":"#);
        self.write_kind(&Kind::Tool, out);
        let others = self
            .kinds
            .iter()
            .filter(|(kind, _)| matches!(kind, Kind::Other(_)));
        for (index, (kind, _)) in others.enumerate() {
            out.text.push_str(if index == 0 {
                r#","other":{""#
            } else {
                r#",""#
            });
            out.text.push_str(kind.name());
            out.text.push_str("\":");
            self.write_kind(kind, out);
        }
        out.text.push_str(
            if self
                .kinds
                .iter()
                .any(|(kind, _)| matches!(kind, Kind::Other(_)))
            {
                "}}"
            } else {
                "}"
            },
        );
    }

    fn write_kind(&self, wanted: &Kind, out: &mut Out<'_>) {
        out.text.push('{');
        let rows = self
            .kinds
            .iter()
            .find(|(kind, _)| *kind == wanted)
            .map_or(&[][..], |(_, rows)| rows);
        for (index, row) in rows.iter().enumerate() {
            out.spill_if_full();
            out.text.push_str(if index == 0 { "\"" } else { ",\"" });
            row.hash.push_to(&mut out.text);
            out.text.push_str(r#"":{"output":"#);
            match row.outcome {
                Outcome::Output(value) => out.text.push_str(value.text.as_str()),
                _ => out.text.push_str("null"),
            }
            out.text.push_str(r#","contentHash":""#);
            row.hash.push_to(&mut out.text);
            out.text.push('"');
            if let Outcome::Tombstone(reason) = row.outcome {
                out.text.push_str(r#","error":"#);
                reason.write_quoted(&mut out.text);
            }
            out.text.push('}');
        }
        out.text.push('}');
    }
}

fn write_calls<'a>(
    generation: &'a Generation,
    in_row: &[bool],
    requests: &mut RequestTable<'a>,
    out: &mut Out<'_>,
) {
    requests.begin_list();
    out.text.push('[');
    for (position, call) in generation.calls.iter().enumerate() {
        out.spill_if_full();
        if position > 0 {
            out.text.push(',');
        }
        write_call(call, in_row[position], &mut out.text);
        if let Some(request) = &call.request {
            requests.write_request(position, request, &mut out.text);
        }
        out.text.push('}');
    }
    out.text.push(']');
}

/// Leaves the object open for the request.
fn write_call(call: &Call, in_row: bool, out: &mut String) {
    out.push_str(r#"{"kind":""#);
    out.push_str(call.kind.name());
    out.push_str(r#"","callId":"#);
    call.call_id.write_quoted(out);
    out.push_str(r#","contentHash":""#);
    call.hash.push_to(out);
    out.push_str(r#"","startOrder":"#);
    write_count(call.start, out);
    for (name, place) in [("answerOrder", call.answered), ("endOrder", call.end)] {
        if let Some(place) = place {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":");
            write_count(place, out);
        }
    }
    if in_row {
        out.push_str(r#","row":true"#);
    }
    match &call.outcome {
        Outcome::Pending => {}
        Outcome::Output(value) => write_output(value, in_row, out),
        Outcome::Tombstone(reason) => {
            out.push_str(r#","tombstone":"#);
            reason.write_quoted(out);
        }
        Outcome::Failure {
            error,
            stopped,
            handled,
        } => {
            out.push_str(r#","error":"#);
            out.push_str(error.as_str());
            for (name, holds) in [("stopped", *stopped), ("handled", *handled)] {
                if holds {
                    out.push_str(&format!(r#","{name}":true"#));
                }
            }
        }
    }
    if call.unreached {
        out.push_str(r#","unreached":true"#);
    }
    if let Some(meta) = &call.meta {
        out.push_str(r#","meta":"#);
        out.push_str(meta.as_str());
    }
}

fn write_output(value: &Value, in_row: bool, out: &mut String) {
    if !in_row {
        out.push_str(r#","output":"#);
        out.push_str(value.text.as_str());
    }
    if let Some(types) = &value.types {
        out.push_str(r#","types":"#);
        out.push_str(types.as_str());
    }
}

fn write_plain(text: &str, out: &mut String) {
    JsonStr::from_plain(text).write_quoted(out);
}
