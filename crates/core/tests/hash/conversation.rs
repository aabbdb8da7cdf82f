//! Incremental hashes of conversations, compared with the hash of the whole document.

use agent_rewind_core::hash::{Conversation, RequestTail, RequestTailError, content_hash};
use proptest::prelude::*;

use super::generator::{Generator, Json};

const TAIL: &str = r#"{"model":{"provider":"openai","id":"gpt-4o"},"tools":[{"name":"search","description":"x"}],"options":{}}"#;

fn document(messages: &str, tail: &str) -> String {
    // The messages last: the hash must not depend on their position.
    let members = tail.strip_suffix('}').unwrap();
    format!(
        "{members}{}\"messages\":{messages}}}",
        if members == "{" { "" } else { "," }
    )
}

#[test]
fn conversation_agrees_with_the_whole_document() {
    let mut conversation = Conversation::new();
    let tail = RequestTail::new(TAIL).unwrap();
    assert!(conversation.is_empty());
    assert_eq!(
        conversation.hash(&tail),
        content_hash(&document("[]", TAIL)).unwrap()
    );
    conversation
        .append(r#"[{"role":"user","content":"hi"},"x"]"#)
        .unwrap();
    conversation.append("[]").unwrap();
    conversation
        .append(r#"[{"role":"tool","content":[{"type":"text","text":"1"}]}]"#)
        .unwrap();
    assert_eq!(conversation.len(), 3);
    let whole = r#"[{"role":"user","content":"hi"},"x",{"role":"tool","content":[{"type":"text","text":"1"}]}]"#;
    assert_eq!(
        conversation.hash(&tail),
        content_hash(&document(whole, TAIL)).unwrap()
    );
    let none = RequestTail::new("{}").unwrap();
    assert_eq!(
        conversation.hash(&none),
        content_hash(&document(whole, "{}")).unwrap()
    );
}

#[test]
fn a_rejected_append_changes_nothing() {
    let tail = RequestTail::new(TAIL).unwrap();
    let mut conversation = Conversation::new();
    conversation.append("[1]").unwrap();
    let before = conversation.hash(&tail);
    for wrong in [
        "",
        "[",
        "[2",
        "[2,]",
        "{}",
        "2",
        "[2]]",
        "[2] ",
        " [2]",
        r#"[2,{"a":1,"a":1}]"#,
        "[2}",
    ] {
        assert!(conversation.append(wrong).is_err(), "{wrong}");
        assert_eq!(
            (conversation.len(), conversation.hash(&tail)),
            (1, before),
            "{wrong}"
        );
    }
}

#[test]
fn a_tail_must_sort_after_the_messages() {
    for (text, key) in [
        (r#"{"model":1,"messages":[]}"#, r#""messages""#),
        (r#"{"a":1}"#, r#""a""#),
        (r#"{"zebra":1,"":2}"#, r#""""#),
        (r#"{"message":1}"#, r#""message""#),
        (r#"{"\n":1}"#, r#""\n""#),
        (r#"{"😀":0,"input":1}"#, r#""input""#),
    ] {
        assert_eq!(
            RequestTail::new(text),
            Err(RequestTailError::KeyBeforeMessages {
                key: key.to_owned()
            }),
            "{text}"
        );
    }
    for fine in ["{}", r#"{"messagesx":1}"#, r#"{"\ud83d":1,"é":2}"#] {
        assert!(RequestTail::new(fine).is_ok(), "{fine}");
    }
    for other in ["[]", "1", "\"{\"", "null"] {
        assert_eq!(
            RequestTail::new(other),
            Err(RequestTailError::NotAnObject),
            "{other}"
        );
    }
    assert!(matches!(
        RequestTail::new(r#"{"z":1,"z":1}"#),
        Err(RequestTailError::Json(_))
    ));
}

#[test]
fn a_rejected_text_changes_nothing() {
    let tail = RequestTail::new(TAIL).unwrap();
    let mut conversation = Conversation::new();
    conversation.append("[1,2]").unwrap();
    let before = conversation.hash(&tail);
    for wrong in [
        "",
        "[1,2",
        "[1,2,]",
        "[1,2}",
        "[1,2],",
        "[1,2] ",
        "[1,2,3",
        "{}",
        "[3",
        "[1,2,{\"a\":0,\"a\":0}]",
    ] {
        assert!(conversation.append(wrong).is_err(), "{wrong}");
        assert_eq!(
            (conversation.len(), conversation.hash(&tail)),
            (2, before),
            "{wrong}"
        );
    }
}

proptest! {
    #[test]
    fn any_conversation_agrees_with_the_whole_document(seed in any::<u64>(), turns in 0_usize..8) {
        let mut generator = Generator::new(seed);
        let Json::Object(mut members) = generator.object() else { unreachable!() };
        for (index, (key, _)) in members.iter_mut().enumerate() {
            key.splice(..0, format!("model{index}").encode_utf16());
        }
        let tail_text = Json::Object(members).stringified();
        let tail = RequestTail::new(&tail_text).unwrap();
        let mut conversation = Conversation::new();
        let mut messages = Vec::new();
        for _ in 0..turns {
            let Json::Array(mut new) = generator.array() else { unreachable!() };
            conversation.append(&Json::Array(new.clone()).stringified()).unwrap();
            messages.append(&mut new);
            let whole = Json::Array(messages.clone()).stringified();
            let wanted = content_hash(&document(&whole, &tail_text)).unwrap();
            prop_assert_eq!(conversation.hash(&tail), wanted);
            prop_assert_eq!(conversation.len(), messages.len());
        }
    }

    #[test]
    fn no_text_breaks_a_conversation(texts in proptest::collection::vec(r#"(\[|\]|,|1|2|"a"|\{"b":1,"a":2\}| ){0,9}"#, 0..9)) {
        let tail = RequestTail::new("{}").unwrap();
        let mut conversation = Conversation::new();
        let mut messages = String::new();
        for text in texts {
            let is_array = text.starts_with('[') && content_hash(&text).is_ok();
            prop_assert_eq!(conversation.append(&text).is_ok(), is_array, "{}", text);
            if is_array && text != "[]" {
                let comma = if messages.is_empty() { "" } else { "," };
                messages.push_str(comma);
                messages.push_str(&text[1..text.len() - 1]);
            }
            let whole = document(&format!("[{messages}]"), "{}");
            prop_assert_eq!(conversation.hash(&tail), content_hash(&whole).unwrap());
        }
    }
}
