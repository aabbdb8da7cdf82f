//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memchr;

use super::super::rule::Builtin;
use super::{Hit, run_within};

/// The longest part before a host that is examined.
const LONGEST: usize = 1_024;

/// The password of the URL whose `://` begins here.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<Hit> {
    if !bytes[at..].starts_with(b"://") || at == 0 || !bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let from = at + 3;
    // A password may contain an unescaped "@": the last one before the path ends it.
    let end = run_within(bytes, from, LONGEST, |byte| {
        !(byte.is_ascii_whitespace() || b"/?#\"'`<>\\".contains(&byte))
    });
    let authority = &bytes[from..end];
    let host = memchr::memrchr(b'@', authority)?;
    let colon = memchr(b':', &authority[..host])?;
    let password = &authority[colon + 1..host];
    (!password.is_empty() && !is_template(password))
        .then(|| Hit::new(from + colon + 1, from + host, Builtin::UrlPassword))
}

/// True if a text is a placeholder for a secret.
pub(super) fn is_template(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'<' | b'{' | b'%' | b'*'))
        || text.starts_with(b"$") && text.len() > 1 && {
            let name = text[1..].strip_prefix(b"{").unwrap_or(&text[1..]);
            name.first()
                .is_some_and(|byte| byte.is_ascii_uppercase() || *byte == b'_')
                && name.iter().all(|byte| {
                    byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_}".contains(byte)
                })
        }
        || text.iter().all(|byte| b"*.xX".contains(byte))
}
