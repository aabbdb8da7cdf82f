//! Secrets that are found in any notation, and text that is not a secret.

use super::support::{quoted, redacted, redacted_json, secrets};

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
        // The placeholder is the same at any depth.
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
        // Escaped once more, in a text that is not JSON.
        let twice = quoted(&format!("cut off: {{\"a\": \"{escaped}"));
        assert_eq!(
            redacted_json(&twice),
            quoted(&format!("cut off: {{\"a\": \"{wanted}"))
        );
    }
}

#[test]
fn names_and_urls_announce_secrets() {
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
            format!("get https://x.test/?token={opaque}&page=2&sig={opaque}"),
            "get https://x.test/?token=[redacted:authorization]&page=2&sig=[redacted:authorization]",
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
fn names_count_by_their_end() {
    let opaque = ["0a1B2c3d4e5f", "60718293a4b5"].concat();
    for name in [
        "MISTRAL_API_KEY",
        "GITHUB_TOKEN",
        "vaultToken",
        "x-vault-token",
        "STRIPE_WEBHOOK_SECRET",
        "DATABASE_PASSWORD",
        "smtpPassword",
        "DEPLOYER_PRIVATE_KEY",
    ] {
        for (text, wanted) in [
            (
                format!("{name}={opaque}"),
                format!("{name}=[redacted:authorization]"),
            ),
            (
                format!("export {name}=\"{opaque}\""),
                format!("export {name}=\"[redacted:authorization]\""),
            ),
            (
                format!("\u{1b}[33m{name}\u{1b}[0m: \u{1b}[32m{opaque}\u{1b}[0m"),
                format!("\u{1b}[33m{name}\u{1b}[0m: \u{1b}[32m[redacted:authorization]\u{1b}[0m"),
            ),
            (
                format!("q={name}%3D{opaque}"),
                format!("q={name}%3D[redacted:authorization]"),
            ),
        ] {
            assert_eq!(redacted(&text), wanted);
        }
        let json = redacted_json(&format!("{{{}:{}}}", quoted(name), quoted(&opaque)));
        assert_eq!(
            json,
            format!("{{{}:\"[redacted:authorization]\"}}", quoted(name))
        );
    }
    for text in [
        "next_page_token=CAEQAAabc123DEF456ghi",
        "max_tokens=4096",
        "db_password=config.databasePassword",
        "GITHUB_TOKEN=$GITHUB_TOKEN",
        "cookie: chocolate",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn escape_sequences_and_lengths_do_not_hide() {
    let styles = [
        "\u{1b}[31m",
        "\u{1b}[01;31m\u{1b}[K",
        "\u{1b}(B",
        "%1B%5B31m",
        "\\033[1m",
    ];
    let lengths = ["40", "1f", "\nl"];
    for (rule, secret) in secrets() {
        // Digits before a card number make it another number.
        let lengths = if rule == "card-number" {
            &[][..]
        } else {
            &lengths
        };
        for before in styles.iter().chain(lengths) {
            let out = redacted(&format!("x {before}{secret}"));
            assert!(
                out.starts_with(&format!("x {before}[redacted:{rule}")),
                "{out:?}"
            );
        }
    }
}

#[test]
fn prose_ids_and_hashes_are_not_secrets() {
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
