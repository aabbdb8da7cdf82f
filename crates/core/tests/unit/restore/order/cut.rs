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
    let mut trace = text::read(TraceText::shared(&trace), Origin::Lines, &mut warnings).unwrap();
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
        let meta: Value = serde_json::from_str(&format!("{{\"cuts\":{cuts_and_dumps}")).unwrap();
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
