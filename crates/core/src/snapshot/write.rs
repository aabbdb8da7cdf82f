//! Snapshots as JSON text, in the documented shape. Written without recursion.

use std::collections::{HashMap, HashSet};

use super::requests::RequestTable;
use super::{Snapshot, VERSION, Warning};
use crate::frame::{Frame, Generation, State};
use crate::hash::content_hash_any;
use crate::journal::{Call, Kind, Outcome, RequestHash, Value};
use crate::json::JsonStr;
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
    write_frame(&snapshot.root, &mut out);
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
    let settled = frame.settled();
    let frame = settled.as_ref().unwrap_or(frame);
    let mut requests = RequestTable::default();
    write_frames(frame, &mut requests, out);
    if !requests.is_empty() {
        out.pop();
        requests.write(out);
        out.push('}');
    }
}

fn write_frames<'a>(frame: &'a Frame, requests: &mut RequestTable<'a>, out: &mut String) {
    let mut tasks = vec![Task::Frame(frame)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Key(key) => {
                key.write_quoted(out);
                out.push(':');
            }
            Task::Frame(frame) => {
                write_head(frame, requests, out);
                tasks.push(Task::FrameTail(frame));
                push_children(&frame.generation, &mut tasks);
            }
            Task::FrameTail(frame) => {
                write_tail(frame, out);
                if frame.earlier.is_empty() {
                    out.push('}');
                } else {
                    out.push_str(r#","generations":["#);
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
                out.push('{');
                write_generation_fields(generation, out);
                out.push_str(r#","journal":"#);
                let in_row = write_journal(generation, out);
                out.push_str(r#","calls":"#);
                write_calls(generation, &in_row, requests, out);
                out.push_str(r#","children":{"#);
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

fn write_head<'a>(frame: &'a Frame, requests: &mut RequestTable<'a>, out: &mut String) {
    out.push_str(r#"{"callId":"#);
    frame.call_id.write_quoted(out);
    out.push_str(r#","agentId":"#);
    frame.agent_id.write_quoted(out);
    out.push_str(r#","memory":"#);
    write_memory(&frame.memory, out);
    out.push_str(r#","journal":"#);
    let in_row = write_journal(&frame.generation, out);
    if !frame.generation.calls.is_empty() {
        out.push_str(r#","calls":"#);
        write_calls(&frame.generation, &in_row, requests, out);
    }
    out.push_str(r#","children":{"#);
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
    if frame.stopped {
        out.push_str(r#","stopped":true"#);
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
        out.push_str(r#","memoryHashes":{"#);
        for (index, (key, value)) in frame.memory.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            key.write_quoted(out);
            // A value that cannot be hashed counts as edited, which is the safe side.
            let hash = content_hash_any(value.as_str())
                .map(|hash| hash.to_string())
                .unwrap_or_default();
            out.push_str(&format!(r#":"{hash}""#));
        }
        out.push('}');
    }
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

/// Writes the rows, one a hash, and gives the calls whose outcome stands in a row.
fn write_journal(generation: &Generation, out: &mut String) -> HashSet<usize> {
    let mut journal = Journal::default();
    for row in &generation.rows {
        journal.put(&row.kind, &row.hash, None, &row.outcome);
    }
    for (position, call) in generation.calls.iter().enumerate() {
        journal.put(&call.kind, &call.hash, Some(position), &call.outcome);
    }
    journal.write(out);
    journal.calls_in_rows()
}

#[derive(Default)]
struct Journal<'a> {
    kinds: Vec<(&'a Kind, Vec<RowText<'a>>)>,
    positions: HashMap<(&'a Kind, &'a RequestHash), (usize, usize)>,
}

struct RowText<'a> {
    hash: &'a RequestHash,
    outcome: &'a Outcome,
    call: Option<usize>,
}

impl<'a> Journal<'a> {
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

    fn calls_in_rows(&self) -> HashSet<usize> {
        self.kinds
            .iter()
            .flat_map(|(_, rows)| rows.iter().filter_map(|row| row.call))
            .collect()
    }

    fn write(&self, out: &mut String) {
        out.push_str(r#"{"prompt":"#);
        self.write_kind(&Kind::Prompt, out);
        out.push_str(r#","tool":"#);
        self.write_kind(&Kind::Tool, out);
        let others = self
            .kinds
            .iter()
            .filter(|(kind, _)| matches!(kind, Kind::Other(_)));
        for (index, (kind, _)) in others.enumerate() {
            out.push_str(if index == 0 {
                r#","other":{""#
            } else {
                r#",""#
            });
            out.push_str(kind.name());
            out.push_str("\":");
            self.write_kind(kind, out);
        }
        out.push_str(
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

    fn write_kind(&self, wanted: &Kind, out: &mut String) {
        out.push('{');
        let rows = self
            .kinds
            .iter()
            .find(|(kind, _)| *kind == wanted)
            .map_or(&[][..], |(_, rows)| rows);
        for (index, row) in rows.iter().enumerate() {
            out.push_str(if index == 0 { "\"" } else { ",\"" });
            let hash = row.hash.to_string();
            out.push_str(&hash);
            out.push_str(r#"":{"output":"#);
            match row.outcome {
                Outcome::Output(value) => out.push_str(value.text.as_str()),
                _ => out.push_str("null"),
            }
            out.push_str(r#","contentHash":""#);
            out.push_str(&hash);
            out.push('"');
            if let Outcome::Tombstone(reason) = row.outcome {
                out.push_str(r#","error":"#);
                reason.write_quoted(out);
            }
            out.push('}');
        }
        out.push('}');
    }
}

fn write_calls<'a>(
    generation: &'a Generation,
    in_row: &HashSet<usize>,
    requests: &mut RequestTable<'a>,
    out: &mut String,
) {
    requests.begin_list();
    out.push('[');
    for (position, call) in generation.calls.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_call(call, in_row.contains(&position), out);
        if let Some(request) = &call.request {
            requests.write_request(position, request, out);
        }
        out.push('}');
    }
    out.push(']');
}

/// Leaves the object open for the request.
fn write_call(call: &Call, in_row: bool, out: &mut String) {
    out.push_str(&format!(r#"{{"kind":"{}","callId":"#, call.kind.name()));
    call.call_id.write_quoted(out);
    out.push_str(&format!(
        r#","contentHash":"{}","startOrder":{}"#,
        call.hash, call.start
    ));
    if let Some(end) = call.end {
        out.push_str(&format!(r#","endOrder":{end}"#));
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
        Outcome::Failure { error, stopped } => {
            out.push_str(r#","error":"#);
            out.push_str(error.as_str());
            if *stopped {
                out.push_str(r#","stopped":true"#);
            }
        }
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
