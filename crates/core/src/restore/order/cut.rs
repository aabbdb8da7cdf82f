//! Finds the position up to which the sorted events are restored.

use super::select::{find_target, not_found};
use crate::restore::error::RestoreErrorKind;
use crate::restore::options::RestoreOptions;
use crate::restore::read::spans::NO_EVENT;
use crate::restore::read::trace::Trace;
use crate::snapshot::Anchor;

/// The number of events to keep, counted from the first one.
pub(crate) fn events_kept(
    trace: &Trace<'_>,
    options: &RestoreOptions,
) -> Result<usize, RestoreErrorKind> {
    let (Some(span), Some(id)) = (find_target(trace, options)?, &options.span_id) else {
        return Ok(trace.events.len());
    };
    let anchor = options.anchor;
    let known = trace.spans.get(span);
    let position = if known.start == NO_EVENT && known.end == NO_EVENT {
        // A span without start and end events starts with its first event and ends with its last.
        let mut positions = (0..)
            .zip(&trace.events)
            .filter(|(_, event)| event.span == span)
            .map(|(position, _)| position);
        match anchor {
            Anchor::Before => positions.next(),
            Anchor::After => positions.last(),
        }
    } else {
        let position = if anchor == Anchor::Before {
            known.start
        } else {
            known.end
        };
        (position != NO_EVENT).then_some(position as usize)
    };
    match (position, anchor) {
        (None, _) => Err(not_found(id, anchor)),
        (Some(0), Anchor::Before) => Err(RestoreErrorKind::NothingBefore),
        (Some(position), Anchor::Before) => Ok(position),
        (Some(position), Anchor::After) => Ok(position + 1),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/order/cut.rs"]
mod tests;
