//! The requests that a recording stores.

use agent_rewind_core::model::{Kind, PromptTail, Prompting, Request};
use agent_rewind_core::record::CallInput;

use super::support::{end, hash, input, name, output, replayed, start};

#[test]
fn each_message_of_the_requests_is_stored_once() {
    let live = start(None);
    let tail = PromptTail::new(
        r#"{"model":{"id":"m"},"tools":[{"name":"a long tool list"}]}"#.into(),
        None,
    )
    .unwrap();
    let mut prompting = Prompting::new(true);
    let mut expected = Vec::new();
    for turn in 0..50 {
        prompting
            .append(
                format!(r#"[{{"role":"user","content":"message {turn}"}}]"#),
                None,
            )
            .unwrap();
        let request = prompting.request(&tail);
        expected.push(request.clone());
        let call = CallInput {
            within: None,
            kind: Kind::Prompt,
            call_id: name("p"),
            hash: prompting.hash(&tail),
            lane: None,
            exact: true,
            request,
        };
        end(&live, &live.begin_call(call, None), output("1"));
        let call = CallInput {
            within: None,
            kind: Kind::Tool,
            call_id: name("t"),
            hash: hash("same"),
            lane: None,
            exact: true,
            request: Some(Request::document(r#"{"input":1,"name":"same"}"#.into())),
        };
        end(&live, &live.begin_call(call, None), output("2"));
    }
    let child = live.open_child(input("root/agent:a:0", "a", "x"));
    let call = CallInput {
        within: None,
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: prompting.hash(&tail),
        lane: None,
        exact: true,
        request: prompting.request(&tail),
    };
    end(&child, &child.begin_call(call, None), output("3"));
    let source = replayed(&live);
    let calls = &source.frame().generation.calls;
    let prompts: Vec<_> = calls
        .iter()
        .filter(|call| call.kind == Kind::Prompt)
        .map(|call| call.request.clone())
        .collect();
    assert_eq!(prompts, expected);
    let tools = calls.iter().filter(|call| call.kind == Kind::Tool);
    for call in tools {
        assert_eq!(
            call.request.as_ref().unwrap().pieces().unwrap().concat(),
            r#"{"input":1,"name":"same"}"#
        );
    }
    let child = source.frame().generation.children.get(0).unwrap();
    assert_eq!(
        child.generation.calls.get(0).unwrap().request,
        *expected.last().unwrap()
    );
    let mut written = String::new();
    agent_rewind_core::snapshot::write_frame(source.frame(), &mut written);
    for once in [
        "a long tool list",
        "\"message 0\"",
        "\"message 49\"",
        r#"{"input":1,"name":"same"}"#,
    ] {
        assert_eq!(written.matches(once).count(), 1, "{once}");
    }
}
