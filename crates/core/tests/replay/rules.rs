//! Which recorded call answers which request, and when none does.

use std::sync::Arc;

use agent_rewind_core::model::{Flags, Kind, Outcome, RequestHash};
use agent_rewind_core::record::{Asked, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Answer, ReplaySource};
use agent_rewind_core::snapshot::{Provenance, Snapshot};

use super::support::{
    RECORDING, ask, begin, end, hash, in_memory, input, name, output, replayed, start, text, tool,
};

#[test]
fn occurrences_answer_once_in_order_of_start() {
    let live = start(None);
    let first = begin(&live, "q", None);
    let second = begin(&live, "q", None);
    // They end the other way round.
    end(&live, &second, output("2"));
    end(&live, &first, output("1"));
    let replay = start(Some(replayed(&live)));
    let answers: Vec<Answer> = (0..3).map(|_| ask(&replay, "q")).collect();
    assert_eq!(
        answers.iter().map(text).collect::<Vec<_>>(),
        ["1", "2", "not recorded"]
    );
    let ends: Vec<_> = answers
        .iter()
        .take(2)
        .map(|answer| answer.call.as_ref().unwrap().end)
        .collect();
    assert!(
        ends[0] > ends[1],
        "the recorded order of ends is told: {ends:?}"
    );
}

#[test]
fn an_inexact_request_is_answered_only_by_recordings_without_the_flag() {
    let asked = || Asked {
        kind: Kind::Tool,
        call_id: name("t"),
        hash: hash("q"),
        exact: false,
        request: None,
    };
    let live = start(None);
    assert_eq!(live.flags(), Flags::CURRENT);
    tool(&live, "q", output("1"));
    let snapshot = in_memory(&live);
    let over = |flags| start(Some(ReplaySource::of_tree(snapshot.tree(), flags)));

    let old = over(Flags::NONE);
    assert_eq!(text(&old.begin_call(asked(), None).answer), "1");
    // What it adds is recorded under the rules of its recording, in sub-agents too.
    assert_eq!(old.flags(), Flags::NONE);
    let agent = old.open_child(input("root/agent:a:0", "a", ""));
    assert_eq!(agent.flags(), Flags::NONE);

    let new = over(Flags::CURRENT);
    let begun = new.begin_call(asked(), None);
    assert_eq!(text(&begun.answer), "inexact");
    // The recorded call is used up by it, so that it is not carried over next to the live one.
    assert!(begun.answer.call.is_some());
    assert_eq!(new.unused(), Some((0, 0)));
    // A request that the recording does not contain is not recorded, whatever its hash covers.
    assert_eq!(text(&new.begin_call(asked(), None).answer), "not recorded");
    assert_eq!(text(&ask(&over(Flags::CURRENT), "q")), "1");
}

#[test]
fn kinds_have_journals_of_their_own() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let replay = start(Some(replayed(&live)));
    let asked = Asked {
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: hash("q"),
        exact: true,
        request: None,
    };
    let other = replay.begin_call(asked, None).answer;
    assert_eq!(text(&other), "not recorded");
    assert_eq!(text(&ask(&replay, "q")), "1");
}

#[test]
fn what_was_in_flight_or_could_not_be_kept_is_made_again() {
    let live = start(None);
    assert_eq!(text(&ask(&live, "open")), "no recording");
    tool(&live, "buried", Outcome::Tombstone(name("/a: a function")));
    let replay = start(Some(replayed(&live)));
    assert_eq!(text(&ask(&replay, "open")), "in flight");
    assert_eq!(text(&ask(&replay, "buried")), "tombstone");
}

#[test]
fn hashes_of_another_recorder_are_looked_up_beside_ours() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let mut root = (*live.dump()).clone();
    let mut call = (**root.generation.calls.get(0).unwrap()).clone();
    call.hash = RequestHash::from_json_str(name("1a2b3c"));
    root.generation.calls.set_mut(0, Arc::new(call));
    let snapshot = Snapshot::new(
        "p".into(),
        0.0,
        Arc::new(root),
        live.clock(),
        Provenance {
            trace_id: "t".into(),
            ..Provenance::default()
        },
    );
    let replay = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT)));
    assert!(replay.has_foreign_hashes());
    let answer = begin(&replay, "q", Some("1a2b3c")).answer;
    assert_eq!(text(&answer), "1");
    // The replay itself is recorded under our hash.
    assert!(matches!(
        replay.dump().generation.calls.get(0).unwrap().hash,
        RequestHash::Sha256(_)
    ));
}

#[test]
fn without_recording_a_run_still_replays_and_counts() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let options = RunOptions {
        recording: false,
        ..RECORDING
    };
    let replay = LiveFrame::start_run(input("root", "", ""), Some(replayed(&live)), options);
    let begun = begin(&replay, "q", None);
    assert_eq!(text(&begun.answer), "1");
    assert_eq!(begun.slot, None);
    let usage = agent_rewind_core::model::Usage {
        call_count: 1.0,
        ..Default::default()
    };
    let child = replay.open_child(input("root/agent:a:0", "a", ""));
    child.add_usage(&usage);
    assert!((replay.budget().aggregate.call_count - 1.0).abs() < f64::EPSILON);
    assert!(replay.dump().generation.children.is_empty());
}
