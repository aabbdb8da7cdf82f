//! The placeholders that replace secrets.

use std::ops::Range;

use memchr::{memchr, memmem};
use sha2::{Digest, Sha256};

use super::detect::base64;
use super::rule::{Builtin, Keyed, Rule, hex};
use super::view::plain;

const OPEN: &str = "[redacted:";
const OPEN_BASE64: &str = "[base64:";
/// The digest of a secret in a request.
const OPEN_DIGEST: &str = "[digest:";
const DIGEST_LENGTH: usize = 16;

/// Appends the placeholder of a secret, given as written in the text.
pub(super) fn write(out: &mut String, rule: &Rule, keyed: &Keyed, secret: &str) {
    let mut secret = plain(secret);
    if rule.id == Builtin::Base64.id() {
        let bytes = base64::decode(secret.as_bytes());
        let hash = hex(&Sha256::digest(&bytes));
        out.push_str(&format!("{OPEN_BASE64}{}:{hash}]", bytes.len()));
        return;
    }
    if rule.id == Builtin::PrivateKey.id() {
        // Line breaks are not part of a key.
        secret.retain(|character| !character.is_ascii_whitespace());
    } else if rule.id == Builtin::CardNumber.id() {
        secret.retain(|character| character.is_ascii_digit());
    }
    out.push_str(OPEN);
    out.push_str(&rule.id);
    if keyed.is_secret || !rule.guessable {
        out.push(':');
        out.push_str(&keyed.digest(&[rule.id.as_bytes(), b"\0", secret.as_bytes()]));
    }
    out.push(']');
}

/// The spans of placeholders of these rules. All other bracketed text is ordinary text.
pub(super) fn placeholders(text: &str, rules: &[Rule]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (open, length) in [
        (OPEN, redacted_length as fn(&str, &[Rule]) -> Option<usize>),
        (OPEN_BASE64, base64_length),
        (OPEN_DIGEST, digest_length),
    ] {
        for start in memmem::find_iter(text.as_bytes(), open) {
            let inside = start + open.len();
            if let Some(length) = text.get(inside..).and_then(|rest| length(rest, rules)) {
                found.push(start..inside + length);
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// The longest possible content of the brackets is an id and a digest.
fn closed(rest: &str) -> Option<&str> {
    let near = &rest.as_bytes()[..rest.len().min(100)];
    rest.get(..memchr(b']', near)?)
}

fn redacted_length(rest: &str, rules: &[Rule]) -> Option<usize> {
    let body = closed(rest)?;
    let (id, digest) = match body.split_once(':') {
        Some((id, digest)) => (id, Some(digest)),
        None => (body, None),
    };
    let known = rules.iter().any(|rule| rule.id == id);
    let whole = digest.is_none_or(|digest| is_hex(digest, DIGEST_LENGTH));
    (known && whole).then_some(body.len() + 1)
}

fn base64_length(rest: &str, _: &[Rule]) -> Option<usize> {
    let body = closed(rest)?;
    let (size, hash) = body.split_once(':')?;
    let is_size =
        !size.is_empty() && size.len() <= 12 && size.bytes().all(|byte| byte.is_ascii_digit());
    (is_size && is_hex(hash, 64)).then_some(body.len() + 1)
}

fn digest_length(rest: &str, _: &[Rule]) -> Option<usize> {
    let body = closed(rest)?;
    is_hex(body, 64).then_some(body.len() + 1)
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
