//! Sorts the events into the order in which they happened: by `_seq` if they have it, else by time, else by
//! their position in the list.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::restore::read::event::{Event, NO_SPAN, Phase};
use crate::restore::read::spans::{EventIndex, NO_EVENT, Spans};
use crate::restore::read::trace::Trace;
use crate::restore::read::warnings::{Warnings, code};

/// Sorts the events and sets the positions of the starts and ends of spans.
pub(crate) fn sort(trace: &mut Trace<'_>, warnings: &mut Warnings) {
    fill_times(&mut trace.events);
    let numbered = trace
        .events
        .iter()
        .filter(|event| !event.seq.is_nan())
        .count();
    if numbered == trace.events.len() {
        trace.events.sort_by(by_seq);
    } else if numbered == 0 {
        trace.events.sort_by(by_time);
    } else {
        merge(&mut trace.events);
    }
    trace.spans.note_positions(&trace.events);
    let Some(position) = first_contradiction(&trace.events, &trace.spans) else {
        return;
    };
    let event = &trace.events[position];
    let message = format!(
        "{} is listed before an event that must precede it; the order of events with the same time is uncertain",
        event.kind.name(),
    );
    warnings.add_at(code::ORDER_UNCERTAIN, event, &trace.spans, message);
    // `_seq` is the order of the run itself. Events with equal times can be reordered by their spans.
    if numbered < trace.events.len() {
        untangle(&mut trace.events, &trace.spans);
        trace.spans.note_positions(&trace.events);
    }
}

fn by_seq(one: &Event, other: &Event) -> Ordering {
    one.seq.total_cmp(&other.seq)
}

fn by_time(one: &Event, other: &Event) -> Ordering {
    one.time.total_cmp(&other.time)
}

/// Sets the time of each event without one to that of the event before it.
fn fill_times(events: &mut [Event]) {
    let mut last = 0.0;
    for event in events {
        if event.time.is_nan() {
            event.time = last;
        }
        last = event.time;
    }
}

/// Sorts events if only some have a `_seq`: sorts those with and those without, then merges both by time.
fn merge(events: &mut Vec<Event>) {
    let (mut numbered, mut others): (Vec<Event>, Vec<Event>) =
        events.iter().partition(|event| !event.seq.is_nan());
    numbered.sort_by(by_seq);
    others.sort_by(by_time);
    let mut others = others.into_iter().peekable();
    events.clear();
    for event in numbered {
        while let Some(other) =
            others.next_if(|other| (other.time, other.line) < (event.time, event.line))
        {
            events.push(other);
        }
        events.push(event);
    }
    events.extend(others);
}

/// The position of the first event that cannot be where it is: an end before its start, or a child before
/// its parent.
fn first_contradiction(events: &[Event], spans: &Spans<'_>) -> Option<usize> {
    (0..)
        .zip(events)
        .position(|(position, event)| contradicts(position, event, spans))
}

fn contradicts(position: EventIndex, event: &Event, spans: &Spans<'_>) -> bool {
    let is_after = |start: EventIndex| start != NO_EVENT && start > position;
    let span = spans.get(event.span);
    is_after(span.start) || (span.parent != NO_SPAN && is_after(spans.get(span.parent).start))
}

/// Reorders each group of events with the same time: the start of a span goes first, its end last, and events
/// inside the span between them. Otherwise the order stays.
fn untangle(events: &mut [Event], spans: &Spans<'_>) {
    let mut start = 0;
    while start < events.len() {
        let time = events[start].time;
        let length = events[start..]
            .iter()
            .take_while(|event| event.time.total_cmp(&time).is_eq())
            .count();
        if length > 1 {
            let group = start..start + length;
            let order = group_order(&group, events, spans).into_iter();
            let sorted: Vec<Event> = order.map(|offset| events[start + offset]).collect();
            events[group].copy_from_slice(&sorted);
        }
        start += length;
    }
}

/// The offsets of a group's events in an order that the spans allow, as close as possible to the given one.
fn group_order(group: &Range<usize>, events: &[Event], spans: &Spans<'_>) -> Vec<usize> {
    let length = group.len();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); length];
    let mut waits_for = vec![0_usize; length];
    let in_group = |position: EventIndex| {
        (position as usize)
            .checked_sub(group.start)
            .filter(|offset| *offset < length)
    };
    let mut add = |earlier: Option<usize>, later: Option<usize>| {
        if let (Some(earlier), Some(later)) = (earlier, later)
            && earlier != later
        {
            followers[earlier].push(later);
            waits_for[later] += 1;
        }
    };
    for (offset, event) in events[group.clone()].iter().enumerate() {
        let span = spans.get(event.span);
        if event.kind.phase != Phase::Start {
            add(in_group(span.start), Some(offset));
        }
        if event.kind.phase != Phase::End {
            add(Some(offset), in_group(span.end));
        }
        if span.parent != NO_SPAN {
            let parent = spans.get(span.parent);
            add(in_group(parent.start), Some(offset));
            add(Some(offset), in_group(parent.end));
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..length)
        .filter(|offset| waits_for[*offset] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(length);
    while let Some(Reverse(offset)) = ready.pop() {
        order.push(offset);
        for follower in std::mem::take(&mut followers[offset]) {
            waits_for[follower] -= 1;
            if waits_for[follower] == 0 {
                ready.push(Reverse(follower));
            }
        }
    }
    // Events in a cycle go to the end, in their given order.
    order.extend((0..length).filter(|offset| waits_for[*offset] > 0));
    order
}
