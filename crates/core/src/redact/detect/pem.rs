//! Private keys in PEM form.

use memchr::memmem;

use super::super::rule::Builtin;
use super::{Hit, run, run_within};

const BEGIN: &[u8] = b"-----BEGIN ";
const LONGEST_LABEL: usize = 40;
/// The longest key whose end is searched. For a longer key, only the part that looks like a key is replaced.
const LONGEST: usize = 64 * 1024;

/// The private key whose first line begins here. A truncated key ends where the text stops looking like a key.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<Hit> {
    let rest = bytes.get(at..)?.strip_prefix(BEGIN)?;
    let label_end = run_within(rest, 0, LONGEST_LABEL + 1, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    let label = &rest[..label_end];
    if label.len() > LONGEST_LABEL || memmem::find(label, b"PRIVATE KEY").is_none() {
        return None;
    }
    if !rest[label_end..].starts_with(b"-----") {
        return None;
    }
    let body = at + BEGIN.len() + label_end + 5;
    let end_line = [b"-----END ", label, b"-----"].concat();
    let near = &bytes[body..bytes.len().min(body + LONGEST)];
    let end = memmem::find(near, &end_line)
        .map(|found| body + found + end_line.len())
        .or_else(|| cut_off(bytes, body))?;
    Some(Hit::new(at, end, Builtin::PrivateKey))
}

fn cut_off(bytes: &[u8], body: usize) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_between = |byte: u8| byte.is_ascii_whitespace() || b"\\,:-".contains(&byte);
    let first = run(bytes, body, is_between);
    // After an escaped line break.
    let has_key = run(bytes, first, is_part) - first >= 16;
    has_key.then(|| run(bytes, first, |byte| is_part(byte) || is_between(byte)))
}
