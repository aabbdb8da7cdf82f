//! Calls and frames that are asked inside a call belong to it, and are used up with it.

use agent_rewind_core::fork::{Change, NewOutcome, Target, fork};
use agent_rewind_core::json::JsonStr;
use agent_rewind_core::model::{Call, Flag, Flags, Frame, Kind, Outcome, State};
use agent_rewind_core::record::{CallInput, FrameInput, LiveFrame, StartedCall};
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::snapshot::write_snapshot;

use super::support::{
    end, failure, hash, in_memory, input, name, output, release, replayed, start, text, value,
};

fn begin(frame: &LiveFrame, call_id: &str, request: &str, within: Option<&str>) -> StartedCall {
    let call = CallInput {
        kind: Kind::Tool,
        call_id: name(call_id),
        within: within.map(name),
        hash: hash(request),
        lane: None,
        exact: true,
        request: None,
    };
    frame.begin_call(call, None)
}

fn ask(frame: &LiveFrame, call_id: &str, request: &str, within: Option<&str>, json: &str) {
    end(frame, &begin(frame, call_id, request, within), output(json));
}

fn open(frame: &LiveFrame, call_id: &str, agent: &str, within: Option<&str>) -> LiveFrame {
    frame.open_child(FrameInput {
        within: within.map(name),
        ..input(call_id, agent, "x")
    })
}

/// A tool that asks "q" and opens an agent that asks "q", then "q" again outside.
fn with_inside() -> LiveFrame {
    let live = start(None);
    let outer = begin(&live, "root/tool:t:0", "t", None);
    ask(&live, "root/tool:q:0", "q", Some("root/tool:t:0"), "1");
    let agent = open(&live, "root/agent:a:0", "a", Some("root/tool:t:0"));
    ask(&agent, "root/agent:a:0/tool:q:0", "q", None, "2");
    agent.end(State::Completed(value("2")));
    end(&live, &outer, output("\"t\""));
    ask(&live, "root/tool:q:1", "q", None, "3");
    live
}

fn calls(frame: &Frame) -> Vec<(String, Option<String>, bool)> {
    let of = |call: &Call| {
        let within = call.within.as_ref().map(|outer| outer.body().to_owned());
        (call.call_id.body().to_owned(), within, call.carried_over)
    };
    frame.generation.calls.iter().map(|call| of(call)).collect()
}

#[test]
fn it_is_used_up_with_the_recorded_answer_of_the_call() {
    let source = replayed(&with_inside());
    let replay = start(Some(source));
    let outer = begin(&replay, "root/tool:t:0", "t", None);
    let included = outer.included.clone().unwrap();
    assert_eq!((text(&outer.answer), included.calls), ("\"t\"", 2));
    let names: Vec<_> = included.names.iter().map(JsonStr::body).collect();
    assert_eq!(names, ["tool:q:0", "agent:a:0"]);
    release(&replay, &outer);
    let after = begin(&replay, "root/tool:q:1", "q", None);
    assert_eq!(text(&after.answer), "3");
    assert!(!replay.release_call(after.slot, after.answer.call.as_ref().unwrap().end));
    assert_eq!(replay.unused(), Some((0, 0)));
    // Neither the call nor the frame inside answers outside.
    assert_eq!(
        text(&begin(&replay, "root/tool:q:2", "q", None).answer),
        "not recorded"
    );
    assert_eq!(
        open(&replay, "root/agent:a:1", "a", None)
            .entry()
            .map(|_| ()),
        None
    );
}

#[test]
fn the_dump_of_a_replay_is_that_of_the_recorded_run() {
    let live = with_inside();
    let replay = start(Some(replayed(&live)));
    let outer = begin(&replay, "root/tool:t:0", "t", None);
    let early = in_memory(&replay);
    release(&replay, &outer);
    release(&replay, &begin(&replay, "root/tool:q:1", "q", None));
    let recorded = write_snapshot(&in_memory(&live));
    assert_eq!(write_snapshot(&in_memory(&replay)), recorded);
    // Before the answer is returned, everything inside is still in the earlier recording only.
    let carried = calls(early.tree());
    assert_eq!(carried.iter().filter(|(.., carried)| *carried).count(), 2);
    let again = start(Some(ReplaySource::of_tree(early.tree(), Flags::CURRENT)));
    assert_eq!(
        begin(&again, "root/tool:t:0", "t", None)
            .included
            .unwrap()
            .calls,
        2
    );
}

#[test]
fn it_answers_a_new_execution_of_the_call_at_any_depth() {
    let live = start(None);
    let _open = begin(&live, "root/tool:t:0", "t", None);
    let inner = begin(&live, "root/tool:i:0", "i", Some("root/tool:t:0"));
    ask(&live, "root/tool:q:0", "q", Some("root/tool:i:0"), "1");
    end(&live, &inner, output("2"));
    let half = begin(&live, "root/tool:i:1", "j", Some("root/tool:t:0"));
    assert!(half.included.is_none());
    ask(&live, "root/tool:q:1", "q", Some("root/tool:i:1"), "3");

    for source in [replayed(&live), {
        // A resumed run that stops before it reaches the inside has it all.
        let resumed = start(Some(replayed(&live)));
        assert_eq!(
            text(&begin(&resumed, "root/tool:t:0", "t", None).answer),
            "in flight"
        );
        replayed(&resumed)
    }] {
        let resumed = start(Some(source));
        let outer = begin(&resumed, "root/tool:t:0", "t", None);
        assert_eq!(text(&outer.answer), "in flight");
        assert_eq!(
            text(&begin(&resumed, "x", "q", Some("root/tool:t:0")).answer),
            "not recorded"
        );
        let inner = begin(&resumed, "root/tool:i:0", "i", Some("root/tool:t:0"));
        assert_eq!(
            (text(&inner.answer), inner.included.clone().unwrap().calls),
            ("2", 1)
        );
        release(&resumed, &inner);
        let half = begin(&resumed, "root/tool:i:1", "j", Some("root/tool:t:0"));
        assert_eq!(text(&half.answer), "in flight");
        let last = begin(&resumed, "root/tool:q:1", "q", Some("root/tool:i:1"));
        assert_eq!(text(&last.answer), "3");
        assert_eq!(resumed.unused(), Some((0, 0)));
    }
}

#[test]
fn parallel_calls_have_their_own_insides() {
    let live = start(None);
    let [a, b] = ["a", "b"].map(|tool| begin(&live, &format!("root/tool:{tool}:0"), tool, None));
    // The inside of the second call comes first.
    ask(&live, "root/tool:q:0", "q", Some("root/tool:b:0"), "2");
    ask(&live, "root/tool:q:1", "q", Some("root/tool:a:0"), "1");
    let _ = (a, b);
    let resumed = start(Some(replayed(&live)));
    for (tool, answer) in [("a", "1"), ("b", "2")] {
        let call_id = format!("root/tool:{tool}:0");
        begin(&resumed, &call_id, tool, None);
        let inner = begin(&resumed, "root/tool:q:0", "q", Some(&call_id));
        assert_eq!(text(&inner.answer), answer);
    }
}

#[test]
fn what_a_new_execution_did_not_ask_goes_with_the_old_one() {
    let live = start(None);
    let _open = begin(&live, "root/tool:t:0", "t", None);
    ask(&live, "root/tool:q:0", "q", Some("root/tool:t:0"), "1");
    ask(&live, "root/tool:q:1", "r", Some("root/tool:t:0"), "2");
    for (outcome, kept) in [(output("3"), 2), (failure(), 3)] {
        let resumed = start(Some(replayed(&live)));
        let outer = begin(&resumed, "root/tool:t:0", "t", None);
        release(
            &resumed,
            &begin(&resumed, "root/tool:q:0", "q", Some("root/tool:t:0")),
        );
        end(&resumed, &outer, outcome);
        assert_eq!(calls(in_memory(&resumed).tree()).len(), kept);
    }
}

#[test]
fn a_changed_program_that_uses_a_recorded_call_id_loses_nothing() {
    let live = with_inside();
    let resumed = start(Some(replayed(&live)));
    ask(&resumed, "root/tool:q:0", "new", None, "4");
    let other = open(&resumed, "root/agent:a:0", "b", None);
    other.end(State::Completed(value("5")));
    release(&resumed, &begin(&resumed, "root/tool:t:0", "t", None));
    let tree = in_memory(&resumed);
    let mut names: Vec<_> = calls(tree.tree())
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    names.extend(
        tree.tree()
            .generation
            .children
            .iter()
            .map(|child| child.call_id.body().to_owned()),
    );
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), count), (6, 6), "{names:?}");
    let again = start(Some(replayed(&resumed)));
    assert_eq!(
        begin(&again, "root/tool:t:0", "t", None)
            .included
            .unwrap()
            .calls,
        2
    );
}

#[test]
fn recordings_without_the_flag_keep_the_flat_rule() {
    let snapshot = in_memory(&with_inside());
    let replay = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::NONE)));
    assert!(!replay.flags().has(Flag::InnerCalls));
    let outer = begin(&replay, "root/tool:t:0", "t", None);
    assert!(outer.included.is_none());
    assert_eq!(
        text(&begin(&replay, "root/tool:q:0", "q", None).answer),
        "1"
    );
    assert!(open(&replay, "root/agent:a:0", "a", None).entry().is_some());
}

#[test]
fn a_call_inside_itself_ends_nothing() {
    let live = start(None);
    ask(&live, "root/tool:a:0", "a", Some("root/tool:b:0"), "1");
    ask(&live, "root/tool:b:0", "b", Some("root/tool:a:0"), "2");
    ask(&live, "root/tool:c:0", "c", Some("root/tool:c:0"), "3");
    let snapshot = in_memory(&live);
    let source = ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT);
    for position in 0..3 {
        assert!(source.inside(position).is_some());
    }
    for call_id in ["root/tool:a:0", "root/tool:c:0"] {
        for drop in [true, false] {
            let outcome = (!drop).then(|| NewOutcome::Output(value("4")));
            fork(
                snapshot.tree(),
                Flags::CURRENT,
                &[change(call_id, drop, outcome)],
            )
            .unwrap();
        }
    }
}

fn change(call_id: &str, drop: bool, outcome: Option<NewOutcome>) -> Change {
    Change {
        target: Target::CallId(name(call_id)),
        occurrence: None,
        drop,
        outcome,
        memory: None,
    }
}

#[test]
fn a_fork_drops_it_with_the_call() {
    let snapshot = in_memory(&with_inside());
    let forked = fork(
        snapshot.tree(),
        Flags::CURRENT,
        &[change("root/tool:t:0", true, None)],
    )
    .unwrap();
    let replay = start(Some(ReplaySource::of_tree(&forked, Flags::CURRENT)));
    assert_eq!(
        text(&begin(&replay, "root/tool:t:0", "t", None).answer),
        "in flight"
    );
    let inner = begin(&replay, "root/tool:q:0", "q", Some("root/tool:t:0"));
    assert_eq!(text(&inner.answer), "in flight");
    let agent = open(&replay, "root/agent:a:0", "a", Some("root/tool:t:0"));
    let inner = begin(&agent, "root/agent:a:0/tool:q:0", "q", None);
    assert_eq!(text(&inner.answer), "not recorded");
}

#[test]
fn a_fork_that_edits_the_call_keeps_it_included() {
    let snapshot = in_memory(&with_inside());
    let edited = Some(NewOutcome::Output(value("\"new\"")));
    let forked = fork(
        snapshot.tree(),
        Flags::CURRENT,
        &[change("root/tool:t:0", false, edited)],
    )
    .unwrap();
    let replay = start(Some(ReplaySource::of_tree(&forked, Flags::CURRENT)));
    let outer = begin(&replay, "root/tool:t:0", "t", None);
    assert_eq!(
        (text(&outer.answer), outer.included.unwrap().calls),
        ("\"new\"", 2)
    );
    assert_eq!(
        text(&begin(&replay, "root/tool:q:0", "q", None).answer),
        "3"
    );
}

#[test]
fn a_fork_that_changes_something_inside_executes_the_call_again() {
    let snapshot = in_memory(&with_inside());
    for call_id in ["root/tool:q:0", "root/agent:a:0/tool:q:0"] {
        for drop in [true, false] {
            let outcome = (!drop).then(|| NewOutcome::Output(value("7")));
            let forked = fork(
                snapshot.tree(),
                Flags::CURRENT,
                &[change(call_id, drop, outcome)],
            )
            .unwrap();
            let replay = start(Some(ReplaySource::of_tree(&forked, Flags::CURRENT)));
            let outer = begin(&replay, "root/tool:t:0", "t", None);
            assert_eq!(text(&outer.answer), "in flight", "{call_id}");
            let expected = if drop { "in flight" } else { "7" };
            let inner = begin(&replay, "root/tool:q:0", "q", Some("root/tool:t:0"));
            let agent = open(&replay, "root/agent:a:0", "a", Some("root/tool:t:0"));
            let changed = if call_id == "root/tool:q:0" {
                inner
            } else {
                assert_eq!(text(&inner.answer), "1");
                begin(&agent, call_id, "q", None)
            };
            assert_eq!(text(&changed.answer), expected, "{call_id}");
        }
    }
    // With its own new outcome, the call returns that.
    let both = [
        change("root/tool:q:0", false, Some(NewOutcome::Output(value("7")))),
        change("root/tool:t:0", false, Some(NewOutcome::Output(value("8")))),
    ];
    let forked = fork(snapshot.tree(), Flags::CURRENT, &both).unwrap();
    let replay = start(Some(ReplaySource::of_tree(&forked, Flags::CURRENT)));
    assert_eq!(
        text(&begin(&replay, "root/tool:t:0", "t", None).answer),
        "8"
    );
    assert!(matches!(
        forked.generation.calls.get(1).unwrap().outcome,
        Outcome::Output(_)
    ));
}
