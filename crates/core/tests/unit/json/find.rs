use super::*;
use crate::json::string::normalize_body;

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The reference: byte by byte.
fn simple_next(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                at += 1;
                match bytes.get(at) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                    Some(b'u') if four_hex_digits(bytes, at + 1) => {}
                    _ => return at,
                }
            }
            special if is_special(*special) => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Reads consecutive strings from `first` to the first fault.
fn assert_same_ends(bytes: &[u8], first: usize) {
    let mut ends = StringEnds::new();
    let mut from = first;
    loop {
        let end = ends.next(bytes, from);
        assert_eq!(
            end,
            simple_next(bytes, from),
            "from {from} in {:?}",
            String::from_utf8_lossy(bytes)
        );
        if bytes.get(end) != Some(&b'"')
            || bytes[..end].ends_with(b"\\") && simple_next(bytes, end - 1) == end
        {
            return;
        }
        from = end + 1;
    }
}

#[test]
fn each_byte_at_each_place_of_a_block() {
    for byte in 0..=u8::MAX {
        for at in 0..BLOCK {
            let mut block = [b'x'; BLOCK];
            block[at] = byte;
            let special = lanes_of(&block).map(special_bytes);
            assert_eq!(
                bits(special),
                u64::from(is_special(byte)) << at,
                "{byte:#x} at {at}"
            );
            assert_eq!(any(special), is_special(byte), "{byte:#x} at {at}");
        }
    }
    assert_eq!(bits(lanes_of(&[b'"'; BLOCK]).map(special_bytes)), u64::MAX);
}

#[test]
fn strings_of_all_lengths() {
    for length in 0..200 {
        for end in [
            "\"",
            "\n",
            "",
            "\\",
            "\\x",
            "\\u12",
            "\\u12g4\"",
            "\\u00e9\"",
            "\\\\\"",
            "\\\"",
            "\\\\\\\"\"",
        ] {
            let text = format!("{}{end}", "x".repeat(length));
            for first in 0..=length {
                assert_same_ends(text.as_bytes(), first);
            }
        }
    }
}

/// True if an escape was found that `JSON.stringify` may not write.
fn is_foreign(body: &str) -> bool {
    let text = format!("{body}\"");
    let mut ends = StringEnds::new();
    ends.next(text.as_bytes(), 0);
    ends.has_foreign_escape()
}

#[test]
fn escapes_that_stay_as_they_are() {
    for unit in 0..=u16::MAX {
        for body in [format!("\\u{unit:04x}"), format!("\\u{unit:04X}")] {
            let stays = normalize_body(&body) == body;
            // A lone surrogate also stays, but this search cannot know that it is lone.
            assert_eq!(!is_foreign(&body), stays && unit < 0x20, "{body}");
        }
    }
    for letter in ' '..='~' {
        for at in [0, 1, BLOCK - 2, BLOCK - 1, BLOCK] {
            let body = format!("{}\\{letter}", "x".repeat(at));
            assert_eq!(is_foreign(&body), !"\"\\bfnrt".contains(letter), "{body}");
        }
    }
}

#[test]
fn any_mixture() {
    const ALPHABET: &[u8] = b"\\\\\\\\\\\"\"unx0aF\n\xC3\xA9xxxxxxxxxxxxxxx";
    let mut state: u32 = 1;
    for round in 0..20_000_usize {
        let bytes: Vec<u8> = (0..round % 300)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Every second round uses only valid escapes, to get further.
                let letters = if round % 2 == 0 {
                    ALPHABET
                } else {
                    &ALPHABET[..8]
                };
                letters[(state >> 16) as usize % letters.len()]
            })
            .collect();
        assert_same_ends(&bytes, 0);
    }
}
