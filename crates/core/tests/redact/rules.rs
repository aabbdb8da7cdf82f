//! User rules and keys.

use agent_rewind_core::redact::{Find, Options, Redactor, RuleError, UserRule};

use super::support::redacted;

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
fn a_secret_behind_a_secret_is_found_at_once() {
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
    // Guessable secrets get no digest that anybody could recompute.
    assert_eq!(redacted(&card), "[redacted:card-number]");
}
