use std::sync::Arc;

use super::*;
use crate::restore::read::event::{Family, Phase};

fn end_of(line: &str) -> Option<usize> {
    let text = Arc::new(line.to_owned());
    read_usual_head(TraceText::shared(&text), 0..line.len()).map(|usual| usual.end)
}

#[test]
fn plain_strings_end_at_a_quote_backslash_or_control_character() {
    for length in 0..40 {
        for byte in 0..=u8::MAX {
            for behind in ["", "\"", "\\\u{1}\"xxxxxxxxxxxxxx"] {
                let mut bytes = "é\u{7f}xy z~ü!".repeat(4).into_bytes()[..length].to_vec();
                bytes.push(byte);
                bytes.extend(behind.bytes());
                let simple = bytes
                    .iter()
                    .position(|at| matches!(at, b'"' | b'\\' | 0..b' '));
                assert_eq!(
                    plain_length(&bytes),
                    simple.unwrap_or(bytes.len()),
                    "{bytes:?}"
                );
            }
        }
    }
}

#[test]
fn reads_the_form_that_recorders_write() {
    let line = r#"{"type":"agent:start","agentId":"ä b","schemaVersion":1,"timestamp":1795977394388,"_seq":7,"trace":{"traceId":"t","spanId":"s","parentSpanId":"p"},"props":{}}"#;
    let text = Arc::new(line.to_owned());
    let UsualHead {
        head,
        end,
        agent_id,
    } = read_usual_head(TraceText::shared(&text), 0..line.len()).unwrap();
    assert_eq!(
        head.kind,
        TypeField::Event(EventKind {
            family: Family::Agent,
            phase: Phase::Start
        })
    );
    assert_eq!((head.time, head.seq), (1_795_977_394_388.0, 7.0));
    assert_eq!(head.span_id.as_deref(), Ok("s"));
    assert_eq!(
        (head.trace_id.as_deref(), head.parent.as_deref()),
        (Some("t"), Some("p"))
    );
    assert_eq!(&line[end..], r#","props":{}}"#);
    assert_eq!(&line[agent_id.unwrap()], "\"ä b\"");
    assert!(
        end_of(r#"{"type":"x","timestamp":0,"trace":{"parentSpanId":"","spanId":"s"}}"#).is_some()
    );
}

#[test]
fn refuses_other_forms() {
    for line in [
        r#"{ "type":"x","timestamp":1,"trace":{"spanId":"s"}}"#,
        r#"{"type":"x\n","timestamp":1,"trace":{"spanId":"s"}}"#,
        "{\"type\":\"x\n\",\"timestamp\":1,\"trace\":{\"spanId\":\"s\"}}",
        r#"{"type":"x","timestamp":01,"trace":{"spanId":"s"}}"#,
        r#"{"type":"x","timestamp":1.5,"trace":{"spanId":"s"}}"#,
        r#"{"type":"x","timestamp":,"trace":{"spanId":"s"}}"#,
        r#"{"type":"x","timestamp":1234567890123456789,"trace":{"spanId":"s"}}"#,
        r#"{"type":"x","timestamp":1,"trace":{"spanId":"s","attributes":{}}}"#,
        r#"{"type":"x","timestamp":1,"trace":{"spanId":"s",}}"#,
        r#"{"type":"x","timestamp":1,"trace":{}}"#,
        r#"{"type":"x","timestamp":1,"trace":null}"#,
        r#"{"type":"x","timestamp":1,"trace":{"spanId":"s"#,
        r#"{"timestamp":1}"#,
    ] {
        assert_eq!(end_of(line), None, "{line}");
    }
}
