//! Everything of one call or frame as JSON.

use serde::Serialize;

use super::rows::Item;
use super::{View, whole_request};
use crate::json::JsonText;
use crate::model::{Frame, Memory, Outcome, State};
use crate::snapshot::write_memory;

impl View {
    /// JSON text of everything of one call or frame; `None` if there is no such row.
    #[must_use]
    pub fn details(&self, row: usize) -> Option<String> {
        let mut out = Members::default();
        match &self.rows.get(row)?.item {
            Item::Call(call) => {
                out.put_value("exchange", &self.conversation(row, call));
                let asked = self.asked.get(row).and_then(Option::as_ref);
                let request = whole_request(call);
                if request.is_none() && asked.is_some() {
                    out.put("requestFromEvents", "true");
                }
                let request = request.or_else(|| Some(asked?.document.clone()));
                out.put_some("request", request.as_deref());
                put_result(&mut out, &call.outcome);
                out.put_some("meta", call.data.meta.as_ref().map(JsonText::as_str));
                if let Some(base) = asked.and_then(|asked| asked.base) {
                    out.put_value("base", &base.call);
                }
            }
            Item::Frame(frame) => put_frame(&mut out, frame),
            Item::Entry(entry) => put_result(&mut out, &entry.outcome),
            Item::Generation(_) => {}
        }
        Some(out.into_json())
    }
}

/// The members of an object, each with its JSON text: documents are never parsed only to be written.
#[derive(Debug, Default)]
struct Members(Vec<(&'static str, String)>);

impl Members {
    fn put(&mut self, name: &'static str, json: &str) {
        self.0.push((name, json.to_owned()));
    }

    fn put_some(&mut self, name: &'static str, json: Option<&str>) {
        if let Some(json) = json {
            self.put(name, json);
        }
    }

    fn put_value(&mut self, name: &'static str, value: &impl Serialize) {
        self.put(name, &serde_json::to_string(value).unwrap_or_default());
    }

    fn into_json(self) -> String {
        let members = self.0.iter();
        let members: Vec<String> = members
            .map(|(name, json)| format!("\"{name}\":{json}"))
            .collect();
        format!("{{{}}}", members.join(","))
    }
}

/// The state of a frame: its props, its memory at the start and now, its usage and its result.
fn put_frame(out: &mut Members, frame: &Frame) {
    let generation = &frame.generation;
    let props = generation.props.as_ref();
    out.put_some("props", props.map(|props| props.text.as_str()));
    let text_of = |memory: &Memory| {
        let mut text = String::new();
        write_memory(memory, &mut text);
        text
    };
    out.put_some(
        "memoryAtStart",
        generation.memory.as_ref().map(text_of).as_deref(),
    );
    out.put("memory", &text_of(&frame.memory));
    let mut budget = String::new();
    frame.budget.write_json(&mut budget);
    out.put("budget", &budget);
    match &frame.state {
        State::Running => {}
        State::Completed(value) => out.put("output", value.text.as_str()),
        State::Failed(error) => out.put_some("error", error.as_ref().map(JsonText::as_str)),
    }
}

fn put_result(out: &mut Members, outcome: &Outcome) {
    match outcome {
        Outcome::Output(value) => out.put("output", value.text.as_str()),
        Outcome::Failure { error, .. } => out.put("error", error.as_str()),
        Outcome::Pending | Outcome::Tombstone(_) => {}
    }
}
