//! Restoring a damaged trace returns a snapshot or a typed error.

use std::sync::Arc;

use agent_rewind_core::restore::{Origin, RestoreOptions, restore};
use agent_rewind_core::snapshot::Anchor;
use proptest::prelude::*;

use crate::support::{frames, options, trace_of};

#[derive(Debug, Clone)]
enum Change {
    Drop(usize),
    Swap(usize, usize),
    Double(usize),
    /// Truncates a line.
    Tear(usize, usize),
    /// Replaces a byte.
    Spoil(usize, usize, char),
    /// Copies the parent of another line.
    Adopt(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0..200_usize;
    prop_oneof![
        place.clone().prop_map(Change::Drop),
        (place.clone(), place.clone()).prop_map(|(one, other)| Change::Swap(one, other)),
        place.clone().prop_map(Change::Double),
        (place.clone(), 0..2_000_usize).prop_map(|(line, at)| Change::Tear(line, at)),
        (place.clone(), 0..2_000_usize, prop::char::range(' ', '~'))
            .prop_map(|(line, at, byte)| Change::Spoil(line, at, byte)),
        (place.clone(), place).prop_map(|(one, other)| Change::Adopt(one, other)),
    ]
}

fn apply(lines: &mut Vec<String>, change: &Change) {
    let count = lines.len();
    if count == 0 {
        return;
    }
    match *change {
        Change::Drop(line) => {
            lines.remove(line % count);
        }
        Change::Swap(one, other) => lines.swap(one % count, other % count),
        Change::Double(line) => lines.push(lines[line % count].clone()),
        Change::Tear(line, at) => {
            let line = &mut lines[line % count];
            let at = line.floor_char_boundary(at % (line.len() + 1));
            line.truncate(at);
        }
        Change::Spoil(line, at, byte) => {
            let line = &mut lines[line % count];
            *line = line
                .chars()
                .enumerate()
                .map(|(place, old)| if place == at { byte } else { old })
                .collect();
        }
        Change::Adopt(one, other) => {
            let parent_of = |line: &str| {
                let (_, rest) = line.split_once(r#""parentSpanId":""#)?;
                rest.split_once('"').map(|(parent, _)| parent.to_owned())
            };
            if let (Some(old), Some(new)) = (
                parent_of(&lines[one % count]),
                parent_of(&lines[other % count]),
            ) {
                let line = &mut lines[one % count];
                *line = line.replace(
                    &format!(r#""parentSpanId":"{old}""#),
                    &format!(r#""parentSpanId":"{new}""#),
                );
            }
        }
    }
}

fn check(text: String, options: &RestoreOptions, origin: Origin) {
    let Ok(snapshot) = restore(Arc::new(text), origin, options) else {
        return;
    };
    let found = frames(&snapshot);
    for (frame, parent) in &found {
        let path = frame.call_id.body();
        let Some(parent) = *parent else {
            assert!(path.starts_with("root"), "{path}");
            continue;
        };
        let above = &found[parent].0;
        assert!(path.starts_with(above.call_id.body()), "{path}");
        assert!(
            above.is_running() || !frame.is_running(),
            "{path} runs in a frame that ended"
        );
        let starts: Vec<u64> = frame
            .generation
            .calls
            .iter()
            .map(|call| call.start)
            .collect();
        assert!(starts.is_sorted(), "{path}: {starts:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_traces(
        scenario in prop::sample::select(vec!["b-tool-loop", "c-nested-3", "d-parallel-5", "f-reborn-3", "g-child-fails"]),
        changes in prop::collection::vec(change(), 0..12),
        target in 0..120_usize,
        before in any::<bool>(),
        numbered in any::<bool>(),
    ) {
        let mut lines: Vec<String> = trace_of(scenario).lines().map(str::to_owned).collect();
        if numbered {
            for (place, line) in lines.iter_mut().enumerate() {
                *line = line.replacen('{', &format!(r#"{{"_seq":{place},"#), 1);
            }
        }
        let span = lines.get(target).and_then(|line| line.split_once(r#""spanId":""#)).and_then(|(_, rest)| rest.get(..16).map(str::to_owned));
        for change in &changes {
            apply(&mut lines, change);
        }
        let anchor = if before { Anchor::Before } else { Anchor::After };
        let text = lines.join("\n");
        check(text.clone(), &RestoreOptions { span_id: span, anchor, ..options() }, Origin::Lines);
        check(text.clone(), &options(), Origin::Lines);
        check(format!("[{}]", text.replace('\n', ",")), &options(), Origin::Lines);
        check(text, &options(), Origin::Events);
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(text.clone(), &options(), Origin::Lines);
        check(text, &options(), Origin::Events);
    }

    #[test]
    fn any_json_like_text(text in r#"(\[|\{|\}|\]|"|\\|,|:|type|trace|spanId|agent:start|null|1|\n){0,60}"#) {
        check(text.clone(), &options(), Origin::Lines);
        check(text, &options(), Origin::Events);
    }
}
