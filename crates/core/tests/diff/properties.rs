//! Properties of the diff of any two documents.

use std::collections::BTreeSet;

use agent_rewind_core::diff::explain;
use agent_rewind_core::json::canonicalize;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::generator::{Generator, Json};
use super::*;

/// A copy of a document with a few changed values.
fn mutated(document: &Json, generator: &mut Generator) -> Json {
    match document {
        _ if generator.below(12) == 0 => generator.document(),
        Json::Array(elements) => {
            let mut elements: Vec<Json> = elements
                .iter()
                .map(|element| mutated(element, generator))
                .collect();
            match generator.below(6) {
                0 => elements.reverse(),
                1 => elements.insert(generator.below(elements.len() + 1), generator.document()),
                2 => drop(elements.pop()),
                _ => {}
            }
            Json::Array(elements)
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(key, value)| (key.clone(), mutated(value, generator)))
                .collect();
            if generator.below(6) == 0 {
                members.pop();
            }
            Json::Object(members)
        }
        scalar => scalar.clone(),
    }
}

#[test]
fn lists_something_exactly_if_canonical_forms_differ() {
    let mut generator = Generator::new(7);
    for _ in 0..1_500 {
        let document = generator.document();
        let other = mutated(&document, &mut generator);
        let recorded = document.randomly_formatted(&mut generator);
        let actual = other.randomly_formatted(&mut generator);
        assert!(compare(&recorded, &document.randomly_formatted(&mut generator)).is_empty());
        let found = compare(&recorded, &actual);
        assert_eq!(found.is_empty(), document.canonical() == other.canonical());
        for difference in &found.differences {
            let excerpts = [&difference.recorded, &difference.actual];
            assert!(excerpts.iter().all(|excerpt| {
                excerpt
                    .as_ref()
                    .is_none_or(|excerpt| excerpt.chars().count() <= 80)
            }));
        }
        let back = compare(&actual, &recorded);
        assert_eq!(back.is_empty(), found.is_empty());
        assert!(!explain(&found).is_empty());
    }
}

/// Pointers must resolve to the values that they name.
#[test]
fn pointers_resolve_to_the_values() {
    let mut generator = Generator::new(11);
    for _ in 0..1_500 {
        let document = generator.document();
        let other = mutated(&document, &mut generator);
        if !document.is_well_formed() || !other.is_well_formed() {
            continue;
        }
        let [recorded, actual] = [&document, &other].map(Json::canonical);
        let limits = usize::MAX;
        let found = diff(&recorded, &actual, limits).unwrap();
        let [recorded, actual]: [Value; 2] =
            [recorded, actual].map(|text| serde_json::from_str(&text).unwrap());
        for difference in &found.differences {
            let pointer = &*difference.pointer;
            let target = if difference.change == Change::Removed {
                &recorded
            } else {
                &actual
            };
            let value = target.pointer(pointer);
            assert!(value.is_some(), "{pointer}");
            let excerpt = difference
                .actual
                .as_ref()
                .or(difference.recorded.as_ref())
                .unwrap();
            if difference.change != Change::Reordered && !excerpt.contains('…') {
                let shown = serde_json::from_str::<Value>(excerpt).unwrap();
                assert_eq!(value, Some(&shown), "{pointer}");
            }
        }
    }
}

/// The named members of the root are exactly those that differ.
#[test]
fn named_root_members_are_those_that_differ() {
    let mut generator = Generator::new(13);
    for _ in 0..1_000 {
        let document = generator.object();
        let other = mutated(&document, &mut generator);
        let [recorded, actual] = [&document, &other].map(Json::canonical);
        let limits = usize::MAX;
        let found = diff(&recorded, &actual, limits).unwrap();
        let parsed = [&recorded, &actual].map(|text| serde_json::from_str::<Value>(text).ok());
        let [Some(Value::Object(recorded)), Some(Value::Object(actual))] = &parsed else {
            continue;
        };
        let keys: BTreeSet<&String> = recorded.keys().chain(actual.keys()).collect();
        let differing: BTreeSet<String> = keys
            .into_iter()
            .filter(|key| recorded.get(*key) != actual.get(*key))
            .map(|key| key.replace('~', "~0").replace('/', "~1"))
            .collect();
        let named: BTreeSet<String> = found
            .differences
            .iter()
            .map(|difference| difference.pointer.split('/').nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(named, differing);
    }
}

/// Common id generators: name, length, prefix.
const GENERATORS: [(&str, usize, &str); 8] = [
    ("0123456789abcdef", 8, ""),
    ("0123456789abcdef", 32, "trace-"),
    (BASE_36, 11, ""),
    (BASE_62, 22, ""),
    (BASE_62, 24, "call_"),
    (BASE_62, 29, "chatcmpl-"),
    (NANOID, 21, ""),
    ("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26, ""),
];
const BASE_36: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const BASE_62: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NANOID: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";

#[test]
fn ids_of_common_generators_are_recognized_and_names_are_not() {
    let mut generator = Generator::new(17);
    let nature_of = |tokens: [&str; 2]| {
        let [recorded, actual] = tokens.map(|token| json!(format!("See {token}.")).to_string());
        only(&recorded, &actual).nature
    };
    for (alphabet, length, prefix) in GENERATORS {
        let mut make = || {
            let letters = (0..length).map(|_| alphabet.as_bytes()[generator.below(alphabet.len())]);
            format!("{prefix}{}", letters.map(char::from).collect::<String>())
        };
        let known = (0..500)
            .filter(|_| nature_of([&make(), &make()]) == Nature::RandomId)
            .count();
        assert!(known >= 450, "{known} of 500 as {prefix}{}", make());
    }
    let names = [
        "getUserById",
        "listOrders2",
        "Uint8Array",
        "Int16Array",
        "snake_case_name",
        "kebab-case-v2",
        "SCREAMING_CASE",
        "Base64",
        "isBase64",
        "iPhone",
        "documents",
        "templates",
        "summarise",
        "translate",
        "chapter12",
        "chapter13",
        "claude-sonnet",
        "claude-haiku3",
        "gpt-4o-mini",
        "gpt-4.1-nano",
        "utf8mb4",
        "x86_64",
        "README",
        "CHANGELOG",
        "internationalisation",
    ];
    for recorded in names {
        for actual in names.into_iter().filter(|actual| *actual != recorded) {
            assert_eq!(
                nature_of([recorded, actual]),
                Nature::Text,
                "{recorded} {actual}"
            );
        }
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(recorded in ".{0,40}", actual in ".{0,40}") {
        let _ = diff(&recorded, &actual, MAX_DIFFERENCES);
        let [quoted, other] = [&recorded, &actual].map(|text| json!(text).to_string());
        let found = diff(&quoted, &other, MAX_DIFFERENCES).unwrap();
        prop_assert_eq!(found.is_empty(), recorded == actual);
    }

    /// Texts one edit away from dates, ids and escapes.
    #[test]
    fn nearly_volatile_texts_never_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..12),
        others in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..3),
        at in 0_usize..12,
    ) {
        let mut edited = pieces.clone();
        let at = at.min(edited.len());
        edited.splice(at..(at + 1).min(pieces.len()), others);
        let [recorded, actual] = [pieces, edited].map(|pieces| format!("[\"{}\"]", pieces.concat()));
        let found = diff(&recorded, &actual, MAX_DIFFERENCES).unwrap();
        prop_assert_eq!(found.is_empty(), canonicalize(&recorded) == canonicalize(&actual));
    }

    #[test]
    fn garbled_json_never_panics(seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in 32_u8..127) {
        let mut generator = Generator::new(seed);
        let text = generator.document().randomly_formatted(&mut generator);
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = char::from(byte);
        let garbled: String = characters.into_iter().collect();
        let _ = diff(&text, &garbled, MAX_DIFFERENCES);
    }
}

const PIECES: [&str; 24] = [
    "2026-11-28",
    "T10:15:30Z",
    "-",
    "_",
    " ",
    r"\n",
    r"\\",
    r"\u0001",
    r"\ud83d",
    "é",
    "中",
    "November ",
    "Sat ",
    "28",
    "call_",
    "a1B2c3D4e5",
    "9f86d081",
    ",",
    "😀",
    r"\ude00",
    "1795977394",
    "3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e6f",
    "\u{a0}",
    ":",
];
