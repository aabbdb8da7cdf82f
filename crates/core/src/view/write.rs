//! The rows as JSON.

use serde_json::{Map, Value, json};

use super::rows::Item;
use super::{Totals, View};
use crate::json::{JsonStr, JsonText, Scanner};
use crate::model::{Call, Divergence, Frame, Outcome, RequestHash, State};
use crate::provider::Exchange;

/// Excerpts are at most this many characters long.
const EXCERPT: usize = 160;

impl View {
    /// JSON text of the list of rows.
    #[must_use]
    pub fn rows(&self) -> String {
        Value::Array(self.row_values()).to_string()
    }

    pub(super) fn row_values(&self) -> Vec<Value> {
        let exchanges: Vec<Option<Exchange>> = (0..)
            .zip(&self.rows)
            .map(|(at, row)| match &row.item {
                Item::Call(call) => Some(self.exchange(at, call, false)),
                _ => None,
            })
            .collect();
        let totals = self.totals(&exchanges);
        let rows = self.rows.iter().enumerate();
        rows.map(|(at, row)| {
            let mut out = Map::new();
            put(&mut out, "depth", row.depth);
            put(&mut out, "last", row.last);
            put_if(&mut out, "parent", row.parent);
            let base = row
                .parent
                .map_or("", |parent| match &self.rows[parent].item {
                    Item::Frame(frame) => frame.base(),
                    _ => "",
                });
            match &row.item {
                Item::Frame(frame) => self.frame_row(frame, base, totals[at], &mut out),
                Item::Call(call) => self.call_row(at, call, base, exchanges[at].as_ref(), &mut out),
                Item::Generation(id) => {
                    put(&mut out, "row", "generation");
                    put(&mut out, "id", *id);
                }
                Item::Entry(entry) => {
                    put(&mut out, "row", "call");
                    put(
                        &mut out,
                        "kind",
                        shown(&JsonStr::from_normalized_body(entry.kind.name())),
                    );
                    put_hash(&mut out, &entry.hash);
                    put_outcome(&mut out, &entry.outcome);
                }
            }
            Value::Object(out)
        })
        .collect()
    }

    /// The tokens of each frame. Parents come before their children.
    fn totals(&self, exchanges: &[Option<Exchange>]) -> Vec<Totals> {
        let mut totals = vec![Totals::default(); self.rows.len()];
        for (at, row) in self.rows.iter().enumerate().rev() {
            let Some(parent) = row.parent else { continue };
            if let Some(exchange) = &exchanges[at] {
                totals[parent].add(exchange.usage);
            }
            let below = totals[at].all;
            totals[parent].all = totals[parent].all.saturating_add(below);
        }
        totals
    }

    fn frame_row(&self, frame: &Frame, base: &str, counted: Totals, out: &mut Map<String, Value>) {
        put(out, "row", "frame");
        put_names(out, &frame.call_id, frame.within.as_ref(), base);
        put(out, "agentId", shown(&frame.agent_id));
        let (status, error) = match &frame.state {
            State::Running => ("running", None),
            State::Completed(_) => ("completed", None),
            State::Failed(error) => ("failed", Some(error.as_ref())),
        };
        put(out, "status", status);
        put_if(
            out,
            "reason",
            error.map(|error| error_text(error.map(JsonText::as_str))),
        );
        put_flag(out, "stopped", frame.stopped);
        put_flag(out, "handled", frame.handled);
        put_flag(
            out,
            "carriedOver",
            frame.divergence == Divergence::NotReplayedYet,
        );
        put_flag(out, "replayed", frame.replays.is_some());
        let generations = frame.earlier.len() as u64;
        let id = frame.generation.id;
        // In recordings that do not number their generations, the position is the number.
        put(out, "generation", if id == 0 { generations } else { id });
        put(
            out,
            "calls",
            frame.generation.calls.len() + frame.generation.rows.len(),
        );
        // The budget has what agents used. Calls of clients are only in their answers.
        let budget = |total: f64, counted: u64| {
            if total > 0.0 {
                json!(total)
            } else {
                json!(counted)
            }
        };
        let whole = |value: Value| value.as_f64().map_or(value, |number| json!(number.round()));
        let tokens = |total, counted| integer(&whole(budget(total, counted)));
        put(
            out,
            "tokens",
            tokens(frame.budget.aggregate.total_tokens, counted.all),
        );
        put(
            out,
            "ownTokens",
            tokens(frame.budget.own.total_tokens, counted.own),
        );
        let props = frame
            .generation
            .props
            .as_ref()
            .map(|props| props.text.as_str());
        put_if(
            out,
            "props",
            props.filter(|props| *props != "{}").map(excerpt),
        );
        self.put_span(out, &frame.call_id, (frame.start, frame.end));
    }

    fn call_row(
        &self,
        at: usize,
        call: &Call,
        base: &str,
        exchange: Option<&Exchange>,
        out: &mut Map<String, Value>,
    ) {
        put(out, "row", "call");
        put(
            out,
            "kind",
            shown(&JsonStr::from_normalized_body(call.kind.name())),
        );
        put_names(out, &call.call_id, call.within.as_ref(), base);
        put_hash(out, &call.hash);
        put_outcome(out, &call.outcome);
        put_flag(out, "carriedOver", call.carried_over);
        put_flag(out, "dropped", call.dropped);
        for (name, value) in call.data.fields() {
            if name != "meta" {
                put_if(out, name, parsed(value.as_str()));
            }
        }
        let meta = call
            .data
            .meta
            .as_ref()
            .and_then(|meta| parsed(meta.as_str()));
        let field = |name: &str| meta.as_ref().and_then(|meta| meta.get(name)).cloned();
        put_if(out, "durationMs", field("durationMs"));
        put_if(out, "toolCallId", field("toolCallId"));
        self.put_span(out, &call.call_id, (Some(call.start), call.end));
        put_flag(out, "replayed", call.replays.is_some());
        put_if(out, "why", self.why(call, out));
        let Some(exchange) = exchange else { return };
        for (name, value) in [
            (
                "api",
                Some(exchange.api.to_owned()).filter(|api| !api.is_empty()),
            ),
            ("endpoint", exchange.endpoint.clone()),
            ("model", exchange.model.clone()),
            ("finishReason", exchange.finish_reason.clone()),
        ] {
            put_if(out, name, value);
        }
        put_if(out, "httpStatus", exchange.status);
        put_if(
            out,
            "tokens",
            exchange.usage.map(|usage| usage.total_tokens),
        );
        put_if(
            out,
            "promptTokens",
            exchange.usage.map(|usage| usage.prompt_tokens),
        );
        put_if(out, "question", self.question(at, exchange));
        put_if(out, "answer", answer(call, exchange));
    }

    fn put_span(
        &self,
        out: &mut Map<String, Value>,
        call_id: &JsonStr,
        orders: (Option<u64>, Option<u64>),
    ) {
        put_if(out, "startOrder", orders.0);
        put_if(out, "endOrder", orders.1);
        let Some(span) = self.spans.get(&call_id.to_display()) else {
            return;
        };
        put(out, "spanId", span.id.as_str());
        let first = self.spans.started.unwrap_or(0.0);
        put_if(out, "startMs", span.start.map(|time| time - first));
        put_if(out, "endMs", span.end.map(|time| time - first));
        put_flag(out, "replayed", span.replayed == Some(true));
    }

    /// Why a replay does not answer the call, or why it was live although the run had a recording.
    fn why(&self, call: &Call, out: &Map<String, Value>) -> Option<String> {
        let reason = out
            .get("reason")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if call.dropped {
            return Some("a fork dropped it: a replay executes it again".to_owned());
        }
        if let Some(inexact) = out.get("inexact").and_then(Value::as_str) {
            return Some(format!(
                "its hash does not cover its request ({inexact}): replay flag 1 of the recording forbids an answer"
            ));
        }
        match &call.outcome {
            Outcome::Pending => {
                Some("it had started and not ended: a resumed run executes it again".to_owned())
            }
            Outcome::Tombstone(_) => Some(format!("its result could not be recorded ({reason}): a replay executes it again")),
            Outcome::Failure { stopped: true, handled: false, .. } => Some(
                "the run ended with this failure: a resumed run executes it again, unless it runs with failures: \"replay\"".to_owned(),
            ),
            _ => self.spans.miss(&call.call_id.to_display()).map(|miss| format!("no recorded answer: {miss}")),
        }
    }

    /// An excerpt of what a call adds to the conversation.
    fn question(&self, at: usize, exchange: &Exchange) -> Option<String> {
        if let Some(tool) = &exchange.tool {
            return Some(excerpt(&tool.arguments));
        }
        if let Some(message) = exchange
            .messages
            .iter()
            .rev()
            .find(|message| message.role != "system")
        {
            return Some(excerpt(&message.text)).filter(|text| !text.is_empty());
        }
        if !exchange.api.is_empty() {
            return None;
        }
        let document = self.asked.get(at)?.as_ref()?.document.as_str();
        let [input] = Scanner::new(document).members(["input"]).ok()?;
        Some(excerpt(input.unwrap_or(document))).filter(|input| input != "{}")
    }
}

fn put_outcome(out: &mut Map<String, Value>, outcome: &Outcome) {
    let (status, reason) = match outcome {
        Outcome::Pending => ("in flight", None),
        Outcome::Output(_) => ("ok", None),
        Outcome::Tombstone(reason) => ("not kept", Some(shown(reason))),
        Outcome::Failure {
            error,
            stopped,
            handled,
        } => {
            put_flag(out, "stopped", *stopped);
            put_flag(out, "handled", *handled);
            ("failed", Some(error_text(Some(error.as_str()))))
        }
    };
    put(out, "status", status);
    put_if(out, "reason", reason);
}

/// Name and message of an error.
fn error_text(error: Option<&str>) -> String {
    let error = error.and_then(parsed).unwrap_or_default();
    let parts = ["name", "message"]
        .iter()
        .filter_map(|part| error.get(part)?.as_str());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "(unknown)".to_owned()
    } else {
        parts.join(": ")
    }
}

fn answer(call: &Call, exchange: &Exchange) -> Option<String> {
    let Outcome::Output(value) = &call.outcome else {
        return None;
    };
    let Some(message) = &exchange.answer else {
        // Of a response in an unknown form, the body.
        let body = Scanner::new(value.text.as_str()).members(["body"]);
        let body = body.ok().and_then(|[body]| body);
        let shown = body.filter(|_| exchange.status.is_some());
        return Some(excerpt(shown.unwrap_or(value.text.as_str())));
    };
    let calls = message.tool_calls.iter();
    let calls = calls.map(|call| format!("{}({})", call.name, call.arguments));
    let texts = [message.text.clone()].into_iter().chain(calls);
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    Some(excerpt(&texts.join("  ")))
}

/// The beginning of a text in one line.
fn excerpt(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    // Texts may be long, so only their beginnings are read.
    for word in text.split_whitespace() {
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= EXCERPT {
                out.push('…');
                return out;
            }
            out.push(character);
            count += 1;
        }
    }
    out
}

/// The callId, the part of it after the frame, and that of its outer call.
fn put_names(
    out: &mut Map<String, Value>,
    call_id: &JsonStr,
    within: Option<&JsonStr>,
    base: &str,
) {
    let base = shown(&JsonStr::from_normalized_body(base));
    let call_id = shown(call_id);
    let rest = call_id
        .strip_prefix(&base)
        .and_then(|rest| rest.strip_prefix('/'));
    put(out, "name", rest.unwrap_or(&call_id));
    put_if(out, "within", within.map(shown));
    put(out, "callId", call_id);
}

fn put_hash(out: &mut Map<String, Value>, hash: &RequestHash) {
    put(out, "contentHash", hash.to_string());
}

fn shown(text: &JsonStr) -> String {
    text.to_display().into_owned()
}

/// A count without a fraction.
fn integer(value: &Value) -> Value {
    let whole = value.as_f64().map(|number| format!("{number}"));
    whole
        .and_then(|text| text.parse::<u64>().ok())
        .map_or(Value::Null, Value::from)
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn put(out: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    out.insert(name.to_owned(), value.into());
}

fn put_if<T: Into<Value>>(out: &mut Map<String, Value>, name: &str, value: Option<T>) {
    if let Some(value) = value {
        put(out, name, value);
    }
}

fn put_flag(out: &mut Map<String, Value>, name: &str, is_set: bool) {
    if is_set {
        put(out, name, true);
    }
}
