//! The canonical form, checked against the examples of RFC 8785, an independent implementation and a simple one in
//! this file.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use agent_rewind_core::json::{
    JsonError, JsonErrorKind, Scanner, canonicalize, lossless, write_canonical,
    write_canonical_trusted, write_number, write_number_token,
};
use proptest::prelude::*;

#[allow(dead_code, reason = "each test file uses a part of it")]
mod generator;
use generator::{Generator, Json};

fn trusted(text: &str) -> Result<String, JsonError> {
    let mut out = String::new();
    write_canonical_trusted(text, &mut out).map(|()| out)
}

fn kind_of<T>(result: Result<T, JsonError>) -> Option<JsonErrorKind> {
    result.err().map(|error| error.kind)
}

#[test]
fn sample_of_rfc_8785() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let wanted = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    assert_eq!(canonicalize(text).as_deref(), Ok(wanted));
}

#[test]
fn order_of_keys_of_rfc_8785() {
    let text = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let wanted = concat!(
        r#"{"\r":"Carriage Return","1":"One","#,
        "\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",",
        "\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}"
    );
    assert_eq!(canonicalize(text).as_deref(), Ok(wanted));
}

#[test]
fn numbers_of_rfc_8785_appendix_b() {
    for (bits, wanted) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let value = f64::from_bits(bits);
        for token in [
            format!("{value:e}"),
            format!("{value:E}"),
            format!("{value:.30e}"),
        ] {
            let mut out = String::new();
            write_number_token(&token, &mut out).unwrap();
            assert_eq!(out, wanted, "{token}");
        }
    }
}

#[test]
fn writes_what_json_stringify_writes() {
    for (text, wanted) in [
        ("-0", "0"),
        ("-0.0e0", "0"),
        ("1e21", "1e+21"),
        ("100000000000000000000", "100000000000000000000"),
        ("5e-324", "5e-324"),
        ("7.038531e-26", "7.038531e-26"),
        ("123456789012345680000", "123456789012345680000"),
        (r#""\u007f\u2028\/""#, "\"\u{7f}\u{2028}/\""),
        (r#""\uD83D""#, r#""\ud83d""#),
        (r#""\uDE00\uD83D\uDE00""#, r#""\ude00😀""#),
        ("\t[ ]\n", "[]"),
        (" { } ", "{}"),
        (
            r#"{"":1,"__proto__":{"b":1,"a":2},"10":1,"9":2}"#,
            r#"{"":1,"10":1,"9":2,"__proto__":{"a":2,"b":1}}"#,
        ),
    ] {
        assert_eq!(canonicalize(text).as_deref(), Ok(wanted), "{text}");
    }
}

#[test]
fn lone_surrogates_sort_by_their_unit() {
    let text = r#"{"\ue000":6,"\udc00":5,"😀":4,"\ud83dz":3,"\ud83d":2,"z":1}"#;
    let wanted = "{\"z\":1,\"\\ud83d\":2,\"\\ud83dz\":3,\"😀\":4,\"\\udc00\":5,\"\u{e000}\":6}";
    assert_eq!(canonicalize(text).as_deref(), Ok(wanted));
    assert_eq!(
        trusted(&text.replace(r"\ue000", "\u{e000}")).as_deref(),
        Ok(wanted)
    );
}

/// 20,000 documents, each with random spelling and as `JSON.stringify` writes it.
#[test]
fn generated_documents_agree_with_independent_implementations() {
    let mut generator = Generator::new(0x5EED);
    let mut compared = 0;
    while compared < 20_000 {
        let json = generator.document();
        let wanted = json.canonical();
        let formatted = json.randomly_formatted(&mut generator);
        if json.is_well_formed() {
            let value: serde_json::Value = serde_json::from_str(&formatted).unwrap();
            assert_eq!(
                serde_json_canonicalizer::to_string(&value).unwrap(),
                wanted,
                "{formatted}"
            );
            compared += 1;
        }
        assert_eq!(
            canonicalize(&formatted).as_ref(),
            Ok(&wanted),
            "{formatted}"
        );
        let stringified = json.stringified();
        assert_eq!(trusted(&stringified).as_ref(), Ok(&wanted), "{stringified}");
        assert_eq!(
            canonicalize(&stringified).as_ref(),
            Ok(&wanted),
            "{stringified}"
        );
    }
}

#[test]
fn objects_of_any_size_and_nesting_are_ordered() {
    // Every object is out of order and nested in another.
    let mut text = String::from("0");
    let mut wanted = String::from("0");
    for _ in 0..300 {
        text = format!(
            r#"{{"c":[{text}],"b":{text_short},"a":"x"}}"#,
            text_short = r#"{"y":1,"x":2}"#
        );
        wanted = format!(r#"{{"a":"x","b":{{"x":2,"y":1}},"c":[{wanted}]}}"#);
    }
    assert_eq!(trusted(&text).as_ref(), Ok(&wanted));
    let keys = |order: &mut dyn Iterator<Item = usize>| {
        let members: Vec<String> = order
            .map(|number| format!("\"key{number:05}\":[{{\"b\":1,\"a\":{number}}}]"))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let sorted = keys(&mut (0..5_000))
        .replace("\"b\":1,", "")
        .replace('}', ",\"b\":1}");
    let sorted = format!("{}}}", sorted.strip_suffix(",\"b\":1}").unwrap());
    assert_eq!(trusted(&keys(&mut (0..5_000).rev())).as_ref(), Ok(&sorted));
    assert_eq!(
        trusted(&keys(&mut (0..5_000).map(|number| number * 3_571 % 5_000))).as_ref(),
        Ok(&sorted)
    );
}

#[test]
fn duplicate_keys_are_rejected_at_the_second() {
    use JsonErrorKind::DuplicateKey;
    for (text, offset) in [
        (r#"{"a":1,"a":2}"#, 7),
        (r#"{"b":1,"a":2,"b":3}"#, 13),
        (r#"[{"x":{"é":1,"z":0,"é":2}}]"#, 20),
        (r#"{"c":1,"a":1,"b":[{"k":1}],"a":1}"#, 27),
        (r#"{"":0,"":0}"#, 6),
    ] {
        let wanted = Err(JsonError {
            kind: DuplicateKey,
            offset,
        });
        assert_eq!(trusted(text), wanted, "{text}");
        assert_eq!(canonicalize(text), wanted, "{text}");
    }
    // The offset in the text, not in its compact form.
    for (text, offset) in [
        (r#" { "a" : 1.00 , "\u0061" : 2 }"#, 16),
        (r#"[1e2, {"\ud83d\ude00":[ ],"b":0,  "😀":1}]"#, 34),
    ] {
        assert_eq!(
            canonicalize(text),
            Err(JsonError {
                kind: DuplicateKey,
                offset
            }),
            "{text}"
        );
    }
}

#[test]
fn errors_have_the_offset_and_nothing_is_written() {
    use JsonErrorKind::{
        BadEscape, BadNumber, ControlCharacter, NumberOutOfRange, TrailingText,
        UnexpectedCharacter, UnexpectedEnd,
    };
    for (text, kind, offset) in [
        ("", UnexpectedEnd, 0),
        ("[1,", UnexpectedEnd, 3),
        ("[1,]", UnexpectedCharacter, 3),
        (r#"{"a":1,}"#, UnexpectedCharacter, 7),
        (r#"{"a" 1}"#, UnexpectedCharacter, 5),
        (r#"{"a":1]"#, UnexpectedCharacter, 6),
        ("[1}", UnexpectedCharacter, 2),
        ("{1:2}", UnexpectedCharacter, 1),
        ("1 2", TrailingText, 2),
        ("[]]", TrailingText, 2),
        ("-", BadNumber, 1),
        ("[01]", UnexpectedCharacter, 2),
        (r#"["\x"]"#, BadEscape, 2),
        (r#"["\u12"]"#, BadEscape, 2),
        ("\"a\nb\"", ControlCharacter, 2),
        ("[1,2e999]", NumberOutOfRange, 3),
        ("nul", UnexpectedCharacter, 0),
    ] {
        let mut out = String::new();
        assert_eq!(
            write_canonical(text, &mut out),
            Err(JsonError { kind, offset }),
            "{text}"
        );
        assert_eq!(out, "");
        if kind != NumberOutOfRange && text != "1 2" && text != r#"{"a" 1}"# {
            assert_eq!(
                write_canonical_trusted(text, &mut out),
                Err(JsonError { kind, offset }),
                "{text}"
            );
            assert_eq!(out, "");
        }
    }
    // `JSON.stringify` writes no white space.
    assert_eq!(kind_of(trusted("[1, 2]")), Some(UnexpectedCharacter));
    assert_eq!(kind_of(trusted("1 ")), Some(TrailingText));
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"{"b":0,"a":["#, "]}")] {
        let nested = |levels: usize| format!("{}0{}", open.repeat(levels), close.repeat(levels));
        assert!(canonicalize(&nested(500)).is_ok());
        assert!(trusted(&nested(500)).is_ok());
        for text in [nested(100_000), open.repeat(100_000)] {
            assert_eq!(kind_of(canonicalize(&text)), Some(JsonErrorKind::TooDeep));
            assert_eq!(kind_of(trusted(&text)), Some(JsonErrorKind::TooDeep));
        }
    }
}

/// Properties of any text.
fn check_anything(text: &str) {
    let mut scanner = Scanner::new(text);
    let is_json = scanner.skip_value().is_ok() && scanner.finish().is_ok();
    match canonicalize(text) {
        Ok(canonical) => {
            assert!(is_json, "{text}");
            assert_eq!(canonicalize(&canonical).as_ref(), Ok(&canonical), "{text}");
            assert_eq!(trusted(&canonical).as_ref(), Ok(&canonical), "{text}");
        }
        Err(error) => {
            use JsonErrorKind::{DuplicateKey, NumberOutOfRange};
            assert!(
                !is_json || matches!(error.kind, DuplicateKey | NumberOutOfRange),
                "{text} {error}"
            );
            assert!(error.offset <= text.len());
        }
    }
    match trusted(text) {
        Ok(ordered) => {
            assert!(is_json, "{text}");
            assert_eq!(ordered.len(), text.len());
        }
        Err(error) => assert!(error.offset <= text.len()),
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Remove(usize),
    Insert(usize, char),
    Swap(usize, usize),
    Double(usize, usize),
    Cut(usize),
}

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for mutation in mutations {
        let length = characters.len().max(1);
        match mutation {
            Mutation::Remove(at) if !characters.is_empty() => {
                characters.remove(at % length);
            }
            Mutation::Insert(at, character) => {
                characters.insert(at % length.min(characters.len() + 1), *character);
            }
            Mutation::Swap(a, b) if !characters.is_empty() => {
                characters.swap(a % length, b % length);
            }
            Mutation::Double(at, count) if !characters.is_empty() => {
                let from = at % length;
                let copied = characters[from..length.min(from + count % 30)].to_vec();
                characters.splice(from..from, copied);
            }
            Mutation::Cut(at) => characters.truncate(at % length),
            _ => {}
        }
    }
    characters.into_iter().collect()
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let character = proptest::sample::select(
        r#"{}[]:,"\\utfn0-.e é😀"#.chars().chain(['\n', '\0']).collect::<Vec<_>>(),
    );
    prop_oneof![
        any::<usize>().prop_map(Mutation::Remove),
        (any::<usize>(), character).prop_map(|(at, character)| Mutation::Insert(at, character)),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        (any::<usize>(), any::<usize>()).prop_map(|(at, count)| Mutation::Double(at, count)),
        any::<usize>().prop_map(Mutation::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        check_anything(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check_anything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nothing_like_json_makes_it_panic(text in r#"([\[\]{}:,"]|"[a-c]{0,9}\\?["u]?"?:?|[0-9.eE+-]{1,4}|true|null|\\u[dD][89a-f]?0?0?| |é|😀){0,60}"#) {
        check_anything(&text);
    }

    #[test]
    fn no_damaged_json_makes_it_panic(seed in any::<u64>(), mutations in proptest::collection::vec(mutation(), 1..6)) {
        let mut generator = Generator::new(seed);
        let json: Json = generator.document();
        check_anything(&mutate(&json.stringified(), &mutations));
        check_anything(&mutate(&json.randomly_formatted(&mut generator), &mutations));
    }
}

fn written_number(token: &str) -> Result<String, JsonErrorKind> {
    let mut out = String::new();
    write_number_token(token, &mut out).map(|()| out)
}

#[test]
fn number_tokens_are_written_as_ecmascript_does() {
    for (token, wanted) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e5", "0"),
        ("-1", "-1"),
        ("1.0", "1"),
        ("1E2", "100"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("5e-324", "5e-324"),
        ("2e-324", "0"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("123456789012345680000", "123456789012345680000"),
        ("123456789012345678901", "123456789012345680000"),
        ("7.038531e-26", "7.038531e-26"),
        ("9007199254740993", "9007199254740992"),
        ("999999999999999", "999999999999999"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("0.1", "0.1"),
        ("-1E-7", "-1e-7"),
    ] {
        assert_eq!(written_number(token).as_deref(), Ok(wanted), "{token}");
    }
}

#[test]
fn number_values_are_written_as_ecmascript_does() {
    for (value, wanted) in [
        (0.1 + 0.2, "0.30000000000000004"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1_795_977_394_381.0, "1795977394381"),
        (f64::NAN, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        let mut out = String::new();
        write_number(value, &mut out);
        assert_eq!(out, wanted);
    }
}

#[test]
fn numbers_outside_doubles_are_rejected() {
    assert_eq!(
        written_number("1e309"),
        Err(JsonErrorKind::NumberOutOfRange)
    );
    assert_eq!(
        written_number("-1.8e308"),
        Err(JsonErrorKind::NumberOutOfRange)
    );
    assert_eq!(written_number("1x"), Err(JsonErrorKind::BadNumber));
    assert_eq!(written_number(""), Err(JsonErrorKind::BadNumber));
}

#[test]
fn lossless_text_is_kept_and_written_as_json_stringify_writes_it() {
    for text in [
        r#"{"a":[1,-2.5,1e+21,0.30000000000000004],"b":{"1":"é","0":"\ud83d"}}"#,
        "12345678901234567000",
        "\"text\"",
        "-0.5",
    ] {
        assert_eq!(lossless(text).as_deref(), Some(text));
    }
    for (text, wanted) in [
        (r#" {"b" : 1.0, "a":5E2} "#, r#"{"b":1,"a":500}"#),
        (r#""\u00e9\/""#, r#""é/""#),
        ("0.000e7", "0"),
        ("12345678901234567.0e3", "12345678901234567000"),
    ] {
        assert_eq!(lossless(text).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn text_that_json_stringify_would_lose_a_part_of_has_no_lossless_form() {
    let deep = format!("{}1{}", "[".repeat(950), "]".repeat(950));
    for text in [
        "154284075601887489",
        "1e400",
        "-1e400",
        "1e-400",
        "-0",
        "-0.0",
        "0.1000000000000000055511151231257827",
        "1e99999999999999999999",
        r#"{"a":1,"a":1}"#,
        r#"{"b":[{"a":1,"c":2,"\u0061":3}]}"#,
        "{} {}",
        "[1,]",
        "",
        "\u{feff}{}",
        &deep,
    ] {
        assert_eq!(lossless(text), None, "{text}");
    }
    let shallow = format!("[{}1{}]", "[".repeat(400), "]".repeat(400));
    let wide = format!("[{}[]]", "[],".repeat(5_000));
    for text in [&shallow, &wide] {
        assert_eq!(lossless(text).as_deref(), Some(text.as_str()));
    }
}
