//! Redaction of JSON text, plain text and streams.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

use std::sync::Arc;

use agent_rewind_core::redact::{Find, Options, Redactor, RuleError, StreamRedactor, UserRule};
use proptest::prelude::*;

/// Keys are put together here, so that none stands in the repository.
fn secrets() -> Vec<(&'static str, String)> {
    let run = |alphabet: &str, length: usize| -> String {
        alphabet.chars().cycle().step_by(7).take(length).collect()
    };
    let mixed = |length| run("aB3dE5gH7jK9mN1pQ2sT4vW6xZ", length);
    vec![
        ("openai-key", format!("sk{}{}", "-", mixed(48))),
        (
            "openai-key",
            format!("sk{}proj-{}_{}-{}", "-", mixed(20), mixed(20), mixed(20)),
        ),
        (
            "anthropic-key",
            format!("sk{}ant-api03-{}AA", "-", mixed(93)),
        ),
        ("google-key", format!("AI{}{}", "za", mixed(35))),
        (
            "aws-key",
            format!("AK{}{}", "IA", run("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        ),
        ("github-key", format!("gh{}{}", "p_", mixed(36))),
        (
            "github-key",
            format!("github{}{}_{}", "_pat_", mixed(22), mixed(59)),
        ),
        ("gitlab-key", format!("gl{}{}", "pat-", mixed(20))),
        (
            "slack-key",
            format!(
                "xo{}{}-{}-{}",
                "xb-",
                123_456_789_012_i64,
                1_234_567_890_123_i64,
                mixed(24)
            ),
        ),
        ("stripe-key", format!("sk{}{}", "_live_", mixed(24))),
        ("huggingface-key", format!("h{}{}", "f_", mixed(34))),
        ("groq-key", format!("gs{}{}", "k_", mixed(52))),
        ("xai-key", format!("xa{}{}", "i-", mixed(80))),
        ("perplexity-key", format!("pp{}{}", "lx-", mixed(48))),
        ("replicate-key", format!("r{}{}", "8_", mixed(37))),
        ("fireworks-key", format!("f{}{}", "w_", mixed(24))),
        ("cerebras-key", format!("cs{}{}", "k-", mixed(48))),
        ("together-key", format!("tg{}{}", "p_v1_", mixed(43))),
        ("nvidia-key", format!("nv{}{}", "api-", mixed(64))),
        (
            "langsmith-key",
            format!("ls{}{}_{}", "v2_pt_", mixed(32), mixed(10)),
        ),
        ("npm-key", format!("np{}{}", "m_", mixed(36))),
        (
            "jwt",
            ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", &mixed(43)].join("."),
        ),
        ("card-number", ["4111", "1111", "1111", "1111"].join(" ")),
        ("card-number", ["5555", "5555", "5555", "4444"].concat()),
        (
            "private-key",
            format!(
                "-----BEGIN {kind}-----\n{}\n{}\n-----END {kind}-----",
                mixed(64),
                mixed(40),
                kind = "PRIVATE KEY"
            ),
        ),
    ]
}

fn redactor() -> Redactor {
    Redactor::new(&Options::default()).unwrap()
}

fn redacted(text: &str) -> String {
    redactor()
        .redact_text(text)
        .unwrap_or_else(|| text.to_owned())
}

fn redacted_json(text: &str) -> String {
    redactor()
        .redact_json(text)
        .unwrap()
        .unwrap_or_else(|| text.to_owned())
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn every_kind_in_text_json_and_json_in_strings() {
    for (rule, secret) in secrets() {
        let text = format!("before {secret}, after");
        let out = redacted(&text);
        assert!(
            out.starts_with(&format!("before [redacted:{rule}")),
            "{out}"
        );
        assert!(out.ends_with("], after"), "{out}");
        assert_eq!(redacted(&out), out);
        // As deep as it stands, the placeholder is the same.
        let placeholder = &out["before ".len()..out.len() - ", after".len()];
        let mut json = format!("{{\"a\":[{}]}}", quoted(&text));
        for _ in 0..4 {
            let out = redacted_json(&json);
            assert!(out.contains(placeholder), "{json}\n{out}");
            assert_eq!(redacted_json(&out), out);
            json = format!("{{\"arguments\":{}}}", quoted(&json));
        }
        let key = redacted_json(&format!("{{{}:1}}", quoted(&secret)));
        assert_eq!(key, format!("{{\"{placeholder}\":1}}"));
    }
}

#[test]
fn escapes_do_not_hide() {
    for (rule, secret) in secrets() {
        let mut escaped = String::new();
        for character in secret.chars() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
        let wanted = redacted(&secret);
        assert!(wanted.starts_with(&format!("[redacted:{rule}")));
        assert_eq!(
            redacted_json(&format!("\"{escaped}\"")),
            format!("\"{wanted}\"")
        );
        // Escaped once more, and in a text that is no JSON.
        let twice = quoted(&format!("cut off: {{\"a\": \"{escaped}"));
        assert_eq!(
            redacted_json(&twice),
            quoted(&format!("cut off: {{\"a\": \"{wanted}"))
        );
    }
}

#[test]
fn names_and_urls_tell_of_secrets() {
    let password = ["hunt", "er2"].concat();
    let opaque = ["0a1b2c3d4e5f", "60718293a4b5"].concat();
    for (text, wanted) in [
        (
            format!("postgres://admin:{password}@db.example.com/app"),
            "postgres://admin:[redacted:url-password]@db.example.com/app",
        ),
        (
            format!("Authorization: Bearer {opaque}\nx"),
            "Authorization: Bearer [redacted:authorization]\nx",
        ),
        (
            format!("curl -H 'authorization: Basic {opaque}'"),
            "curl -H 'authorization: Basic [redacted:authorization]'",
        ),
        (
            format!("x-api-key: {opaque}"),
            "x-api-key: [redacted:authorization]",
        ),
        (
            format!("https://x.test/?api_key={opaque}&page=2"),
            "https://x.test/?api_key=[redacted:authorization]&page=2",
        ),
        (
            format!(r#"{{"headers":{{"Authorization":"Bearer {opaque}","accept":"*/*"}}}}"#),
            r#"{"headers":{"Authorization":"Bearer [redacted:authorization]","accept":"*/*"}}"#,
        ),
        (
            format!(r#"["Authorization","Token {opaque}","accept","*/*"]"#),
            r#"["Authorization","Token [redacted:authorization]","accept","*/*"]"#,
        ),
        (
            format!(r#"{{"name":"x-api-key","value":"{opaque}"}}"#),
            r#"{"name":"x-api-key","value":"[redacted:authorization]"}"#,
        ),
        (
            format!(r#"sent {{"authorization": "Bearer {opaque}"}} to it"#),
            r#"sent {"authorization": "Bearer [redacted:authorization]"} to it"#,
        ),
    ] {
        assert_eq!(redacted(&text), wanted);
        assert_eq!(redacted(wanted), wanted);
        assert_eq!(redacted_json(&quoted(&text)), quoted(wanted));
    }
}

#[test]
fn prose_ids_and_hashes_stay() {
    for line in [
        "the token count is 5",
        "Authorization: required for all users",
        "Authorization: Bearer <token>",
        "authorization: Bearer $TOKEN",
        "Use bearer authentication for this endpoint.",
        "550e8400-e29b-41d4-a716-446655440000",
        "sk-learn-based-classification-model-training",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "http://localhost:8080/@scope/package",
        "git@github.com:owner/repository.git",
        "call 1234567890123456 at 1764461234567",
        "the ghp_ prefix, npm_config_registry and hf_transformers",
        "AKIAIOSFODNN",
        "eyJ is how a token begins",
        "a key starts with -----BEGIN PRIVATE KEY----- and ends",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        r#"{"type":"object","properties":{"authorization":{"type":"string"}},"required":["authorization","session_id"]}"#,
        r#"{"n":1234567890123456,"f":0.4111111111111111,"e":1e22}"#,
    ] {
        assert_eq!(redacted(line), line);
        assert_eq!(redacted_json(&quoted(line)), quoted(line));
    }
}

#[test]
fn numbers_become_strings_with_the_quotes_of_their_level() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let json = format!("{{\"n\":{card},\"m\":[{card},1]}}");
    let wanted = r#"{"n":"[redacted:card-number]","m":["[redacted:card-number]",1]}"#;
    assert_eq!(redacted_json(&json), wanted);
    assert_eq!(redacted_json(&quoted(&json)), quoted(wanted));
    assert_eq!(
        redacted_json(&quoted(&quoted(&json))),
        quoted(&quoted(wanted))
    );
}

#[test]
fn keys_that_become_the_same_stay_apart() {
    let cards = [
        ["4111", "1111", "1111", "1111"],
        ["5555", "5555", "5555", "4444"],
    ]
    .map(|groups| groups.concat());
    let out = redacted_json(&format!("{{\"{}\":1,\"{}\":2}}", cards[0], cards[1]));
    assert_eq!(
        out,
        r#"{"[redacted:card-number]":1,"[redacted:card-number]~2":2}"#
    );
    assert_eq!(redacted_json(&out), out);
}

#[test]
fn files_are_replaced_by_size_and_hash() {
    let bytes: String = (0..100)
        .map(|at| ["QUJD", "x9Zk", "0a+/"][at % 3])
        .collect();
    let out = redacted_json(&format!(
        "{{\"data\":\"{bytes}\",\"url\":\"data:image/png;base64,{bytes}\"}}"
    ));
    let hash = out
        .split("[base64:300:")
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap();
    assert_eq!(hash.len(), 64);
    assert_eq!(
        out,
        format!(
            "{{\"data\":\"[base64:300:{hash}]\",\"url\":\"data:image/png;base64,[base64:300:{hash}]\"}}"
        )
    );
    assert_eq!(redacted_json(&out), out);
    let keep = Redactor::new(&Options {
        without: vec!["base64".to_owned()],
        ..Options::default()
    });
    assert_eq!(keep.unwrap().redact_text(&bytes), None);
}

#[test]
fn rules_of_the_user() {
    let rule = |id: &str, source: &str, flags: &str| UserRule {
        id: id.to_owned(),
        find: Find::Pattern {
            source: source.to_owned(),
            flags: flags.to_owned(),
        },
    };
    let made = |rules: Vec<UserRule>| {
        Redactor::new(&Options {
            rules,
            key: Some(b"k".to_vec()),
            ..Options::default()
        })
    };
    let redactor = made(vec![
        rule("ssn", r"\b\d{3}-\d{2}-\d{4}\b", "g"),
        rule("codename", r"project\s+[\w\-]+", "i"),
        UserRule {
            id: "password".to_owned(),
            find: Find::Keys(vec!["password".to_owned(), "pass_phrase".to_owned()]),
        },
    ])
    .unwrap();
    let out = redactor
        .redact_json(r#"{"a":"078-05-1120","b":"PROJECT\u00a0blue-sky","password":{"old":["x",7]},"passPhrase":"y"}"#)
        .unwrap()
        .unwrap();
    assert_eq!(out.matches("[redacted:").count(), 5, "{out}");
    assert_eq!(redactor.redact_json(&out).unwrap(), None);
    assert!(redactor.key_id().is_some_and(|id| id.len() == 16));
    for (source, flags) in [
        (r"(?<=a)b", ""),
        (r"(a)\1", ""),
        ("a(?!b)", ""),
        (r"\p{L}", "u"),
        ("é", "i"),
        ("a", "y"),
        ("(", ""),
    ] {
        let error = made(vec![rule("x", source, flags)]).err();
        assert!(
            matches!(error, Some(RuleError::Pattern { .. })),
            "{source} {error:?}"
        );
    }
    assert!(matches!(
        made(vec![rule("jwt", "a", "")]).err(),
        Some(RuleError::SameId(_))
    ));
    assert!(matches!(
        made(vec![rule("a b", "a", "")]).err(),
        Some(RuleError::BadId(_))
    ));
}

#[test]
fn a_word_that_was_hidden_is_found_at_once() {
    let redactor = Redactor::new(&Options {
        rules: vec![
            UserRule {
                id: "x".to_owned(),
                find: Find::Pattern {
                    source: "xyz".to_owned(),
                    flags: String::new(),
                },
            },
            UserRule {
                id: "foo".to_owned(),
                find: Find::Pattern {
                    source: r"\bfoo".to_owned(),
                    flags: String::new(),
                },
            },
        ],
        ..Options::default()
    })
    .unwrap();
    assert_eq!(
        redactor.redact_text("xyzfoo").unwrap(),
        "[redacted:x][redacted:foo]"
    );
}

#[test]
fn the_key_makes_the_digest() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let with = |key: &[u8]| {
        Redactor::new(&Options {
            key: Some(key.to_vec()),
            ..Options::default()
        })
        .unwrap()
        .redact_text(&card)
        .unwrap()
    };
    assert_ne!(with(b"a"), with(b"b"));
    assert_eq!(with(b"a").len(), "[redacted:card-number:]".len() + 16);
    // What could be guessed has no digest that anybody could recompute.
    assert_eq!(redacted(&card), "[redacted:card-number]");
}

#[test]
fn findings_name_rule_place_and_span() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let findings = redactor()
        .find_json(&format!(
            "{{\"a/b\":[0,{{\"c\":\"\\u00e9😀 {card}\"}}],\"{card}\":{card}}}"
        ))
        .unwrap();
    let seen: Vec<_> = findings
        .iter()
        .map(|finding| {
            (
                finding.pointer.as_str(),
                finding.is_key,
                finding.span.clone(),
            )
        })
        .collect();
    let number = format!("/{card}");
    assert_eq!(
        seen,
        [
            ("/a~1b/1/c", false, 4..20),
            ("", true, 0..16),
            (number.as_str(), false, 0..16)
        ]
    );
    assert!(redactor().find_json("{").is_err());
}

fn streamed(text: &str, cuts: &[usize], hold_back: usize) -> (String, usize) {
    let mut stream = StreamRedactor::new(Arc::new(redactor()), hold_back);
    let mut out = String::new();
    let mut from = 0;
    let mut held = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = (from..=cut.min(text.len()).max(from))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(from);
        out.push_str(&stream.push(&text[from..cut]));
        from = cut;
        held = held.max(from.saturating_sub(out.len()));
    }
    out.push_str(&stream.finish());
    (out, held)
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_gives(
        order in prop::collection::vec(0_usize..16, 0..6),
        fill in prop::collection::vec("[a-z é]{0,300}", 7),
        mut cuts in prop::collection::vec(0_usize..3_000, 0..40),
    ) {
        cuts.sort_unstable();
        let secrets = secrets();
        let mut text = fill[0].clone();
        for (at, index) in order.iter().enumerate() {
            text.push_str(&format!("\n{} {}", secrets[*index].1, fill[at + 1]));
        }
        let (out, _) = streamed(&text, &cuts, 512);
        prop_assert_eq!(out, redacted(&text));
    }

    #[test]
    fn any_text_is_redacted_once_for_all(text in "(sk-|Bearer |https://a:|@|[a-zA-Z0-9]{0,30}|[\\[\\]:\"\\\\{}, \n]|\\\\u0041|Authorization: ){0,12}") {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once.clone());
        let json = redacted_json(&quoted(&text));
        prop_assert!(serde_json::from_str::<String>(&json).is_ok());
        prop_assert_eq!(redacted_json(&json), json.clone());
    }
}

#[test]
fn what_is_longer_than_the_hold_back_does_not_pass() {
    let body: String = "aB3dE5gH7jK9mN1pQ2sT4vW6xZ"
        .chars()
        .cycle()
        .take(20_000)
        .collect();
    let key = format!(
        "-----BEGIN {0}-----\n{body}\n-----END {0}-----",
        "PRIVATE KEY"
    );
    let token = format!("gh{}{body}", "p_");
    for secret in [key, token] {
        let text = format!("before {secret} after");
        let cuts: Vec<usize> = (0..text.len()).step_by(100).collect();
        let (out, held) = streamed(&text, &cuts, 512);
        assert!(
            out.starts_with("before [redacted:") && out.ends_with("] after"),
            "{}",
            out.len()
        );
        assert!(out.len() < 200);
        let _ = held;
    }
}

/// What begins a secret again and again is read once: anything worse would keep this from ending.
#[test]
fn text_that_promises_much_takes_no_longer() {
    for piece in [
        "eyJ",
        "eyJ-",
        "eyJx.aaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "a:",
        "://",
        "@:",
        "[redacted:",
        "\\",
        "\\\"",
        "authorization: ",
        "authorization: bearer ",
        "authorization: digest a=",
        "4111-",
        "\"",
        "bearer ",
        "data:;base64,",
        "http://a:b",
        "api_key=",
        "api_key=aB3dE5gH7jK9mN1p:",
        "AKIA",
        "sk-proj-",
        "sk-proj-aB3dE5gH7j ",
        "glpat-",
        "[redacted:jwt]",
    ] {
        for start in ["", "x://", "{\"a\":\"", "Authorization: Bearer "] {
            let text = format!("{start}{}", piece.repeat(60_000 / piece.len()));
            let out = redacted(&text);
            assert!(!out.is_empty(), "{piece}");
        }
    }
}
