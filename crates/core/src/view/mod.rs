//! A run as people look at it: rows with excerpts, times and tokens, and everything of one call. Snapshots, traces,
//! recordings and forks are all read through it.

mod details;
mod rows;
mod trace;
mod write;

use std::collections::HashMap;
use std::sync::Arc;

use crate::json::Scanner;
use crate::model::{Call, Frame, Outcome};
use crate::provider::{Documents, Exchange, Tokens, read};
use crate::snapshot::EarlierRequests;
use rows::{Item, Row, rows_of};
use trace::{Base, Spans};

/// A run of any kind of recording.
#[derive(Debug)]
pub struct View {
    rows: Vec<Row>,
    spans: Spans,
    /// The rows of calls, by callId.
    by_call: HashMap<String, usize>,
    /// One for each row of a call.
    asked: Vec<Option<Asked>>,
}

/// A request without the items of lists that an earlier one has.
#[derive(Debug)]
struct Asked {
    document: String,
    base: Option<Base>,
}

impl View {
    /// `trace`: the text of the trace that the frames were restored from, and the id of the run.
    #[must_use]
    pub fn new(root: &Arc<Frame>, trace: Option<(&str, &str)>) -> Self {
        let rows = rows_of(root);
        let spans = trace.map_or_else(Spans::default, |(text, id)| Spans::read(text, id));
        let call_ids = rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| match &row.item {
                Item::Call(call) => Some((call.call_id.to_display().into_owned(), at)),
                _ => None,
            });
        let by_call = call_ids.collect();
        let mut view = Self {
            asked: Vec::with_capacity(rows.len()),
            rows,
            spans,
            by_call,
        };
        let mut earlier = EarlierRequests::of_lists();
        for at in 0..view.rows.len() {
            let asked = match &view.rows[at].item {
                Item::Call(call) => view.asked_by(at, call, &mut earlier),
                _ => None,
            };
            view.asked.push(asked);
        }
        view
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn asked_by(&self, row: usize, call: &Call, earlier: &mut EarlierRequests) -> Option<Asked> {
        if let Some(request) = &call.request {
            let text = earlier.write(row, request)?;
            let [document, shared] = Scanner::new(&text).members(["document", "shared"]).ok()?;
            return Some(Asked {
                document: document?.to_owned(),
                base: shared.and_then(base_in),
            });
        }
        let span = self.spans.get(&call.call_id.to_display())?;
        let base = span.base.as_ref().and_then(|base| {
            let call = *self.by_call.get(&base.call)?;
            Some(Base {
                call,
                keep: base.keep,
            })
        });
        Some(Asked {
            document: span.request.clone()?,
            base,
        })
    }

    /// The question and the answer of a call. `whole`: with all messages, not only those that no earlier request has.
    fn exchange(&self, row: usize, call: &Call, whole: bool) -> Exchange {
        let all = if whole { whole_request(call) } else { None };
        let asked = self.asked.get(row).and_then(Option::as_ref);
        let document = all
            .as_deref()
            .or(asked.map(|asked| asked.document.as_str()));
        let meta = call.data.meta.as_ref();
        let output = match &call.outcome {
            Outcome::Output(value) => Some(value.text.as_str()),
            _ => None,
        };
        let mut exchange = read(Documents {
            kind: call.kind.name(),
            request: document,
            output,
            meta: meta.map(crate::json::JsonText::as_str),
        });
        let model = || self.spans.get(&call.call_id.to_display())?.model.clone();
        exchange.model = exchange.model.take().or_else(model);
        exchange
    }

    /// As [`View::exchange`] with all messages. A trace has those of a prompt in several events.
    fn conversation(&self, row: usize, call: &Call) -> Exchange {
        let mut exchange = self.exchange(row, call, true);
        if call.request.is_some() {
            return exchange;
        }
        let mut base = self.asked.get(row).and_then(|asked| asked.as_ref()?.base);
        let mut before = Vec::new();
        while let Some(Base { call: at, keep }) = base {
            let Some(Item::Call(call)) = self.rows.get(at).map(|row| &row.item) else {
                break;
            };
            let messages = self.exchange(at, call, false).messages;
            before.push((messages, keep));
            // A base is always an earlier row, so this ends.
            base = self.asked[at]
                .as_ref()
                .and_then(|asked| asked.base)
                .filter(|next| next.call < at);
        }
        let mut messages = Vec::new();
        for (mut part, keep) in before.into_iter().rev() {
            messages.append(&mut part);
            messages.truncate(keep);
        }
        messages.append(&mut exchange.messages);
        exchange.messages = messages;
        exchange
    }
}

fn whole_request(call: &Call) -> Option<String> {
    Some(call.request.as_ref()?.pieces()?.concat())
}

/// The list of messages that a request continues: of the shared lists, the one of a request's messages.
fn base_in(shared: &str) -> Option<Base> {
    let shared: serde_json::Value = serde_json::from_str(shared).ok()?;
    let is_messages = |pointer: &str| {
        let name = pointer.rsplit('/').next();
        matches!(name, Some("messages" | "input" | "contents" | "prompt"))
    };
    let (_, from) = shared
        .as_object()?
        .iter()
        .find(|(pointer, _)| is_messages(pointer))?;
    let number = |name: &str| usize::try_from(from.get(name)?.as_u64()?).ok();
    Some(Base {
        call: number("request")?,
        keep: number("keep")?,
    })
}

/// The tokens of a frame and of everything below it.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    own: u64,
    all: u64,
}

impl Totals {
    fn add(&mut self, tokens: Option<Tokens>) {
        let total = tokens.map_or(0, |tokens| tokens.total_tokens);
        self.own = self.own.saturating_add(total);
        self.all = self.all.saturating_add(total);
    }
}
