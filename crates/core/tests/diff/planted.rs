//! One planted difference in a realistic request, and its expected description.

use super::Nature::{
    Boolean, Case, Date, Message, Model, ModelOption, Null, Number, RandomId, Schema, Structure,
    Text, ToolSchema, Type, Uuid, Whitespace,
};
use super::*;

const UUID: &str = "3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e6f";

/// Each case is (old, new, nature), and is checked in both directions.
fn assert_changed(text: &str, part: Part, pointer: &str, cases: &[(&str, &str, Nature)]) {
    for (old, new, nature) in cases {
        let other = with(text, old, new);
        for (recorded, actual) in [(text, &*other), (&*other, text)] {
            let found = only(recorded, actual);
            assert_eq!(
                summary(&found),
                (pointer, Change::Changed, *nature, part),
                "{old} → {new}"
            );
            assert!(found.recorded.is_some() && found.actual.is_some());
            assert_ne!(found.recorded, found.actual, "the excerpts must show it");
        }
    }
}

#[test]
fn in_a_system_prompt() {
    let cases = [
        ("careful assistant", "careful assistent", Text),
        ("careful assistant", "cheerful and careful assistant", Text),
        ("Answer briefly", "Answer in French", Text),
        ("You are a", "you are a", Case),
        (
            "Saturday, November 28, 2026",
            "Sunday, November 29, 2026",
            Date,
        ),
        ("November 28, 2026", "November 2, 2026", Date),
        ("November 28, 2026", "December 28, 2026", Date),
        ("Saturday, November", "Saturday, Movember", Text),
        (r"2026.\n\n  Answer", r"2026.\n\nAnswer", Whitespace),
        (r"assistant.\nToday", r"assistant.\r\nToday", Whitespace),
        (r"assistant.\nToday", "assistant.\u{a0}Today", Whitespace),
        ("careful assistant", "careful\u{a0}assistant", Whitespace),
        ("1a2b3c4d5e6f", "1a2b3c4d5e60", Uuid),
        (UUID, "00000000-9d4a-1111-8e7c-222222222222", Uuid),
        (UUID, "none", Text),
        ("build 9f86d081", "build 1c4768a2", RandomId),
        ("req_8fKq2ZrTx1", "req_Zp03nQw7Lk", RandomId),
        ("request req_8fKq2ZrTx1.", "request req_8fKq2ZrTx1!", Text),
    ];
    assert_changed(REQUEST, Part::Messages, "/messages/0/content", &cases);
}

#[test]
fn in_several_places_of_a_text() {
    let both_days = REQUEST
        .replace("9f86d081", "2026-11-28")
        .replace("November 28", "November 30");
    let found = only(REQUEST, &both_days);
    assert_eq!(found.nature, Text, "a date and something else");
    let new_ids = REQUEST
        .replace("9f86d081", "1c4768a2")
        .replace("November 28", "November 30");
    let found = only(REQUEST, &new_ids);
    assert_eq!(found.nature, Date, "the first of several");
    let new_ids = REQUEST
        .replace("9f86d081", "1c4768a2")
        .replace("8fKq2ZrTx1", "Zp03nQw7Lk");
    assert_eq!(only(REQUEST, &new_ids).nature, RandomId);
}

#[test]
fn in_content_parts() {
    let cases = [
        ("10:15:30.123Z", "10:15:31.007Z", Date),
        ("2026-11-28T10:15:30.123Z", "2026-11-29", Date),
        ("2026-11-28T10:15:30.123Z", "noon", Text),
        ("in this picture", "on  that picture", Text),
    ];
    assert_changed(
        REQUEST,
        Part::Messages,
        "/messages/1/content/0/text",
        &cases,
    );
    let url = "/messages/1/content/1/image_url/url";
    let cases = [
        ("cat.png", "dog.png", Text),
        ("/cat.png", "/2/cat.png", Text),
    ];
    assert_changed(REQUEST, Part::Messages, url, &cases);
    let detail = "/messages/1/content/1/image_url/detail";
    assert_changed(
        REQUEST,
        Part::Messages,
        detail,
        &[(r#""low""#, r#""high""#, Text)],
    );
}

#[test]
fn in_values_of_all_types() {
    let cases = [
        ("1795977394381", "1795977999999", Date),
        ("1795977394381", "1795977999", Date),
        ("1795977394381", "7", Number),
        ("1795977394381", r#""2026-11-28""#, Type),
        ("1795977394381", "false", Type),
        ("1795977394381", "null", Null),
    ];
    assert_changed(REQUEST, Part::Messages, "/messages/1/extra/sent", &cases);
    let cases = [(r#""urgent":false"#, r#""urgent":true"#, Boolean)];
    assert_changed(REQUEST, Part::Messages, "/messages/1/extra/urgent", &cases);
    let cases = [
        (r#""channel":null"#, r#""channel":"mail""#, Null),
        (r#""channel":null"#, r#""channel":{"id":1}"#, Null),
    ];
    assert_changed(REQUEST, Part::Messages, "/messages/1/extra/channel", &cases);
    let cases = [
        (r#""score":0.5"#, r#""score":5e-2"#, Number),
        (r#""score":0.5"#, r#""score":[0.5]"#, Type),
    ];
    assert_changed(REQUEST, Part::Messages, "/messages/1/extra/score", &cases);
}

#[test]
fn in_tool_calls_and_their_results() {
    let cases = [(
        r#"{"id":"call_a1B2c3D4e5""#,
        r#"{"id":"call_Zz9Yy8Xx7W""#,
        RandomId,
    )];
    assert_changed(
        REQUEST,
        Part::Messages,
        "/messages/2/tool_calls/0/id",
        &cases,
    );
    let cases = [
        (r#"\"limit\":10"#, r#"\"limit\":12"#, Text),
        (r#"\"2026-11-28\""#, r#"\"2027-01-02\""#, Date),
        (r#"\"cats\",\"#, r#"\"cats\", \"#, Whitespace),
    ];
    assert_changed(
        REQUEST,
        Part::Messages,
        "/messages/2/tool_calls/0/arguments",
        &cases,
    );
    let cases = [(r#"_id":"call_a1B2c3D4e5""#, r#"_id":"call_1""#, Text)];
    assert_changed(REQUEST, Part::Messages, "/messages/3/tool_call_id", &cases);
    assert_changed(
        REQUEST,
        Part::Messages,
        "/messages/3/content",
        &[("[1,2]", "[1,3]", Text)],
    );
    let cases = [
        ("And dogs?", "And hogs?", Text),
        ("And dogs?", "And dogs", Text),
        (r#""Thanks. And dogs?""#, r#""""#, Text),
        (r#""Thanks. And dogs?""#, "[]", Type),
    ];
    assert_changed(REQUEST, Part::Messages, "/messages/4/content", &cases);
}

#[test]
fn in_the_model_and_its_options() {
    let cases = [
        ("gpt-4o-2024-08-06", "gpt-4o-mini", Model),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", Model),
    ];
    assert_changed(REQUEST, Part::Model, "/model/id", &cases);
    let cases = [(r#""openai""#, r#""azure""#, Model)];
    assert_changed(REQUEST, Part::Model, "/model/provider", &cases);
    let cases = [(r#""temperature":0.2"#, r#""temperature":0.7"#, ModelOption)];
    assert_changed(REQUEST, Part::Options, "/options/temperature", &cases);
    let cases = [
        (r#""seed":42"#, r#""seed":43"#, ModelOption),
        (r#""seed":42"#, r#""seed":null"#, ModelOption),
    ];
    assert_changed(REQUEST, Part::Options, "/options/seed", &cases);
    let named = r#"{"type":"function","function":{"name":"search"}}"#;
    let cases = [
        (r#""auto""#, r#""required""#, ModelOption),
        (r#""auto""#, named, ModelOption),
    ];
    assert_changed(REQUEST, Part::Options, "/options/toolChoice", &cases);
    let cases = [(r#""parallel":true"#, r#""parallel":false"#, ModelOption)];
    assert_changed(REQUEST, Part::Options, "/options/parallel", &cases);
}

#[test]
fn in_the_schema_and_the_tools() {
    let description = "/schema/properties/answer/description";
    let cases = [
        ("The answer", "The final answer", Schema),
        ("The answer", "The  answer", Whitespace),
    ];
    assert_changed(REQUEST, Part::Schema, description, &cases);
    let cases = [(r#"Properties":false"#, r#"Properties":true"#, Schema)];
    assert_changed(
        REQUEST,
        Part::Schema,
        "/schema/additionalProperties",
        &cases,
    );
    let cases = [
        ("Searches the web", "Searches the Web", ToolSchema),
        ("Searches the web", "Looks things up", ToolSchema),
        ("Searches the web", r"Searches\nthe web", Whitespace),
    ];
    assert_changed(REQUEST, Part::Tools, "/tools/0/description", &cases);
    let cases = [(r#""integer""#, r#""number""#, ToolSchema)];
    assert_changed(
        REQUEST,
        Part::Tools,
        "/tools/0/parameters/properties/limit/type",
        &cases,
    );
    let cases = [(r#""fetch""#, r#""download""#, ToolSchema)];
    assert_changed(REQUEST, Part::Tools, "/tools/1/name", &cases);
    let with_day = with(
        REQUEST,
        "Searches the web",
        "Searches the web of 2026-11-28",
    );
    let cases = [("of 2026-11-28", "of 2026-11-29", Date)];
    assert_changed(&with_day, Part::Tools, "/tools/0/description", &cases);
}

#[test]
fn in_the_call_of_a_tool() {
    let call = concat!(
        r#"{"input":{"query":"cats","trace":"9c9ddccbd60cb19f3ba5dba18dd967ca","filters":"#,
        r#"[{"field":"year","from":2020},{"field":"tag","is":"a/b"}],"a/b~c":"x"},"name":"search"}"#
    );
    let cases = [
        (r#""cats""#, r#""Cats""#, Case),
        (r#""cats""#, r#""cat""#, Text),
        (r#""cats""#, r#"["cats"]"#, Type),
    ];
    assert_changed(call, Part::Input, "/input/query", &cases);
    let cases = [("9c9ddccbd60cb19f", "0d1eaccbd60cb19f", RandomId)];
    assert_changed(call, Part::Input, "/input/trace", &cases);
    assert_changed(
        call,
        Part::Input,
        "/input/filters/0/from",
        &[("2020", "2021", Number)],
    );
    assert_changed(
        call,
        Part::Input,
        "/input/filters/1/is",
        &[(r#""a/b""#, r#""a""#, Text)],
    );
    assert_changed(
        call,
        Part::Input,
        "/input/a~1b~0c",
        &[(r#""x""#, r#""y""#, Text)],
    );
    assert_changed(
        call,
        Part::Other,
        "/name",
        &[(r#""search""#, r#""fetch""#, Text)],
    );
    let with_uuid = with(call, "cats", UUID);
    let cases = [(UUID, "3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e60", Uuid)];
    assert_changed(&with_uuid, Part::Input, "/input/query", &cases);
}

/// Inserts `new` before `old`. Checked in both directions: added and removed.
fn assert_added(text: &str, part: Part, pointer: &str, (new, old): (&str, &str), nature: Nature) {
    let longer = with(text, old, &format!("{new}{old}"));
    let added = only(text, &longer);
    assert_eq!(
        summary(&added),
        (pointer, Change::Added, nature, part),
        "{new}"
    );
    assert!(added.recorded.is_none() && added.actual.is_some());
    let removed = only(&longer, text);
    assert_eq!(
        summary(&removed),
        (pointer, Change::Removed, nature, part),
        "{new}"
    );
    assert_eq!((removed.recorded, removed.actual), (added.actual, None));
}

#[test]
fn added_and_removed_messages() {
    let message = r#"{"role":"user","content":"Wait."},"#;
    let added = |pointer, before| {
        assert_added(REQUEST, Part::Messages, pointer, (message, before), Message);
    };
    added("/messages/0", r#"{"role":"system""#);
    added("/messages/2", r#"{"role":"assistant""#);
    added("/messages/3", r#"{"role":"tool""#);
    let last = (
        r#",{"role":"assistant","content":"Woof."}"#,
        "\n],\"options\"",
    );
    assert_added(REQUEST, Part::Messages, "/messages/5", last, Message);
}

#[test]
fn added_and_removed_members_of_messages() {
    let part = (
        r#"{"type":"text","text":"Look:"},"#,
        r#"{"type":"image_url""#,
    );
    assert_added(
        REQUEST,
        Part::Messages,
        "/messages/1/content/1",
        part,
        Structure,
    );
    let id = format!(r#""id":"{UUID}","#);
    let member = |pointer, member, nature| {
        let added = (member, r#""content":null"#);
        assert_added(REQUEST, Part::Messages, pointer, added, nature);
    };
    member("/messages/2/name", r#""name":"bot","#, Text);
    member("/messages/2/at", r#""at":"2026-11-28T10:15:30Z","#, Date);
    member("/messages/2/at", r#""at":1795977394381,"#, Date);
    member("/messages/2/id", &id, Uuid);
    member("/messages/2/rank", r#""rank":1,"#, Number);
    member("/messages/2/done", r#""done":true,"#, Boolean);
    member("/messages/2/refusal", r#""refusal":null,"#, Null);
    member("/messages/2/annotations", r#""annotations":[],"#, Structure);
}

#[test]
fn added_and_removed_other_members() {
    let tool = r#"{"name":"calc","description":"Adds","parameters":{"type":"object"}},"#;
    let before = r#"{"name":"fetch""#;
    assert_added(REQUEST, Part::Tools, "/tools/1", (tool, before), ToolSchema);
    let page = (r#""page":{"type":"integer"},"#, r#""limit":{"#);
    let pointer = "/tools/0/parameters/properties/page";
    assert_added(REQUEST, Part::Tools, pointer, page, ToolSchema);
    let why = (r#""why":{"type":"string"},"#, r#""sure":{"#);
    assert_added(REQUEST, Part::Schema, "/schema/properties/why", why, Schema);
    let required = (r#""why","#, r#""sure"],"#);
    assert_added(
        REQUEST,
        Part::Schema,
        "/schema/required/1",
        required,
        Schema,
    );
    let top = (r#""topP":1,"#, r#""seed":42"#);
    assert_added(REQUEST, Part::Options, "/options/topP", top, ModelOption);
    let halt = (r#""HALT","#, r#""STOP""#);
    assert_added(REQUEST, Part::Options, "/options/stop/1", halt, ModelOption);
    let region = (r#""region":"eu","#, r#""provider""#);
    assert_added(REQUEST, Part::Model, "/model/region", region, Model);
}

#[test]
fn added_and_removed_members_of_the_request() {
    let small = r#"{"id":1}"#;
    for (member, pointer, nature, part) in [
        (r#""messages":[],"#, "/messages", Message, Part::Messages),
        (r#""tools":[],"#, "/tools", ToolSchema, Part::Tools),
        (r#""schema":{},"#, "/schema", Schema, Part::Schema),
        (
            r#""options":{"seed":1},"#,
            "/options",
            ModelOption,
            Part::Options,
        ),
        (r#""model":{"id":"m"},"#, "/model", Model, Part::Model),
        (r#""input":{},"#, "/input", Structure, Part::Input),
        (r#""user":"u","#, "/user", Text, Part::Other),
    ] {
        assert_added(small, part, pointer, (member, r#""id""#), nature);
    }
}
