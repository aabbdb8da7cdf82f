//! Which recorded call answers which request, and which requests miss.

use std::sync::Arc;

use agent_rewind_core::model::{Flags, Kind, Outcome, RequestHash};
use agent_rewind_core::record::{CallInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Answer, ReplaySource};
use agent_rewind_core::snapshot::{Provenance, Snapshot};

use super::support::{
    RECORDING, ask, begin, end, hash, in_memory, input, name, output, replayed, start, text, tool,
};

#[test]
fn occurrences_answer_once_in_the_order_of_their_starts() {
    let live = start(None);
    let first = begin(&live, "q", None);
    let second = begin(&live, "q", None);
    // They end in the opposite order.
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
        "answers carry the recorded order of ends: {ends:?}"
    );
}

#[test]
fn an_inexact_request_is_answered_only_by_recordings_without_the_flag() {
    let inexact = || CallInput {
        within: None,
        kind: Kind::Tool,
        call_id: name("t"),
        hash: hash("q"),
        lane: None,
        exact: false,
        request: None,
    };
    let live = start(None);
    assert_eq!(live.flags(), Flags::CURRENT);
    tool(&live, "q", output("1"));
    let snapshot = in_memory(&live);
    let over = |flags| start(Some(ReplaySource::of_tree(snapshot.tree(), flags)));

    let old = over(Flags::NONE);
    assert_eq!(text(&old.begin_call(inexact(), None).answer), "1");
    // Additions are recorded under the rules of the recording, in sub-agents too.
    assert_eq!(old.flags(), Flags::NONE);
    let agent = old.open_child(input("root/agent:a:0", "a", ""));
    assert_eq!(agent.flags(), Flags::NONE);

    let new = over(Flags::CURRENT);
    let started = new.begin_call(inexact(), None);
    assert_eq!(text(&started.answer), "inexact");
    // The live call uses up the recorded one, which would otherwise be carried over next to it.
    assert!(started.answer.call.is_some());
    assert_eq!(new.unused(), Some((0, 0)));
    // A request that the recording does not contain is not recorded, whether or not its hash covers it.
    assert_eq!(
        text(&new.begin_call(inexact(), None).answer),
        "not recorded"
    );
    assert_eq!(text(&ask(&over(Flags::CURRENT), "q")), "1");
}

#[test]
fn each_kind_has_its_own_journal() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let replay = start(Some(replayed(&live)));
    let call = CallInput {
        within: None,
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: hash("q"),
        lane: None,
        exact: true,
        request: None,
    };
    let other = replay.begin_call(call, None).answer;
    assert_eq!(text(&other), "not recorded");
    assert_eq!(text(&ask(&replay, "q")), "1");
}

#[test]
fn calls_in_flight_and_tombstones_are_executed_again() {
    let live = start(None);
    assert_eq!(text(&ask(&live, "open")), "no recording");
    tool(&live, "buried", Outcome::Tombstone(name("/a: a function")));
    let replay = start(Some(replayed(&live)));
    assert_eq!(text(&ask(&replay, "open")), "in flight");
    assert_eq!(text(&ask(&replay, "buried")), "tombstone");
}

#[test]
fn hashes_of_another_recorder_are_looked_up_along_with_ours() {
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
fn a_run_without_recording_still_replays_and_counts_usage() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let options = RunOptions {
        recording: false,
        ..RECORDING
    };
    let replay = LiveFrame::start_run(input("root", "", ""), Some(replayed(&live)), options);
    let started = begin(&replay, "q", None);
    assert_eq!(text(&started.answer), "1");
    assert_eq!(started.slot, None);
    let usage = agent_rewind_core::model::Usage {
        call_count: 1.0,
        ..Default::default()
    };
    let child = replay.open_child(input("root/agent:a:0", "a", ""));
    child.add_usage(&usage);
    assert!((replay.budget().aggregate.call_count - 1.0).abs() < f64::EPSILON);
    assert!(replay.dump().generation.children.is_empty());
}
