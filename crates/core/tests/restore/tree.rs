//! The frame tree: frames follow the parents of spans, and calls belong to the nearest agent.

use agent_rewind_core::model::{Kind, State};
use agent_rewind_core::snapshot::{Anchor, SnapshotSource};

use crate::support::{
    Log, at, call_ids, calls, codes, cut, frame, lines, options, outputs, status, try_lines,
};

#[test]
fn a_single_agent_is_the_root() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "solo", "{}")
        .turn("t", "a.g0", "h", "x")
        .agent_end("a", "run", "1")
        .run_end(r#""success":true"#);
    let snapshot = log.restore();
    assert_eq!(call_ids(&snapshot), ["root/agent:solo:0"]);
    assert_eq!(snapshot.process_id, "restore:latest:1700000000000");
    assert_eq!(snapshot.provenance.trace_id, "t1");
    assert_eq!(
        (
            snapshot.provenance.span_id.as_deref(),
            snapshot.provenance.anchor
        ),
        (None, None)
    );
    assert_eq!(snapshot.provenance.source, Some(SnapshotSource::Restore));
    let cut = cut(&log.text(), "t", Anchor::After);
    assert_eq!(cut.process_id, "restore:t:1700000000000");
    assert_eq!(
        (cut.provenance.span_id.as_deref(), cut.provenance.anchor),
        (Some("t"), Some(Anchor::After))
    );
}

#[test]
fn a_bare_agent_is_its_own_root() {
    let mut log = Log::old();
    log.agent("a", "", "bare", "{}")
        .turn("t", "a.g0", "h", "x")
        .agent_end("a", "", "1");
    let snapshot = log.restore();
    assert_eq!(call_ids(&snapshot), ["root/agent:bare:0"]);
    assert_eq!(codes(&snapshot), [""; 0]);
}

#[test]
fn other_calls_at_the_root_keep_the_frame_of_the_run() {
    let with = |more: &dyn Fn(&mut Log)| {
        let mut log = Log::own();
        log.run()
            .agent("a", "run", "solo", "{}")
            .agent_end("a", "run", "1");
        more(&mut log);
        log.restore()
    };
    let second_agent = with(&|log| {
        log.agent("b", "run", "solo", "{}")
            .agent_end("b", "run", "2");
    });
    assert_eq!(
        call_ids(&second_agent),
        ["root", "root/agent:solo:0", "root/agent:solo:1"]
    );
    assert_eq!(second_agent.root.agent_id.body(), "");
    let tool = with(&|log| {
        log.event(
            "tool:call:start",
            "c",
            "run",
            r#""toolName":"x","journalCallId":"root/tool:x:0","contentHash":"h""#,
        );
    });
    assert_eq!(call_ids(&tool), ["root", "root/agent:solo:0"]);
    assert_eq!(calls(&tool.root).len(), 1);
    let memory = with(&|log| {
        log.run_end(r#""success":true,"result":7,"memory":{"k":1}"#);
    });
    assert_eq!(call_ids(&memory), ["root", "root/agent:solo:0"]);
    assert_eq!(crate::support::memory(&memory.root), r#"{"k":1}"#);
    assert_eq!(status(&memory.root), "completed");
    let usage = with(&|log| {
        log.event("budget:update", "u", "run", r#""delta":{"costs":{"usd":3},"items":[{"type":"tool","name":"x","costs":{"usd":3},"quantity":1,"unit":"call"}]}"#);
    });
    assert_eq!(call_ids(&usage), ["root", "root/agent:solo:0"]);
    let nothing = with(&|log| {
        log.run_end(r#""success":false,"error":{"name":"E","message":"m"},"memory":{}"#);
    });
    assert_eq!(call_ids(&nothing), ["root/agent:solo:0"]);
}

#[test]
fn a_run_without_agents_is_restored_if_it_has_calls() {
    let mut log = Log::own();
    log.run().event(
        "call:start",
        "c",
        "run",
        r#""kind":"http","name":"GET","callId":"root/http:GET:0","contentHash":"h""#,
    );
    log.event("call:end", "c", "run", r#""kind":"http","name":"GET","callId":"root/http:GET:0","contentHash":"h","success":true,"output":1"#);
    let snapshot = log.restore();
    assert_eq!(call_ids(&snapshot), ["root"]);
    assert_eq!(calls(&snapshot.root)[0].kind.name(), "http");
}

#[test]
fn parallel_agents_are_siblings_and_unfinished_ones_are_running() {
    let mut log = Log::old();
    log.run().agent("p", "run", "parent", "{}");
    for index in 0..5 {
        log.agent(
            &format!("c{index}"),
            "p.g0",
            "shard",
            &format!(r#"{{"i":{index}}}"#),
        );
    }
    // They end in a different order than they started.
    for index in [3, 1] {
        log.turn(
            &format!("t{index}"),
            &format!("c{index}.g0"),
            &format!("h{index}"),
            "x",
        );
        log.agent_end(&format!("c{index}"), "p.g0", &index.to_string());
    }
    let snapshot = log.restore();
    let children: Vec<(&str, String)> = snapshot
        .root
        .generation
        .children
        .iter()
        .map(|child| (status(child), child.call_id.body().to_owned()))
        .collect();
    let wanted = ["running", "completed", "running", "completed", "running"];
    for (index, (status, call_id)) in children.iter().enumerate() {
        assert_eq!(*status, wanted[index]);
        assert_eq!(*call_id, format!("root/agent:parent:0/agent:shard:{index}"));
    }
    assert_eq!(
        outputs(&snapshot.root.generation.children[3], &Kind::Prompt),
        ["h3"]
    );
}

#[test]
fn a_call_belongs_to_the_nearest_agent_above_it() {
    let mut log = Log::old();
    log.run().agent("a", "run", "outer", "{}");
    log.event("promptAgent:start", "p", "a.g0", "")
        .event("tools:execute:start", "b", "p", "");
    log.event("custom:span:start", "s", "b", r#""name":"n""#)
        .agent("c", "s", "inner", "{}");
    log.event("custom:span:start", "s2", "c", r#""name":"n""#)
        .turn("t", "s2", "of-inner", "x");
    log.agent_end("c", "s", "1")
        .turn("t2", "s", "of-outer", "x");
    let snapshot = log.restore();
    assert_eq!(
        outputs(&frame(&snapshot, "root/agent:outer:0"), &Kind::Prompt),
        ["of-outer"]
    );
    assert_eq!(
        outputs(
            &frame(&snapshot, "root/agent:outer:0/agent:inner:0"),
            &Kind::Prompt
        ),
        ["of-inner"]
    );
}

#[test]
fn the_end_of_a_parent_fails_its_running_children() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "parent", "{}")
        .agent("b", "a.g0", "child", "{}")
        .agent("c", "b.g0", "grandchild", "{}");
    log.turn("t", "c.g0", "h", "x")
        .agent("d", "a.g0", "done", "{}")
        .agent_end("d", "a.g0", "1");
    log.agent_end("a", "run", "2");
    let snapshot = log.restore();
    let error = |call_id: &str| match &frame(&snapshot, call_id).state {
        State::Failed(Some(error)) => error.as_str().to_owned(),
        other => panic!("{call_id}: {other:?}"),
    };
    let child = "root/agent:parent:0/agent:child:0";
    assert!(error(child).contains(r#"its parent agent \"parent\" ended"#));
    assert!(error(&format!("{child}/agent:grandchild:0")).contains(r#"\"child\""#));
    assert_eq!(
        outputs(
            &frame(&snapshot, &format!("{child}/agent:grandchild:0")),
            &Kind::Prompt
        ),
        ["h"]
    );
    assert_eq!(
        status(&frame(&snapshot, "root/agent:parent:0/agent:done:0")),
        "completed"
    );
    assert_eq!(codes(&snapshot), [""; 0]);
    // They were running until the parent ended.
    let before = cut(&log.text(), "d", Anchor::After);
    assert_eq!(status(&frame(&before, child)), "running");
}

#[test]
fn the_end_of_the_run_fails_running_agents() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "x", "{}")
        .agent("b", "run", "y", "{}")
        .agent_end("b", "run", "1")
        .run_end(r#""success":true"#);
    let snapshot = log.restore();
    let State::Failed(Some(error)) = &frame(&snapshot, "root/agent:x:0").state else {
        panic!("not failed");
    };
    assert!(error.as_str().contains("the run ended"));
}

#[test]
fn one_run_is_restored_at_a_time() {
    let mut first = Log::old();
    first
        .run()
        .agent("a", "run", "one", "{}")
        .turn("t", "a.g0", "h", "x")
        .agent_end("a", "run", "1");
    let mut second = Log::old();
    second
        .event("runWith:start", "run2", "", "")
        .agent("b", "run2", "two", "{}")
        .agent_end("b", "run2", "2");
    let second = second
        .text()
        .replace("\"t1\"", "\"t2\"")
        .replace("\"timestamp\":1", "\"timestamp\":2");
    let both = format!("{}{second}", first.text());
    // By default, the run that started last is restored, regardless of the position of its events.
    for text in [&both, &format!("{second}{}", first.text())] {
        let newest = try_lines(text, &options()).unwrap();
        assert_eq!(call_ids(&newest), ["root/agent:two:0"]);
        assert_eq!(newest.provenance.trace_id, "t2");
        assert_eq!(codes(&newest), ["several-runs"]);
        assert!(
            newest.warnings[0].message.contains(
                "; t2, which started last, was restored; options.traceId selects another"
            ),
        );
    }
    let chosen = |trace_id: &str| {
        let options = agent_rewind_core::restore::RestoreOptions {
            trace_id: Some(trace_id.to_owned()),
            ..options()
        };
        try_lines(&both, &options)
    };
    assert_eq!(call_ids(&chosen("t1").unwrap()), ["root/agent:one:0"]);
    assert_eq!(call_ids(&chosen("t2").unwrap()), ["root/agent:two:0"]);
    assert_eq!(
        chosen("t3").unwrap_err().to_string(),
        r#"the list contains no event of the trace "t3", only of t1, t2"#
    );
    let by_span = try_lines(&both, &at("b", Anchor::After)).unwrap();
    assert_eq!(call_ids(&by_span), ["root/agent:two:0"]);
    assert_eq!(by_span.provenance.trace_id, "t2");
}

#[test]
fn of_runs_with_one_trace_id_the_last_or_that_of_the_target_is_restored() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "one", "{}")
        .agent_end("a", "run", "1")
        .run_end(r#""success":true"#);
    log.event("runWith:start", "run2", "", "")
        .agent("b", "run2", "two", "{}")
        .agent_end("b", "run2", "2");
    let snapshot = log.restore();
    assert_eq!(call_ids(&snapshot), ["root/agent:two:0"]);
    assert_eq!(codes(&snapshot), ["several-runs"]);
    assert_eq!(
        call_ids(&cut(&log.text(), "a", Anchor::After)),
        ["root/agent:one:0"]
    );
}

#[test]
fn a_run_inside_the_trace_of_another_program_is_restored() {
    let mut log = Log::old();
    log.event("runWith:start", "run", "span-of-a-caller", "")
        .agent("a", "run", "x", "{}");
    let snapshot = log.restore();
    assert_eq!(call_ids(&snapshot), ["root/agent:x:0"]);
    assert_eq!(codes(&snapshot), [""; 0]);
}

#[test]
fn a_parent_without_events_is_the_run() {
    let mut log = Log::old();
    log.agent("a", "lost-run", "x", "{}")
        .agent("b", "lost-run", "x", "{}");
    let snapshot = log.restore();
    assert_eq!(
        call_ids(&snapshot),
        ["root", "root/agent:x:0", "root/agent:x:1"]
    );
    assert_eq!(codes(&snapshot), [""; 0]);
}

#[test]
fn special_names_of_javascript_are_plain_data() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "__proto__", r#"{"__proto__":{"x":1}}"#);
    log.event("tool:call:end", "c", "a.g0", r#""toolName":"constructor","journalCallId":"root/agent:__proto__:0/tool:constructor:0","contentHash":"__proto__","success":true,"output":{"__proto__":1}"#);
    log.generation_end("a", 0, "return", r#"{"__proto__":[1],"toString":2}"#);
    let snapshot = lines(&log.text());
    assert_eq!(snapshot.root.call_id.body(), "root/agent:__proto__:0");
    assert_eq!(
        crate::support::memory(&snapshot.root),
        r#"{"__proto__":[1],"toString":2}"#
    );
    assert_eq!(calls(&snapshot.root)[0].hash.to_string(), "__proto__");
}
