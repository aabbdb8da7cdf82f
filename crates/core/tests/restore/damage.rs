//! Lost or duplicated events are repaired when the other events leave no doubt, and always with a warning.

use agent_rewind_core::model::Kind;

use crate::support::{
    Log, Scramble, calls, codes, frame, frames, lines, memory, options, outputs, scenarios, shape,
    status, trace_of, try_lines,
};

#[test]
fn duplicate_events_have_no_effect_and_are_reported() {
    for (name, _) in scenarios() {
        let text = trace_of(&name);
        let wanted = shape(&lines(&text));
        let mut twice: Vec<&str> = text.lines().flat_map(|line| [line, line]).collect();
        let snapshot = lines(&twice.join("\n"));
        assert_eq!(shape(&snapshot), wanted, "{name}");
        let duplicates = text
            .lines()
            .filter(|line| !line.contains("\"validation:") && !line.contains("\"sys:log\""))
            .count();
        assert_eq!(
            codes(&snapshot),
            vec!["duplicate-event"; duplicates],
            "{name}"
        );
        let budget = |snapshot: &agent_rewind_core::snapshot::Snapshot| {
            snapshot.root.budget.aggregate.total_tokens.to_bits()
        };
        assert_eq!(budget(&snapshot), budget(&lines(&text)), "{name}");
        // The duplicates may come late.
        twice = text.lines().chain(text.lines()).collect();
        assert_eq!(shape(&lines(&twice.join("\n"))), wanted, "{name}");
    }
}

#[test]
fn any_single_lost_event_is_repaired_or_reported() {
    for (name, _) in scenarios() {
        let text = trace_of(&name);
        let events: Vec<&str> = text.lines().collect();
        let wanted = shape_without_names(&text).unwrap();
        for lost in 0..events.len() {
            let rest: Vec<&str> = events
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != lost)
                .map(|(_, line)| *line)
                .collect();
            let rest = rest.join("\n");
            let snapshot = lines(&rest);
            let is_same = shape_without_names(&rest).unwrap() == wanted;
            assert!(
                is_same || !snapshot.warnings.is_empty(),
                "{name}: {}",
                events[lost]
            );
            if events[lost].contains(":start\"") && !events[lost].contains("generation:start") {
                // The end of a span repeats the fields of its start.
                assert!(is_same, "{name}: {}", events[lost]);
            }
        }
    }
}

/// The names of calls contain the model, which only the events of the model contain.
fn shape_without_names(text: &str) -> Option<String> {
    let snapshot = try_lines(text, &options()).ok()?;
    let frames = frames(&snapshot).into_iter().map(|(frame, parent)| {
        let calls: Vec<String> = calls(&frame)
            .iter()
            .map(|call| format!("{} {:?}", call.hash, call.outcome))
            .collect();
        format!(
            "{parent:?} {} {} {:?} {} {calls:?}\n",
            frame.call_id,
            status(&frame),
            frame.input_hash,
            memory(&frame)
        )
    });
    Some(frames.collect())
}

#[test]
fn lines_that_are_not_events_are_skipped() {
    let text = trace_of("a-single-turn");
    let wanted = shape(&lines(&text));
    let mut with_garbage = String::from("garbage\n");
    for (number, line) in text.lines().enumerate() {
        with_garbage.push_str(line);
        with_garbage.push_str(if number % 2 == 0 { "\r\n\n" } else { "\n" });
    }
    with_garbage.push_str("null\n[1]\n{\"type\":\"turn:end\"}\n{\"type\":3,\"trace\":{\"spanId\":\"x\"}}\n{\"a\":1} {\"b\":2}\n");
    let snapshot = lines(&with_garbage);
    assert_eq!(shape(&snapshot), wanted);
    assert_eq!(codes(&snapshot), ["invalid-line"; 6]);
    assert_eq!(snapshot.warnings[0].line, Some(1));
    assert_eq!(snapshot.warnings[5].line, Some(27));
    assert!(
        snapshot.warnings[3]
            .message
            .contains("trace: expected an object, received undefined")
    );
}

#[test]
fn a_truncated_last_line_is_skipped() {
    let text = trace_of("a-single-turn");
    let whole = text.trim_end();
    let last = whole.rfind('\n').unwrap() + 1;
    let wanted = shape(&lines(&whole[..last]));
    for end in last + 1..whole.len() {
        let snapshot = lines(&whole[..end]);
        assert_eq!(shape(&snapshot), wanted, "{}", &whole[last..end]);
        assert_eq!(codes(&snapshot), ["invalid-line"], "{}", &whole[last..end]);
        assert_eq!(snapshot.warnings[0].line, Some(14));
    }
    assert_eq!(
        codes(&lines(whole)),
        [""; 0],
        "a last line without a line feed is whole"
    );
}

#[test]
fn a_truncated_line_in_the_middle_is_skipped() {
    let text = trace_of("a-single-turn");
    let events: Vec<&str> = text.lines().collect();
    // A killed writer left half a line. The next writer began a new line.
    let turn_end = events[8];
    let mut torn: Vec<&str> = events.clone();
    let half = &turn_end[..turn_end.len() / 2];
    torn.insert(8, half);
    let snapshot = lines(&torn.join("\n"));
    assert_eq!(codes(&snapshot), ["invalid-line"]);
    assert_eq!(shape(&snapshot), shape(&lines(&text)));
}

#[test]
fn gaps_are_reported() {
    let mut log = Log::old();
    log.run().agent("a", "run", "a", "{}");
    let text = format!(
        "{}{}\n",
        log.text(),
        r#"{"type":"gap","count":12,"schemaVersion":1,"timestamp":5}"#
    );
    let snapshot = lines(&text);
    assert_eq!(codes(&snapshot), ["gap"]);
    assert_eq!(snapshot.warnings[0].line, Some(4));
    assert!(snapshot.warnings[0].message.contains("12 events"));
    let mut own = Log::own();
    own.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x")
        .turn("t2", "a.g0", "h2", "x");
    own.lines.remove(4);
    own.lines.remove(3);
    let snapshot = own.restore();
    assert_eq!(codes(&snapshot), ["gap"]);
    assert!(
        snapshot.warnings[0]
            .message
            .starts_with("2 events are missing")
    );
}

#[test]
fn an_agent_without_a_start_is_restored_from_its_end() {
    let text = trace_of("d-parallel-5");
    let without: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 8)
        .map(|(_, line)| line)
        .collect();
    let snapshot = lines(&without.join("\n"));
    assert_eq!(codes(&snapshot), ["missing-start"]);
    assert_eq!(
        snapshot.warnings[0].span_id.as_deref(),
        Some("f75ed94dc4fe9531")
    );
    let child = frame(&snapshot, "root/agent:parent:0/agent:shard:1");
    assert_eq!((child.start, status(&child)), (None, "completed"));
    assert_eq!(outputs(&child, &Kind::Prompt).len(), 2);
}

#[test]
fn an_agent_without_events_is_restored_from_its_generation() {
    let mut log = Log::old();
    log.run().event(
        "generation:start",
        "a.g0",
        "a",
        r#""agentId":"x","generationId":0,"props":{"p":1}"#,
    );
    log.turn("t", "a.g0", "h", "x");
    let snapshot = log.restore();
    assert_eq!(codes(&snapshot), ["missing-parent"]);
    assert_eq!(snapshot.root.call_id.body(), "root/agent:x:0");
    assert_eq!(outputs(&snapshot.root, &Kind::Prompt), ["h"]);
    assert!(snapshot.root.input_hash.is_some());
}

#[test]
fn children_of_a_lost_span_belong_to_the_run_and_are_reported() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "lost", "h", "x")
        .agent_end("a", "run", "1");
    let snapshot = log.restore();
    assert_eq!(codes(&snapshot), ["missing-parent"]);
    assert_eq!(snapshot.warnings[0].span_id.as_deref(), Some("lost"));
    assert_eq!(snapshot.root.call_id.body(), "root");
    assert_eq!(outputs(&snapshot.root, &Kind::Prompt), ["h"]);
}

#[test]
fn a_lost_end_of_an_agent_is_restored_from_its_generation() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", "{}")
        .agent("b", "a.g0", "b", "{}");
    log.event(
        "generation:end",
        "b.g0",
        "b",
        r#""endReason":"return","success":true,"result":42,"memory":{"k":1}"#,
    );
    log.agent_end("a", "run", "1");
    let snapshot = log.restore();
    let child = frame(&snapshot, "root/agent:a:0/agent:b:0");
    assert_eq!(codes(&snapshot), ["missing-end"]);
    assert!(
        matches!(&child.state, agent_rewind_core::model::State::Completed(value) if value.text.as_str() == "42")
    );
}

#[test]
fn cycles_of_spans_are_broken() {
    let mut log = Log::old();
    log.run()
        .agent("a", "b", "x", "{}")
        .agent("b", "a.g0", "y", "{}")
        .agent("s", "s", "self", "{}");
    let snapshot = log.restore();
    assert_eq!(codes(&snapshot), ["parent-cycle", "parent-cycle"]);
    let call_ids = crate::support::call_ids(&snapshot);
    assert_eq!(
        call_ids,
        [
            "root",
            "root/agent:x:0",
            "root/agent:self:0",
            "root/agent:x:0/agent:y:0"
        ]
    );
}

#[test]
fn fields_of_another_type_are_left_out() {
    let mut log = Log::old();
    log.run().agent("a", "run", "a", "{}");
    log.event(
        "generation:end",
        "a.g0",
        "a",
        r#""endReason":"return","success":true,"memory":[1]"#,
    );
    log.event("budget:update", "u", "a.g0", r#""delta":7"#);
    log.event(
        "tools:execute:end",
        "b",
        "a.g0",
        r#""toolResults":[3,{"toolName":"x","contentHash":"h","output":1,"success":true}]"#,
    );
    log.event("tools:execute:start", "b", "a.g0", "");
    let snapshot = lines(&log.text());
    assert_eq!(
        codes(&snapshot),
        [
            "order-uncertain",
            "invalid-field",
            "invalid-field",
            "invalid-field"
        ]
    );
    assert_eq!(memory(&snapshot.root), "{}");
    assert_eq!(outputs(&snapshot.root, &Kind::Tool), ["h"]);
}

#[test]
fn values_nested_too_deep_are_left_out_of_their_event() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut log = Log::old();
    log.run().agent("a", "run", "a", &deep);
    log.event(
        "turn:end",
        "t",
        "a.g0",
        &format!(r#""messages":{deep},"message":{{}},"success":true,"contentHash":"h""#),
    );
    log.event(
        "tool:call:end",
        "c",
        "a.g0",
        &format!(r#""toolName":"x","contentHash":"h2","output":{deep},"success":true"#),
    );
    log.event(
        "agent:end",
        "a",
        "run",
        &format!(r#""success":true,"result":{deep}"#),
    );
    let snapshot = log.restore();
    let found = codes(&snapshot);
    assert_eq!(
        found.iter().filter(|code| **code == "too-deep").count(),
        4,
        "{found:?}"
    );
    assert_eq!(status(&snapshot.root), "completed");
    assert_eq!(snapshot.root.input_hash, None);
    assert_eq!(outputs(&snapshot.root, &Kind::Prompt), ["h"]);
    assert!(matches!(
        calls(&snapshot.root)[1].outcome,
        agent_rewind_core::model::Outcome::Tombstone(_)
    ));
    let line = format!("{}\n{deep}\n", trace_of("a-single-turn").trim_end());
    assert_eq!(codes(&lines(&line)), ["invalid-line"]);
}

#[test]
fn keys_may_contain_escapes() {
    let text = trace_of("a-single-turn");
    let escaped = text
        .replace(r#""type":"#, r#""\u0074ype":"#)
        .replace(r#""spanId":"#, r#""span\u0049d":"#)
        .replace(r#""contentHash":"#, r#""\u0063ontentHash":"#)
        .replace(r#""agent:start""#, r#""agent\u003astart""#);
    assert_eq!(shape(&lines(&escaped)), shape(&lines(&text)));
    let spaced = text.replace("\":", "\" : ").replace(",\"", " ,\t\"");
    assert_eq!(codes(&lines(&spaced)), [""; 0]);
    assert_eq!(
        outputs(&lines(&spaced).root, &Kind::Prompt),
        ["c9b9e6d805159"]
    );
}

#[test]
fn members_may_be_in_any_order() {
    let text = trace_of("b-tool-loop");
    let wanted = shape(&lines(&text));
    for seed in 0..5 {
        let mut scramble = Scramble::new(seed);
        let shuffled: Vec<String> = text
            .lines()
            .map(|line| {
                let mut members = crate::support::Json::parse(line).members().to_vec();
                scramble.shuffle(&mut members);
                crate::support::Json::Object(members).written()
            })
            .collect();
        assert_eq!(shape(&lines(&shuffled.join("\n"))), wanted);
    }
}
