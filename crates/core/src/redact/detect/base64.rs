//! Images and files in base64.

use memchr::memmem;

use super::super::rule::Builtin;
use super::{Hit, run};

/// The shortest run that counts as a file, in characters.
const LEAST: usize = 256;
/// The shortest run after a `data:` URL.
const LEAST_IN_DATA_URL: usize = 32;

static IS_BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
};

/// Finds files by their length and by `data:` URLs.
pub(super) fn find(bytes: &[u8], hits: &mut Vec<Hit>) {
    // A long run contains one of every `LEAST` bytes.
    let mut at = LEAST - 1;
    while at < bytes.len() {
        if !IS_BASE64[usize::from(bytes[at])] {
            at += LEAST;
            continue;
        }
        let before = bytes[..at]
            .iter()
            .rev()
            .position(|byte| !IS_BASE64[usize::from(*byte)]);
        let start = before.map_or(0, |length| at - length);
        let end = end_of(bytes, at);
        if end - start >= LEAST && is_file(&bytes[start..end]) {
            hits.push(Hit::new(start, end, Builtin::Base64));
        }
        at = end + LEAST;
    }
    for mark in memmem::find_iter(bytes, b";base64,") {
        let start = mark + 8;
        let end = end_of(bytes, start);
        let head = &bytes[mark.saturating_sub(120)..mark];
        if end - start >= LEAST_IN_DATA_URL && memmem::find(head, b"data:").is_some() {
            hits.push(Hit::new(start, end, Builtin::Base64));
        }
    }
}

fn end_of(bytes: &[u8], from: usize) -> usize {
    let end = run(bytes, from, |byte| IS_BASE64[usize::from(byte)]);
    let padding = bytes
        .get(end..)
        .unwrap_or_default()
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    end + padding
}

/// True for letters of both cases and digits that are more than hex digits: not a hash or a word.
fn is_file(text: &[u8]) -> bool {
    let mixed = [
        u8::is_ascii_lowercase,
        u8::is_ascii_uppercase,
        u8::is_ascii_digit,
    ];
    let is_mixed = mixed.iter().all(|is| text.iter().any(is));
    is_mixed && !text.iter().all(u8::is_ascii_hexdigit) || text.starts_with(b"AAAA")
}

/// Decodes base64 of either alphabet. Skips all other characters.
pub(in super::super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let mut bits: u32 = 0;
    let mut count = 0;
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            // The bits above were already written.
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    out
}
