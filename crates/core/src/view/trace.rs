//! Facts about calls and frames that only a trace has: their spans, times, whether they were replayed, and why not.

use std::collections::HashMap;

use crate::json::Scanner;

/// By callId.
#[derive(Debug, Default)]
pub(super) struct Spans {
    by_call: HashMap<String, Span>,
    /// The time of the first event.
    pub started: Option<f64>,
    /// Spans of turns, and the last turn of each prompt.
    turns: HashMap<String, String>,
    /// For each call, why no recorded answer was given.
    misses: HashMap<String, String>,
}

#[derive(Debug, Default)]
pub(super) struct Span {
    pub id: String,
    /// Milliseconds since 1970.
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub replayed: Option<bool>,
    /// A request document, from the fields of the event. In a prompt, with the messages after those of `base`.
    pub request: Option<String>,
    pub base: Option<Base<String>>,
    pub model: Option<String>,
}

/// The request that this one continues.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base<Call = usize> {
    pub call: Call,
    /// The number of its messages that come first in this one.
    pub keep: usize,
}

impl Spans {
    /// Reads the events of a run: lines, or a list. Events of other runs, and what is not an event, are passed over.
    pub fn read(trace: &str, trace_id: &str) -> Self {
        let mut spans = Self::default();
        let trimmed = trace.trim_start_matches(['\u{FEFF}', ' ', '\n', '\r', '\t']);
        if trimmed.starts_with('[') {
            for event in Scanner::new(trimmed).elements().unwrap_or_default() {
                spans.event(event, trace_id);
            }
        } else {
            trimmed.lines().for_each(|line| {
                spans.event(line, trace_id);
            });
        }
        spans
    }

    pub fn get(&self, call_id: &str) -> Option<&Span> {
        self.by_call.get(call_id)
    }

    pub fn miss(&self, call_id: &str) -> Option<&str> {
        self.misses.get(call_id).map(String::as_str)
    }

    fn event(&mut self, event: &str, trace_id: &str) -> Option<()> {
        let [kind, time, trace, call, journal_call] = Scanner::new(event)
            .members(["type", "timestamp", "trace", "callId", "journalCallId"])
            .ok()?;
        let kind = plain(kind?)?;
        let [of_trace, id, parent] = Scanner::new(trace?)
            .members(["traceId", "spanId", "parentSpanId"])
            .ok()?;
        if plain(of_trace?)? != trace_id {
            return None;
        }
        let time = time?.parse().ok();
        self.started = self.started.or(time);
        let (family, phase) = kind.rsplit_once(':')?;
        let call = match family {
            "call" | "turn" | "agent" => plain(call?)?,
            "tool:call" => plain(journal_call?)?,
            "runWith" => "root".to_owned(),
            "model:call" => {
                let turn = self.turns.get(&plain(parent?)?)?.clone();
                let [adapter] = Scanner::new(event).members(["adapterId"]).ok()?;
                self.by_call.get_mut(&turn)?.model = plain(adapter?);
                return None;
            }
            "replay" => return self.report(event),
            _ => return None,
        };
        let id = plain(id?)?;
        let base = match (family, phase) {
            ("turn", "start") => {
                let prompt = plain(parent?)?;
                self.turns.insert(id.clone(), call.clone());
                // The spans of prompts and turns never have the same id.
                self.turns.insert(prompt, call.clone())
            }
            _ => None,
        };
        let span = self.by_call.entry(call).or_default();
        if phase == "end" {
            let [cache] = Scanner::new(event).members(["cache"]).ok()?;
            span.end = time;
            span.replayed = cache.map(|cache| cache == "true");
        } else if phase == "start" {
            // All attempts of a call have its callId. It starts with the first one.
            span.start = span.start.or(time);
            span.id = id;
            span.read_request(event, family, base);
        }
        None
    }

    fn report(&mut self, event: &str) -> Option<()> {
        let report: serde_json::Value = serde_json::from_str(event).ok()?;
        for frame in report.get("report")?.get("frames")?.as_array()? {
            let Some(miss) = frame.get("firstDivergence") else {
                continue;
            };
            let explained = miss
                .get("explanation")
                .and_then(|text| text.get("text")?.as_str());
            let reason = explained.or_else(|| miss.get("reason")?.as_str());
            if let (Some(call), Some(reason)) = (miss.get("callId")?.as_str(), reason) {
                self.misses.insert(call.to_owned(), reason.to_owned());
            }
        }
        None
    }
}

impl Span {
    fn read_request(&mut self, event: &str, family: &str, base: Option<String>) -> Option<()> {
        if family == "tool:call" {
            let [name, input] = Scanner::new(event).members(["toolName", "input"]).ok()?;
            self.request = Some(format!(r#"{{"input":{},"name":{}}}"#, input?, name?));
        } else if family == "turn" {
            let [messages, delta, tools] = Scanner::new(event)
                .members(["messages", "messagesDelta", "toolConfig"])
                .ok()?;
            let [tools] = Scanner::new(tools.unwrap_or("null"))
                .members(["tools"])
                .ok()?;
            let tools = tools.map_or(String::new(), |tools| format!(r#","tools":{tools}"#));
            let [count, add] = Scanner::new(delta.unwrap_or("null"))
                .members(["count", "add"])
                .ok()?;
            let messages = messages.or(add)?;
            self.request = Some(format!(r#"{{"messages":{messages}{tools}}}"#));
            let keep = count.and_then(|count| count.parse().ok());
            if let (Some(call), Some(keep)) = (base, keep) {
                self.base = Some(Base { call, keep });
            }
        }
        None
    }
}

/// The text of a string literal.
fn plain(literal: &str) -> Option<String> {
    serde_json::from_str(literal).ok()
}
