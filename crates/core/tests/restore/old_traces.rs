//! Traces of other recorders: the numbers of children and the journal continue over all generations.

use agent_rewind_core::hash::input_hash;
use agent_rewind_core::model::{Kind, Outcome};
use agent_rewind_core::snapshot::Anchor;

use crate::support::{
    Log, call_ids, calls, codes, cut, frame, lines, memory, memory_text, outputs, trace_of,
};

#[test]
fn generations_are_merged() {
    let snapshot = lines(&trace_of("f-reborn-3"));
    let root = &snapshot.root;
    assert_eq!((root.generation.id, root.earlier.len()), (2, 0));
    assert_eq!(root.generation.calls.len(), 3);
    let at_start = root.generation.memory.as_ref().unwrap();
    assert_eq!(
        memory_text(at_start),
        r#"{"attempts":2,"log":["try 0","try 1"]}"#
    );
    assert_eq!(
        memory(root),
        r#"{"attempts":3,"log":["try 0","try 1","try 2"]}"#
    );
    let children: Vec<&str> = root
        .generation
        .children
        .iter()
        .map(|child| child.call_id.body())
        .collect();
    assert_eq!(
        children,
        [0, 1, 2].map(|number| format!("root/agent:retry:0/agent:helper:{number}"))
    );
    let prompts: Vec<String> = calls(root)
        .iter()
        .map(|call| call.call_id.body().to_owned())
        .collect();
    assert_eq!(
        prompts,
        [0, 1, 2].map(|number| format!("root/agent:retry:0/prompt:fake-retry:{number}"))
    );
}

#[test]
fn a_reborn_agent_is_at_the_start_of_its_next_generation() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", r#"{"n":0}"#)
        .turn("t", "a.g0", "h", "x");
    log.event("agent:reborn", "r", "a.g0", r#""generationId":0"#)
        .generation_end("a", 0, "reborn", r#"{"k":1}"#);
    let snapshot = log.restore();
    let generation = &snapshot.root.generation;
    assert_eq!(generation.id, 1);
    assert_eq!(
        memory_text(generation.memory.as_ref().unwrap()),
        r#"{"k":1}"#
    );
    assert_eq!(
        generation.props.as_ref().map(|props| props.text.as_str()),
        Some(r#"{"n":0}"#)
    );
    assert_eq!(
        outputs(&snapshot.root, &Kind::Prompt),
        ["h"],
        "the journal contains all generations"
    );
    assert_eq!(memory(&snapshot.root), r#"{"k":1}"#);
}

#[test]
fn memory_at_the_start_is_empty_unless_the_run_was_continued() {
    let snapshot = lines(&trace_of("a-single-turn"));
    assert_eq!(
        memory_text(snapshot.root.generation.memory.as_ref().unwrap()),
        "{}"
    );
    let mut log = Log::old();
    log.event(
        "runWith:start",
        "run",
        "",
        r#""restoration":{ "isRestored": true }"#,
    )
    .agent("a", "run", "a", "{}");
    assert!(log.restore().root.generation.memory.is_none());
}

#[test]
fn calls_of_a_batch_have_its_order_and_position() {
    let snapshot = lines(&trace_of("b-tool-loop"));
    let tools: Vec<(String, u64, Option<u64>)> = calls(&snapshot.root)
        .iter()
        .filter(|call| call.kind == Kind::Tool)
        .map(|call| {
            (
                call.call_id.body().rsplit('/').next().unwrap().to_owned(),
                call.start,
                call.end,
            )
        })
        .collect();
    assert_eq!(
        tools,
        [
            ("tool:search:0".to_owned(), 9, Some(10)),
            ("tool:fetch:0".to_owned(), 16, Some(17)),
            ("tool:search:1".to_owned(), 16, Some(17)),
            ("tool:calc:0".to_owned(), 23, Some(24)),
        ]
    );
}

#[test]
fn failures_are_restored() {
    let snapshot = lines(&trace_of("g-child-fails"));
    let root = &snapshot.root;
    let failure = calls(root)
        .into_iter()
        .find(|call| matches!(call.outcome, Outcome::Failure { .. }))
        .unwrap();
    assert_eq!(failure.hash.to_string(), "f4b6d39021035");
    let Outcome::Failure { error, stopped, .. } = &failure.outcome else {
        unreachable!();
    };
    assert!(
        error
            .as_str()
            .starts_with(r#"{"name":"RangeError","message":"upstream 503""#)
    );
    assert!(!stopped);
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", "{}")
        .event("turn:start", "t", "a.g0", "");
    log.event(
        "turn:end",
        "t",
        "a.g0",
        r#""success":false,"error":{"name":"E","message":"m"},"contentHash":"h""#,
    );
    log.agent_fails("a", "run", r#"{"name":"E","message":"m"}"#);
    let failed = calls(&log.restore().root);
    assert!(matches!(
        failed[0].outcome,
        Outcome::Failure { stopped: true, .. }
    ));
}

#[test]
fn an_equal_prompt_is_another_occurrence() {
    let snapshot = lines(&trace_of("m-same-prompt-thrice"));
    let answers: Vec<String> = calls(&snapshot.root)
        .iter()
        .map(|call| match &call.outcome {
            Outcome::Output(value) => value.text.as_str().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(answers.len(), 3);
    for (answer, colour) in answers.iter().zip(["blue", "green", "red"]) {
        assert!(answer.contains(colour), "{answers:?}");
    }
}

#[test]
fn the_input_hash_comes_from_the_props() {
    let snapshot = lines(&trace_of("d-parallel-5"));
    let child = frame(&snapshot, "root/agent:parent:0/agent:shard:2");
    let props = child
        .generation
        .props
        .as_ref()
        .unwrap()
        .text
        .as_str()
        .to_owned();
    assert_eq!(
        child.input_hash,
        Some(input_hash(&props, None).unwrap().into())
    );
    let mut log = Log::old();
    log.run()
        .event("agent:start", "a", "run", r#""agentId":"a""#);
    assert_eq!(
        log.restore().root.input_hash,
        Some(input_hash("{}", None).unwrap().into()),
        "missing props equal empty props"
    );
}

#[test]
fn a_turn_without_an_end_is_left_out() {
    let snapshot = cut(
        &trace_of("a-single-turn"),
        "748f0b9e026fdc45",
        Anchor::Before,
    );
    assert!(calls(&snapshot.root).is_empty());
    assert_eq!(codes(&snapshot), [""; 0]);
}

#[test]
fn a_call_without_a_hash_is_left_out_with_a_warning() {
    let text = trace_of("a-single-turn").replace(r#""contentHash":"c9b9e6d805159","#, "");
    let snapshot = lines(&text);
    assert!(calls(&snapshot.root).is_empty());
    assert_eq!(codes(&snapshot), ["missing-hash"]);
    assert_eq!(snapshot.warnings[0].line, Some(9));
    assert_eq!(
        snapshot.warnings[0].span_id.as_deref(),
        Some("321c636aea4e77bd")
    );
    assert_eq!(call_ids(&snapshot), ["root/agent:solo:0"]);
}

#[test]
fn a_cut_keeps_concurrent_work_of_other_agents() {
    // Shard 1 had ended. The others were running, and their finished calls are kept.
    let snapshot = cut(&trace_of("d-parallel-5"), "f75ed94dc4fe9531", Anchor::After);
    let parent = frame(&snapshot, "root/agent:parent:0");
    let states: Vec<&str> = parent
        .generation
        .children
        .iter()
        .map(|child| crate::support::status(child))
        .collect();
    assert_eq!(
        states,
        ["running", "completed", "running", "running", "running"]
    );
}
