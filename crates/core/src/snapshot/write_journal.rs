//! Writes the members `journal` and `calls` of a frame or generation.

use std::collections::HashMap;

use super::out::Out;
use super::write_requests::RequestTables;
use crate::json::{JsonStr, write_count};
use crate::model::{Call, Generation, Kind, Outcome, RequestHash, Value};
use crate::util::IdHashing;

/// Writes one row per hash. Returns, for each call, true if its outcome is in a row.
pub(super) fn write_journal(generation: &Generation, out: &mut Out<'_>) -> Vec<bool> {
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

    /// Of calls with the same hash, the row contains the last output. It contains a tombstone only if
    /// there is no output.
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
            // A row that no call refers to answers any number of times. It stays, and the calls keep
            // their own outcomes.
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

pub(super) fn write_calls<'a>(
    generation: &'a Generation,
    in_row: &[bool],
    requests: &mut RequestTables<'a>,
    out: &mut Out<'_>,
) {
    out.text.push('[');
    for (position, call) in generation.calls.iter().enumerate() {
        out.spill_if_full();
        if position > 0 {
            out.text.push(',');
        }
        write_call(call, in_row[position], &mut out.text);
        if let Outcome::Output(value) = &call.outcome {
            requests.add_output(&value.text);
        }
        if let Some(request) = &call.request {
            requests.write_request(request, &mut out.text);
        }
        out.text.push('}');
    }
    out.text.push(']');
}

/// Writes a call without its closing brace, because its request follows.
pub(super) fn write_call(call: &Call, in_row: bool, out: &mut String) {
    out.push_str(r#"{"kind":""#);
    out.push_str(call.kind.name());
    out.push_str(r#"","callId":"#);
    call.call_id.write_quoted(out);
    out.push_str(r#","contentHash":""#);
    call.hash.push_to(out);
    out.push('"');
    write_within(call.within.as_ref(), out);
    out.push_str(r#","startOrder":"#);
    write_count(call.start, out);
    for (name, order) in [("answerOrder", call.answered), ("endOrder", call.end)] {
        if let Some(order) = order {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":");
            write_count(order, out);
        }
    }
    if in_row {
        out.push_str(r#","row":true"#);
    }
    write_outcome(&call.outcome, in_row, out);
    for (name, is_set) in [
        ("carriedOver", call.carried_over),
        ("dropped", call.dropped),
    ] {
        if is_set {
            out.push_str(&format!(r#","{name}":true"#));
        }
    }
    call.data.write_members(out);
}

/// Writes the callId of the outer call of a call or frame.
pub(super) fn write_within(within: Option<&JsonStr>, out: &mut String) {
    if let Some(outer) = within {
        out.push_str(r#","within":"#);
        outer.write_quoted(out);
    }
}

/// The output is left out if the call is in a row of the journal, which contains it.
pub(super) fn write_outcome(outcome: &Outcome, in_row: bool, out: &mut String) {
    match outcome {
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
            for (name, is_set) in [("stopped", *stopped), ("handled", *handled)] {
                if is_set {
                    out.push_str(&format!(r#","{name}":true"#));
                }
            }
        }
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
