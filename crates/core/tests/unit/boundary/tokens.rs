use super::*;

fn literal(text: &str) -> Characters {
    let mut scanner = Scanner::new(text);
    scanner
        .string()
        .map(Characters::of_literal)
        .unwrap_or_default()
}

#[test]
fn counts_characters_however_they_are_written() {
    for (text, ascii, other) in [
        (r#""""#, 0, 0),
        (r#""abc""#, 3, 0),
        (r#""a\n\"\\\u0007\u0041""#, 6, 0),
        (r#""é\u00e9""#, 0, 2),
        (r#""😀\ud83d\ude00""#, 0, 2),
        (r#""\ud83d\ud83d\ude00\ude00x""#, 1, 3),
        ("\"\u{7f}\u{80}\"", 1, 1),
    ] {
        assert_eq!(literal(text), Characters { ascii, other }, "{text}");
    }
}

fn tokens_of(message: &str) -> u32 {
    let list = format!("[{message}]");
    let counted = message_tokens(&list, Numbers::JavaScript).unwrap();
    counted.each[0] - PER_MESSAGE
}

#[test]
fn media_count_alike_in_the_forms_of_all_providers() {
    let data = "iVBORw0KGgo".repeat(1_000);
    for part in [
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,DATA"}}"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,DATA"}"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DATA"}}"#,
        r#"{"type":"document","source":{"type":"base64","data":"DATA"}}"#,
        r#"{"type":"image","image":"DATA"}"#,
        r#"{"type":"file","mediaType":"image/png","data":"DATA"}"#,
        r#"{"type":"input_audio","input_audio":{"data":"DATA"}}"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"DATA"}}"#,
        r#"{"inline_data":{"mime_type":"image/png","data":"DATA"}}"#,
        r#"{"fileData":{"fileUri":"gs://a/b.png"}}"#,
        r#"{"image":{"format":"png","source":{"bytes":"DATA"}}}"#,
    ] {
        let part = part.replace("DATA", &data);
        let message =
            format!(r#"{{"role":"user","content":[{part},{{"type":"text","text":"abcd"}}]}}"#);
        assert_eq!(tokens_of(&message), MEDIA + 1, "{}", &part[..40]);
    }
    let gemini = format!(r#"{{"role":"user","parts":[{{"inlineData":{{"data":"{data}"}}}}]}}"#);
    assert_eq!(tokens_of(&gemini), MEDIA);
    let ollama = format!(r#"{{"role":"user","content":"abcd","images":["{data}","{data}"]}}"#);
    assert_eq!(tokens_of(&ollama), 1 + 2 * MEDIA);
}

#[test]
fn media_in_the_results_of_tools_are_no_text() {
    let data = "iVBORw0KGgo".repeat(1_000);
    for part in [
        r#"{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{"type":"base64","data":"DATA"}}]}"#,
        r#"{"toolResult":{"toolUseId":"1","content":[{"image":{"format":"png","source":{"bytes":"DATA"}}}]}}"#,
        r#"{"type":"tool-result","output":{"type":"content","value":[{"type":"media","data":"DATA"}]}}"#,
    ] {
        let part = part.replace("DATA", &data);
        let tokens = tokens_of(&format!(r#"{{"role":"user","content":[{part}]}}"#));
        assert!(
            (MEDIA..MEDIA + 60).contains(&tokens),
            "{tokens} {}",
            &part[..40]
        );
    }
    // Texts are counted as before.
    let text = r#"{"role":"user","content":[{"type":"document","source":{"type":"text","data":"abcdefgh"}}]}"#;
    assert_ne!(tokens_of(text), MEDIA);
    assert_eq!(
        tokens_of(r#"{"role":"user","content":[{"type":"tool_result","content":"abc"}]}"#),
        10
    );
}
