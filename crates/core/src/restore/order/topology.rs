//! Finds the agent and the generation of each span. Depends only on the parents of spans, never on the order of
//! events.

use std::collections::HashMap;

use crate::restore::read::event::{Event, Family, NO_SPAN, SpanIndex};
use crate::restore::read::spans::{EventIndex, NO_EVENT, Spans};
use crate::restore::read::warnings::{Warnings, code};

#[derive(Debug)]
pub(crate) struct Topology {
    /// The nearest agent, the span itself first; [`NO_SPAN`] for the run itself.
    agent: Vec<SpanIndex>,
    /// The nearest generation below that agent; [`NO_SPAN`] for none.
    generation: Vec<SpanIndex>,
    /// Agents without events of their own, and the event of a generation that implies them.
    implied: HashMap<SpanIndex, EventIndex>,
}

impl Topology {
    pub(crate) fn new(spans: &mut Spans<'_>, events: &[Event]) -> Self {
        let implied = imply_agents(spans, events);
        let is_agent = |span: SpanIndex| spans.get(span).family == Family::Agent;
        let is_run = |span: SpanIndex| spans.get(span).family == Family::Run;
        let is_generation = |span: SpanIndex| spans.get(span).family == Family::Generation;
        Self {
            agent: nearest(spans, is_agent, is_run),
            generation: nearest(spans, is_generation, |span| is_agent(span) || is_run(span)),
            implied,
        }
    }

    pub(crate) fn agent(&self, span: SpanIndex) -> SpanIndex {
        self.agent.get(span as usize).copied().unwrap_or(NO_SPAN)
    }

    /// For an agent without events of its own: the first event of its generations.
    pub(crate) fn implied_by(&self, agent: SpanIndex) -> EventIndex {
        self.implied.get(&agent).copied().unwrap_or(NO_EVENT)
    }

    pub(crate) fn generation(&self, span: SpanIndex) -> SpanIndex {
        self.generation
            .get(span as usize)
            .copied()
            .unwrap_or(NO_SPAN)
    }
}

/// Marks the parents of generations as agents, even if no event of the agent is in the trace.
fn imply_agents(spans: &mut Spans<'_>, events: &[Event]) -> HashMap<SpanIndex, EventIndex> {
    let mut implied = HashMap::new();
    for (position, event) in (0..).zip(events) {
        let parent = spans.get(event.span).parent;
        if event.kind.family == Family::Generation
            && parent != NO_SPAN
            && !spans.get(parent).has_events
        {
            spans.get_mut(parent).family = Family::Agent;
            implied.entry(parent).or_insert(position);
        }
    }
    implied
}

/// For each span, finds the nearest span that `is` accepts, starting at the span itself and going up. A span
/// that `stops` accepts ends the search. The parents must not contain cycles.
pub(crate) fn nearest(
    spans: &Spans<'_>,
    is: impl Fn(SpanIndex) -> bool,
    stops: impl Fn(SpanIndex) -> bool,
) -> Vec<SpanIndex> {
    let mut found: Vec<Option<SpanIndex>> = vec![None; spans.len()];
    let mut path = Vec::new();
    for span in spans.indices() {
        let mut current = span;
        let answer = loop {
            if current == NO_SPAN {
                break NO_SPAN;
            }
            if let Some(known) = found[current as usize] {
                break known;
            }
            if is(current) {
                found[current as usize] = Some(current);
                break current;
            }
            if stops(current) {
                found[current as usize] = Some(NO_SPAN);
                break NO_SPAN;
            }
            path.push(current);
            current = spans.get(current).parent;
        };
        for passed in path.drain(..) {
            found[passed as usize] = Some(answer);
        }
    }
    found
        .into_iter()
        .map(|answer| answer.unwrap_or(NO_SPAN))
        .collect()
}

/// Breaks cycles of parents: removes the parent of the span that comes first.
pub(crate) fn cut_cycles(spans: &mut Spans<'_>, events: &[Event], warnings: &mut Warnings) {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![Mark::New; spans.len()];
    let mut path = Vec::new();
    for event in events {
        let mut current = event.span;
        while current != NO_SPAN {
            let mark = &mut marks[current as usize];
            if *mark == Mark::OnPath {
                spans.get_mut(current).parent = NO_SPAN;
                let message =
                    "the span is its own ancestor; it is treated as part of the run itself";
                let id = &spans.get(current).id;
                warnings.add(
                    code::PARENT_CYCLE,
                    Some(event.line),
                    Some(id),
                    message.to_owned(),
                );
            }
            if *mark != Mark::New {
                break;
            }
            *mark = Mark::OnPath;
            path.push(current);
            current = spans.get(current).parent;
        }
        for passed in path.drain(..) {
            marks[passed as usize] = Mark::Done;
        }
    }
}
