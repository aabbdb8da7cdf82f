use super::*;
use crate::hash::content_hash;

#[test]
fn a_prompt_is_hashed_and_stored_as_one_document() {
    let mut prompting = Prompting::new(true);
    prompting
        .append(r#"[{"role":"system","content":"s"}]"#.into(), None)
        .unwrap();
    let tail = PromptTail::new(r#"{"tools":[],"model":{"id":"m"}}"#.into(), None).unwrap();
    let first = prompting.request(&tail).unwrap();
    prompting
        .append(
            r#"[{"role":"user","content":"[,]"},{"role":"assistant","content":null}]"#.into(),
            None,
        )
        .unwrap();
    let second = prompting.request(&tail).unwrap();
    assert_eq!(
        first.pieces().unwrap().concat(),
        r#"{"messages":[{"role":"system","content":"s"}],"model":{"id":"m"},"tools":[]}"#
    );
    assert_eq!(
        prompting.hash(&tail),
        content_hash(&second.pieces().unwrap().concat()).unwrap()
    );
    let messages = |request: &Request| match request {
        Request::Filled(filled) => match &filled.holes[0].part {
            Request::List(list) => list.clone(),
            _ => panic!("messages"),
        },
        _ => panic!("a prompt"),
    };
    let (shorter, longer) = (messages(&first), messages(&second));
    let (known, added) =
        longer.nodes_after(|node| Arc::ptr_eq(node, shorter.last.as_ref().unwrap()));
    assert!(known.is_some(), "messages are shared");
    assert_eq!(added.len(), 2);
}

#[test]
fn the_normalized_text_is_hashed_and_the_original_stored() {
    let mut prompting = Prompting::new(true);
    prompting
        .append(r#"["on 2026-11-29"]"#.into(), Some(r#"["on [date]"]"#))
        .unwrap();
    let tail = PromptTail::new(
        r#"{"model":{"id":"m-2"}}"#.into(),
        Some(r#"{"model":{"id":"m"}}"#),
    )
    .unwrap();
    assert_eq!(
        prompting.hash(&tail),
        content_hash(r#"{"messages":["on [date]"],"model":{"id":"m"}}"#).unwrap()
    );
    let kept = prompting.request(&tail).unwrap().pieces().unwrap().concat();
    assert_eq!(
        kept,
        r#"{"messages":["on 2026-11-29"],"model":{"id":"m-2"}}"#
    );
}

#[test]
fn no_request_is_stored_if_requests_are_off() {
    let mut prompting = Prompting::new(false);
    prompting.append("[1]".into(), None).unwrap();
    let tail = PromptTail::new("{}".into(), None).unwrap();
    assert_eq!(prompting.request(&tail), None);
}
