use serde_json::{Value, json};

use super::*;

fn share(sharing: &mut Sharing, document: &Value) -> Request {
    let text = document.to_string();
    let shared = sharing.share(Request::document(text.clone()));
    assert_eq!(shared.pieces().unwrap().concat(), text);
    shared
}

/// The parts under a document, by pointer.
fn parts(request: &Request) -> Vec<(String, Request)> {
    match request {
        Request::Filled(filled) => {
            let parts = filled.holes.iter();
            parts
                .map(|hole| (hole.pointer.to_string(), hole.part.clone()))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn list(request: &Request, pointer: &str) -> List {
    match parts(request).into_iter().find(|(at, _)| at == pointer) {
        Some((_, Request::List(list))) => list,
        _ => panic!("no list at {pointer}"),
    }
}

fn messages(count: usize) -> Vec<Value> {
    (0..count)
        .map(|index| json!({"role": "user", "content": format!("{index} {}", "x".repeat(100))}))
        .collect()
}

#[test]
fn a_longer_conversation_adds_only_its_new_messages() {
    let mut sharing = Sharing::default();
    let of = |count| json!({"input": {"id": count, "messages": messages(count)}, "name": "m"});
    let (short, long) = (share(&mut sharing, &of(4)), share(&mut sharing, &of(6)));
    let (short, long) = (
        list(&short, "/input/messages"),
        list(&long, "/input/messages"),
    );
    let (known, added) = long.nodes_after(|node| Arc::ptr_eq(node, short.last.as_ref().unwrap()));
    assert_eq!((known.is_some(), added.len()), (true, 2));
    // Another end after the same beginning.
    let mut branch = messages(4);
    branch[3] = json!({"role": "user", "content": "another ".repeat(20)});
    let branch = share(
        &mut sharing,
        &json!({"input": {"messages": branch}, "name": "m"}),
    );
    let branch = list(&branch, "/input/messages");
    let third = short.last.as_ref().unwrap().before.as_ref().unwrap();
    let (known, added) = branch.nodes_after(|node| Arc::ptr_eq(node, third));
    assert_eq!((known.is_some(), added.len()), (true, 1));
}

#[test]
fn a_growing_text_adds_only_its_new_end() {
    let mut sharing = Sharing::default();
    // With characters of several bytes and escapes, of which none may be cut.
    let mut text = String::new();
    for index in 0..3_000_u32 {
        text.push_str(&index.to_string());
        text.push_str("\u{1f600}é\\\u{1}\"");
    }
    let ends: Vec<_> = text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| *at > 20_000)
        .collect();
    let mut known = 0;
    for end in ends.into_iter().step_by(1_500) {
        let request = share(
            &mut sharing,
            &json!({"input": {"prompt": &text[..end]}, "name": "m"}),
        );
        let list = list(&request, "/input/prompt");
        assert_eq!(list.form, Form::Text);
        let nodes = sharing.nodes.len();
        if known > 0 {
            // The new 1,500 characters are up to 3,400 bytes of JSON text, in chunks of 512, after the last full chunk.
            assert!(nodes - known <= 8, "{known} and then {nodes}");
        }
        known = nodes;
    }
}

#[test]
fn equal_parts_at_other_places_are_one_text() {
    let mut sharing = Sharing::default();
    let image = "QUJD".repeat(1_000);
    let schema = json!({"type": "object", "properties": {"a": {"description": "d".repeat(300)}}});
    let first = share(
        &mut sharing,
        &json!({"input": {"image": image, "schema": schema}, "name": "a"}),
    );
    let second = share(
        &mut sharing,
        &json!({"input": [{"parts": [{"text": "what?"}, {"data": image}]}, schema], "name": "b"}),
    );
    let texts = |request: &Request| -> Vec<*const u8> {
        let pieces = request.pieces().unwrap();
        let long = pieces.into_iter().filter(|piece| piece.len() > 300);
        long.map(str::as_ptr).collect()
    };
    let (first, second) = (texts(&first), texts(&second));
    assert_eq!(first.len(), 2);
    assert!(first.iter().all(|text| second.contains(text)));
}

#[test]
fn what_is_short_or_has_no_large_parts_stays_one_text() {
    let mut sharing = Sharing::default();
    for document in [
        json!({"input": {"messages": messages(1)}, "name": "m"}),
        json!({"input": (0..1_000).collect::<Vec<_>>(), "name": "embedding"}),
        json!({"input": {"a": "x".repeat(400), "b": {}}, "name": ""}),
        json!("x".repeat(500)),
    ] {
        assert!(matches!(share(&mut sharing, &document), Request::Text(_)));
    }
    let deep = (0..900).fold(json!(messages(9)), |inner, _| json!([inner]));
    share(&mut sharing, &deep);
    let odd = json!({"a/b~c": {"\"": messages(9)}, "": messages(9), "null": null, "n": [null]});
    let pointers: Vec<_> = parts(&share(&mut sharing, &odd))
        .into_iter()
        .map(|(at, _)| at)
        .collect();
    assert_eq!(pointers.len(), 2);
    assert!(pointers.contains(&"/".to_owned()) && pointers.contains(&"/a~1b~0c/\\\"".to_owned()));
}

#[test]
fn a_skeleton_is_filled_at_pointers_to_null_only() {
    let part = || Request::document("1".into());
    let filled = |skeleton: &str, pointers: &[&str]| {
        let parts = pointers
            .iter()
            .map(|at| ((*at).to_owned(), part()))
            .collect();
        let request = fill(JsonText::trusted(skeleton.into()), parts)?;
        Some(request.pieces()?.concat())
    };
    let skeleton = r#"{"a":{"b":null,"c~/":null},"d":"null"}"#;
    let all = filled(skeleton, &["/a/c~0~1", "/a/b"]);
    assert_eq!(all.as_deref(), Some(r#"{"a":{"b":1,"c~/":1},"d":"null"}"#));
    assert_eq!(filled("null", &[""]).as_deref(), Some("1"));
    for pointer in ["/a", "/d", "/e", "/a/b/c", "/a/b/0"] {
        assert_eq!(filled(skeleton, &[pointer]), None, "{pointer}");
    }
    assert_eq!(filled(skeleton, &["/a/b", "/a/b"]), None);
}
