//! Forks of recorded trees: the source is not changed, and the fork shares all unchanged frames with it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

use std::sync::Arc;

use agent_rewind_core::fork::{Change, NewOutcome, Target, fork};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{
    Call, CallData, Flags, Frame, Generation, Kind, Outcome, RequestHash, State, Value,
};

fn call(call_id: &str, start: u64) -> Arc<Call> {
    let output = Value::plain(JsonText::trusted("1".into()));
    Arc::new(Call {
        within: None,
        kind: Kind::Tool,
        hash: RequestHash::read(&"a".repeat(64)),
        call_id: JsonStr::from_plain(call_id),
        start,
        answered: None,
        end: Some(start + 1),
        outcome: Outcome::Output(output),
        request: None,
        data: CallData::default(),
        replays: None,
        carried_over: false,
        dropped: false,
    })
}

/// A frame with one call, which starts and ends inside it.
fn frame(call_id: &str, start: u64, children: Vec<Frame>) -> Frame {
    let mut generation = Generation::new(0, None, None);
    let inner = call(&format!("{call_id}/tool:t:0"), start + 1);
    generation.calls.push_back_mut(inner);
    generation.children = children.into_iter().map(Arc::new).collect();
    let mut frame = Frame::new(
        JsonStr::from_plain(call_id),
        JsonStr::from_plain("a"),
        generation,
    );
    frame.start = Some(start);
    frame.end = Some(start + 3);
    frame.state = State::Completed(Value::undefined());
    frame
}

fn change(call_id: &str) -> Change {
    Change {
        target: Target::CallId(JsonStr::from_plain(call_id)),
        occurrence: None,
        drop: false,
        outcome: None,
        memory: None,
    }
}

fn three_agents() -> Arc<Frame> {
    let children = ["x", "y", "z"].into_iter().zip([10, 20, 30]);
    let children = children.map(|(name, start)| frame(&format!("root/{name}"), start, Vec::new()));
    Arc::new(frame("root", 0, children.collect()))
}

#[test]
fn without_changes_the_tree_is_the_source() {
    let source = three_agents();
    assert!(Arc::ptr_eq(
        &source,
        &fork(&source, Flags::CURRENT, &[]).unwrap()
    ));
}

#[test]
fn frames_that_no_change_touches_are_shared() {
    let source = three_agents();
    let dropped = Change {
        drop: true,
        ..change("root/y/tool:t:0")
    };
    let fork = fork(&source, Flags::CURRENT, &[dropped]).unwrap();
    let (before, after) = (&source.generation.children, &fork.generation.children);
    assert_eq!(after.len(), 2, "the last agent started later");
    assert!(Arc::ptr_eq(before.get(0).unwrap(), after.get(0).unwrap()));
    let emptied = after.get(1).unwrap();
    assert!(emptied.is_running() && fork.is_running());
    let call = emptied.generation.calls.get(0).unwrap();
    assert_eq!((&call.outcome, call.end), (&Outcome::Pending, None));
    assert_eq!(before.len(), 3);
}

#[test]
fn deep_trees_are_forked_without_recursion() {
    let mut deepest = "root".to_owned();
    let mut names = vec![deepest.clone()];
    for _ in 1..1_000 {
        deepest.push_str("/a");
        names.push(deepest.clone());
    }
    let mut root = None;
    for name in names.iter().rev() {
        root = Some(frame(name, 0, root.into_iter().collect()));
    }
    let source = Arc::new(root.unwrap());
    let output = Value::plain(JsonText::trusted("2".into()));
    let answered = Change {
        outcome: Some(NewOutcome::Output(output.clone())),
        ..change(&format!("{deepest}/tool:t:0"))
    };
    let fork = fork(&source, Flags::CURRENT, &[answered]).unwrap();
    let mut last = &fork;
    while let Some(child) = last.generation.children.get(0) {
        assert!(last.is_running(), "a replay has to reach the change");
        last = child;
    }
    let call = last.generation.calls.get(0).unwrap();
    assert_eq!(call.outcome, Outcome::Output(output));
}

#[test]
fn an_error_names_the_change_and_the_known_names() {
    let error = fork(
        &three_agents(),
        Flags::CURRENT,
        &[change("root/x"), change("root/w")],
    )
    .unwrap_err();
    assert_eq!((error.change, error.field), (1, "at"));
    assert!(error.known.listed);
    let names: Vec<_> = error.known.names.iter().map(JsonStr::body).collect();
    assert_eq!(names.len(), 8);
    assert!(names.contains(&"root/x") && names.contains(&"root/x/tool:t:0"));
}
