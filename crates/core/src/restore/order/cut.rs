//! Finds the position up to which the sorted events are restored.

use super::select::not_found;
use crate::json::JsonStr;
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
    let Some(id) = options.span_id.as_deref() else {
        return Ok(trace.events.len());
    };
    let anchor = options.anchor;
    let span = trace
        .spans
        .find(JsonStr::from_plain(id).body())
        .ok_or_else(|| not_found(id, anchor))?;
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
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use serde_json::Value;

    use super::*;
    use crate::restore::options::Origin;
    use crate::restore::order::{select, sort};
    use crate::restore::read::fields::TraceText;
    use crate::restore::read::text;
    use crate::restore::read::warnings::Warnings;

    fn kept(text: &str, options: &RestoreOptions) -> usize {
        let trace = Arc::new(text.to_owned());
        let mut warnings = Warnings::default();
        let mut trace =
            text::read(TraceText::shared(&trace), Origin::Lines, &mut warnings).unwrap();
        select::select(&mut trace, options, &mut warnings).unwrap();
        sort::sort(&mut trace, &mut warnings);
        events_kept(&trace, options).unwrap()
    }

    /// The cuts that are described in the files of the recorded traces.
    #[test]
    fn keeps_the_expected_number_of_events() {
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/traces");
        let mut cuts = 0;
        for scenario in fs::read_dir(traces).unwrap() {
            let path = scenario.unwrap().path();
            let text = fs::read_to_string(path.join("trace.jsonl")).unwrap();
            let meta = fs::read_to_string(path.join("meta.json")).unwrap();
            // The memories before the cuts contain values that serde_json cannot represent.
            let (_, cuts_and_dumps) = meta.split_once("\"cuts\":").unwrap();
            let meta: Value =
                serde_json::from_str(&format!("{{\"cuts\":{cuts_and_dumps}")).unwrap();
            for cut in meta["cuts"].as_array().unwrap() {
                let chosen = &cut["options"];
                let anchor = Anchor::from_name(chosen["anchor"].as_str().unwrap_or("after"));
                let options = RestoreOptions {
                    span_id: chosen["spanId"].as_str().map(str::to_owned),
                    anchor: anchor.unwrap(),
                    trace_id: None,
                    metadata: None,
                    now_ms: 0.0,
                };
                let wanted = cut["eventsKept"]
                    .as_u64()
                    .unwrap_or(text.lines().count() as u64);
                assert_eq!(
                    kept(&text, &options) as u64,
                    wanted,
                    "{} {chosen}",
                    path.display()
                );
                cuts += 1;
            }
        }
        assert!(cuts >= 50);
    }
}
