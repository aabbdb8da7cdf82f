//! Writes snapshots as JSON text in the documented shape, without recursion.

use super::memory::{write_memory, write_memory_hashes};
use super::out::Out;
use super::write_journal::{write_calls, write_journal, write_within};
use super::write_requests::RequestTables;
use super::{Anchor, Snapshot, SnapshotSource, VERSION, Warning};
use crate::json::{JsonStr, JsonText, quoted, write_joined, write_number};
use crate::model::{Divergence, Frame, Generation, State};

/// Writes the whole snapshot.
pub fn write_snapshot(snapshot: &Snapshot) -> String {
    write_around(snapshot, |out| write_frame(snapshot.tree(), out))
}

/// Writes the snapshot with `null` for its root.
pub fn write_without_root(snapshot: &Snapshot) -> String {
    write_around(snapshot, |out| out.push_str("null"))
}

fn write_around(snapshot: &Snapshot, write_root: impl FnOnce(&mut String)) -> String {
    let process_id = quoted(&snapshot.process_id);
    let mut out = format!(r#"{{"processId":{process_id},"timestamp":"#);
    write_number(snapshot.timestamp, &mut out);
    out.push_str(r#","root":"#);
    write_root(&mut out);
    out.push_str(r#","provenance":"#);
    write_provenance(snapshot, &mut out);
    out.push_str(&format!(r#","version":{VERSION}"#));
    if let Some(recorder) = &snapshot.recorder {
        out.push_str(r#","recorder":"#);
        recorder.write(&mut out);
    }
    let read = &snapshot.read_warnings;
    let warnings = read.clone().or_else(|| warnings_text(&snapshot.warnings));
    for (name, text) in [
        ("metadata", &snapshot.metadata),
        ("warnings", &warnings),
        ("normalize", &snapshot.normalize),
        ("redact", &snapshot.redact),
    ] {
        if let Some(text) = text {
            out.push_str(&format!(r#","{name}":{}"#, text.as_str()));
        }
    }
    out.push('}');
    out
}

fn write_provenance(snapshot: &Snapshot, out: &mut String) {
    let provenance = &snapshot.provenance;
    out.push_str(&format!(r#"{{"traceId":{}"#, quoted(&provenance.trace_id)));
    for (name, value) in [
        ("spanId", provenance.span_id.as_deref()),
        ("anchor", provenance.anchor.map(Anchor::name)),
        ("source", provenance.source.map(SnapshotSource::name)),
        ("firstRun", provenance.first_run.as_deref()),
    ] {
        if let Some(value) = value {
            out.push_str(&format!(r#","{name}":{}"#, quoted(value)));
        }
    }
    if let Some(source) = &provenance.forked_from {
        out.push_str(r#","forkedFrom":"#);
        out.push_str(source.as_str());
    }
    out.push('}');
}

fn warnings_text(warnings: &[Warning]) -> Option<JsonText> {
    if warnings.is_empty() {
        return None;
    }
    let mut out = "[".to_owned();
    write_joined(warnings, &mut out, |warning, out| {
        let (code, message) = (warning.code, quoted(&warning.message));
        out.push_str(&format!(r#"{{"code":"{code}","message":{message}"#));
        if let Some(line) = warning.line {
            out.push_str(&format!(r#","line":{line}"#));
        }
        if let Some(span_id) = &warning.span_id {
            out.push_str(&format!(r#","spanId":{}"#, quoted(span_id)));
        }
        out.push('}');
    });
    out.push(']');
    Some(JsonText::trusted(out))
}

/// A part that is still to be written. The last task of the stack comes first.
enum Task<'a> {
    Text(&'static str),
    Key(&'a JsonStr),
    Frame(&'a Frame),
    FrameTail(&'a Frame),
    Generation(&'a Generation),
}

/// Writes a root frame and all frames under it, with the texts of their requests at the end.
pub fn write_frame(frame: &Frame, out: &mut String) {
    let text = std::mem::take(out);
    *out = stream_frame(frame, text, &mut |_| ());
}

/// Appends a root frame to `text`. Calls `spill` with the text from time to time; `spill` may remove any part
/// of it. Returns the text that remains at the end.
pub fn stream_frame(frame: &Frame, text: String, spill: &mut dyn FnMut(&mut String)) -> String {
    let mut requests = RequestTables::default();
    let mut out = Out { text, spill };
    write_frames(frame, &mut requests, &mut out);
    // The tables belong to the root, whose brace was the last character.
    out.text.pop();
    requests.write(&mut out);
    out.text.push('}');
    out.text
}

fn write_frames<'a>(frame: &'a Frame, requests: &mut RequestTables<'a>, out: &mut Out<'_>) {
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

fn write_head<'a>(frame: &'a Frame, requests: &mut RequestTables<'a>, out: &mut Out<'_>) {
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
    write_state(frame, out);
    if frame.generation.memory.is_some()
        || frame.generation.props.is_some()
        || frame.generation.id > 0
    {
        out.push_str(r#","generation":{"#);
        write_generation_fields(&frame.generation, out);
        out.push('}');
    }
    // Also for an empty memory, so that keys added by hand count as edited.
    if !frame.memory.is_empty() || frame.generation.memory.is_some() {
        write_memory_hashes(frame, out);
    }
}

/// The value of `state`, and the members that follow it.
pub(super) fn write_state(frame: &Frame, out: &mut String) {
    let mut output_types = None;
    match &frame.state {
        State::Running => out.push_str(r#"{"status":"running""#),
        State::Completed(value) => {
            out.push_str(r#"{"status":"completed","output":"#);
            out.push_str(value.text.as_str());
            output_types = value.types.as_ref();
        }
        State::Failed(error) => {
            out.push_str(r#"{"status":"failed""#);
            if let Some(error) = error {
                out.push_str(r#","error":"#);
                out.push_str(error.as_str());
            }
        }
    }
    out.push_str(r#"},"budgetState":"#);
    frame.budget.write_json(out);
    if let Some(types) = output_types {
        out.push_str(r#","outputTypes":"#);
        out.push_str(types.as_str());
    }
    if let Some(hash) = frame.input_hash {
        out.push_str(&format!(r#","inputHash":"{hash}""#));
    }
    write_within(frame.within.as_ref(), out);
    for (name, order) in [("startOrder", frame.start), ("endOrder", frame.end)] {
        if let Some(order) = order {
            out.push_str(&format!(r#","{name}":{order}"#));
        }
    }
    for (name, is_set) in [
        ("stopped", frame.stopped),
        ("handled", frame.handled),
        (
            "carriedOver",
            frame.divergence == Divergence::NotReplayedYet,
        ),
    ] {
        if is_set {
            out.push_str(&format!(r#","{name}":true"#));
        }
    }
}

pub(super) fn write_generation_fields(generation: &Generation, out: &mut String) {
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
