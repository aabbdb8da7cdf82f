//! How many of the ordered events a snapshot is made from.

use super::RestoreOptions;
use super::read::Trace;
use super::select::not_found;
use super::spans::NO_EVENT;
use crate::error::RestoreErrorKind;
use crate::json::JsonStr;
use crate::snapshot::Anchor;

/// The number of events that are kept, from the first one on.
pub(super) fn events_kept(
    trace: &Trace<'_>,
    options: &RestoreOptions,
) -> Result<usize, RestoreErrorKind> {
    let Some(id) = options.span_id.as_deref() else {
        return Ok(trace.events.len());
    };
    let anchor = options.anchor;
    let span = trace
        .spans
        .find(JsonStr::from_plain(id).body())
        .ok_or_else(|| not_found(id, anchor))?;
    let known = trace.spans.get(span);
    let place = if known.start == NO_EVENT && known.end == NO_EVENT {
        // A span of single events starts with the first and ends with the last of them.
        let mut places = (0..)
            .zip(&trace.events)
            .filter(|(_, event)| event.span == span)
            .map(|(place, _)| place);
        match anchor {
            Anchor::Before => places.next(),
            Anchor::After => places.last(),
        }
    } else {
        let place = if anchor == Anchor::Before {
            known.start
        } else {
            known.end
        };
        (place != NO_EVENT).then_some(place as usize)
    };
    match (place, anchor) {
        (None, _) => Err(not_found(id, anchor)),
        (Some(0), Anchor::Before) => Err(RestoreErrorKind::NothingBefore),
        (Some(place), Anchor::Before) => Ok(place),
        (Some(place), Anchor::After) => Ok(place + 1),
    }
}
