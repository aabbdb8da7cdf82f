//! Secrets that are recognized by the name before them: `Authorization: Bearer …`, `x-api-key=…`.

use super::super::rule::Builtin;
use super::url::is_template;
use super::{
    Hit, RunEnds, after_style, before_style, begins_word, has_mixed_run, is_mixed, run_within,
};

/// The kind of value that a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Named {
    /// A header with credentials.
    Header,
    /// A key, if the value looks like one.
    Key,
    /// A password, which may be short.
    Password,
    /// The pairs of a cookie header.
    Cookie,
    /// The element after a header's name in a list.
    Listed,
    /// An AWS secret, which has no prefix.
    Aws,
}

const LONGEST_NAME: usize = 64;

/// Tokens of lists and streams, which are no secrets.
static POSITIONS: &[&str] = &["page", "next", "continuation", "sync", "resume", "cursor"];

/// Classifies the name of a header, parameter, variable or member by its end, such as that of `GITHUB_TOKEN`.
pub(in super::super) fn named(name: &str) -> Option<Named> {
    let last = name.bytes().next_back().unwrap_or_default();
    if !(5..=LONGEST_NAME).contains(&name.len()) || !b"dentyDENTY".contains(&last) {
        return None;
    }
    let mut lower = [0; LONGEST_NAME];
    let plain = name.bytes().filter(|byte| !b"_- ".contains(byte));
    let length = (lower.iter_mut().zip(plain))
        .map(|(to, byte)| *to = byte.to_ascii_lowercase())
        .count();
    let name = &lower[..length];
    let ends = |endings: &[&str]| {
        let mut endings = endings.iter();
        endings.any(|end| name.ends_with(end.as_bytes()))
    };
    // The beginnings of the names of such secrets.
    let before = |end: &str| {
        name.strip_suffix(end.as_bytes())
            .filter(|before| !before.is_empty())
    };
    match name {
        b"xapikey" | b"xgoogapikey" | b"xauthtoken" | b"privatetoken" | b"xgitlabtoken"
        | b"xaccesstoken" | b"xstainlessapikey" => Some(Named::Header),
        // A color may be glued to the front of a name.
        _ if ends(&["authorization"]) => Some(Named::Header),
        _ if ends(&["cookie"]) => Some(Named::Cookie),
        b"sessiontoken" | b"xamzsecuritytoken" | b"xamzsignature" => Some(Named::Aws),
        _ if ends(&["secretaccesskey", "awssessiontoken", "awssecretkey"]) => Some(Named::Aws),
        _ if ends(&["apikey", "secretkey", "privatekey", "clientsecret"]) => Some(Named::Key),
        _ if ends(&["accesstoken", "refreshtoken", "authtoken"]) => Some(Named::Key),
        _ if before("secret").is_some() => Some(Named::Key),
        _ if before("token").is_some_and(|kind| {
            !POSITIONS
                .iter()
                .any(|position| kind.ends_with(position.as_bytes()))
        }) =>
        {
            Some(Named::Key)
        }
        _ if ["password", "passwd", "pwd", "passphrase"]
            .iter()
            .any(|end| before(end).is_some()) =>
        {
            Some(Named::Password)
        }
        _ => None,
    }
}

/// Classifies a name that announces a secret only where it is a whole parameter of a URL, such as `?token=…`.
fn parameter(bytes: &[u8], start: usize, name: &str) -> Option<Named> {
    let is_parameter = start > 0 && b"?&".contains(&bytes[start - 1]);
    let announces = ["token", "secret", "sig", "signature"].contains(&name);
    (is_parameter && announces).then_some(Named::Key)
}

/// The most bytes of a value that are examined.
const LOOK: usize = 1_024;

/// Finds secrets by the names before them.
#[derive(Default)]
pub(super) struct Finder {
    tokens: RunEnds,
    lines: RunEnds,
    credentials: RunEnds,
    passwords: RunEnds,
}

impl Finder {
    /// The value after the `:` or `=` at `at`, if the name before it announces a secret. `length`: 3 if that character is
    /// percent-encoded.
    pub fn at(&mut self, bytes: &[u8], at: usize, length: usize) -> Option<Hit> {
        let mut name_end = before_style(bytes, at);
        for _ in 0..6 {
            if name_end > 0 && is_around(bytes[name_end - 1]) {
                name_end -= 1;
            }
        }
        let mut name_start = name_end;
        while name_start > 0
            && name_end - name_start <= LONGEST_NAME
            && is_name(bytes[name_start - 1])
        {
            name_start -= 1;
        }
        let text = std::str::from_utf8(&bytes[name_start..name_end]).ok()?;
        let name = named(text).or_else(|| parameter(bytes, name_start, text))?;
        // Skip the ">" of "=>".
        let mut from = at + length;
        if bytes.get(from) == Some(&b'>') {
            from += 1;
        }
        from = after_spaces(bytes, from);
        if bytes.get(from) == Some(&b'[') && !bytes[from..].starts_with(b"[redacted:") {
            from = after_spaces(bytes, from + 1);
        }
        from = run_within(bytes, from, LOOK, |byte| b"\\\"'`".contains(&byte));
        from = after_style(bytes, from);
        let (start, end) = match name {
            Named::Header => self.credentials(bytes, from)?,
            Named::Key | Named::Listed => {
                let end = self.token_end(bytes, from);
                looks_like_key(near(bytes, from, end)).then_some((from, end))?
            }
            Named::Password => {
                let end = self.passwords.end(bytes, from, |byte| {
                    byte > b' ' && byte < 0x7F && !b"\"'`\\<>,;&()".contains(&byte)
                });
                looks_like_password(near(bytes, from, end)).then_some((from, end))?
            }
            Named::Cookie => {
                let end = self.lines.end(bytes, from, is_of_line);
                let value = near(bytes, from, end).trim_ascii_end();
                is_cookie(value).then_some((
                    from,
                    if end - from > LOOK {
                        end
                    } else {
                        from + value.len()
                    },
                ))?
            }
            Named::Aws => {
                let end = self.token_end(bytes, from);
                (end - from >= 40 && is_mixed(near(bytes, from, end))).then_some((from, end))?
            }
        };
        Some(Hit::new(start, end, rule_of(name)))
    }

    /// A bearer token without the header's name.
    pub fn bearer_at(&mut self, bytes: &[u8], at: usize) -> Option<Hit> {
        let is_bearer = bytes
            .get(at..at + 7)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"bearer "));
        if !is_bearer || !begins_word(bytes, at) {
            return None;
        }
        let start = after_spaces(bytes, at + 7);
        let end = self.token_end(bytes, start);
        let value = near(bytes, start, end);
        (value.len() >= 16 && is_mixed(value) && !is_template(value))
            .then(|| Hit::new(start, end, Builtin::Authorization))
    }

    fn token_end(&mut self, bytes: &[u8], from: usize) -> usize {
        let end = self.tokens.end(bytes, from, |byte| {
            byte.is_ascii_alphanumeric() || b"+/=_.~-%:[]".contains(&byte)
        });
        without_dots(bytes, from, end)
    }

    fn credentials(&mut self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let Some((start, is_list)) = after_scheme(bytes, from) else {
            let end = self.token_end(bytes, from);
            let value = near(bytes, from, end);
            return (is_secret_value(value) && (is_mixed(value) || value.len() >= 16))
                .then_some((from, end));
        };
        if is_list {
            let end = self.lines.end(bytes, start, is_of_line);
            let list = near(bytes, start, end);
            let is_whole = end - start <= LOOK;
            let trimmed = start + list.trim_ascii_end().len();
            return list
                .contains(&b'=')
                .then_some((start, if is_whole { trimmed } else { end }));
        }
        let stop = self.credentials.end(bytes, start, |byte| {
            !(byte.is_ascii_whitespace() || b"\"'`,;\\<>)}".contains(&byte))
        });
        let end = without_dots(bytes, start, stop);
        let value = near(bytes, start, end);
        let alone = stop == bytes.len() || b"\"'`\n\r\\".contains(&bytes[stop]);
        let is_constant = value.contains(&b'_')
            && value
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
        let is_secret =
            value.len() >= 6 && is_mixed(value) || alone && value.len() >= 8 && !is_constant;
        (is_secret && !is_template(value)).then_some((start, end))
    }
}

fn near(bytes: &[u8], from: usize, end: usize) -> &[u8] {
    &bytes[from..end.min(from + LOOK)]
}

fn after_spaces(bytes: &[u8], from: usize) -> usize {
    run_within(bytes, from, LOOK, |byte| matches!(byte, b' ' | b'\t'))
}

fn without_dots(bytes: &[u8], from: usize, end: usize) -> usize {
    let dots = bytes[from..end]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'.')
        .take(LOOK)
        .count();
    end - dots
}

pub(in super::super) fn rule_of(name: Named) -> Builtin {
    match name {
        Named::Aws => Builtin::AwsKey,
        _ => Builtin::Authorization,
    }
}

/// The span of the secret in a value that has a name of this kind.
pub(in super::super) fn in_value(name: Named, value: &str) -> Option<(usize, usize)> {
    let bytes = value.as_bytes();
    let start = bytes.len() - bytes.trim_ascii_start().len();
    let end = bytes.trim_ascii_end().len();
    if start >= end {
        return None;
    }
    match name {
        Named::Header | Named::Listed => match after_scheme(bytes, start) {
            Some((from, _)) if from < end => {
                (end - from >= 4 && !is_template(&bytes[from..end])).then_some((from, end))
            }
            _ if name == Named::Header => {
                is_secret_value(&bytes[start..end]).then_some((start, end))
            }
            _ => looks_like_key(&bytes[start..end]).then_some((start, end)),
        },
        Named::Key => looks_like_key(&bytes[start..end]).then_some((start, end)),
        Named::Password => looks_like_password(&bytes[start..end]).then_some((start, end)),
        Named::Cookie => is_cookie(&bytes[start..end]).then_some((start, end)),
        Named::Aws => (end - start >= 40 && is_mixed(&bytes[start..end])).then_some((start, end)),
    }
}

fn looks_like_key(text: &[u8]) -> bool {
    let digits = text.iter().any(u8::is_ascii_digit);
    text.len() >= 16
        && digits
        && has_mixed_run(text, 8)
        && !text.contains(&b' ')
        && !is_template(text)
}

/// True for a text of letters and digits or other characters. Words, also those of code, are no passwords.
fn looks_like_password(text: &[u8]) -> bool {
    let letters = text.iter().any(u8::is_ascii_alphabetic);
    let others =
        (text.iter()).any(|byte| !byte.is_ascii_alphabetic() && !b"_-./: []".contains(byte));
    text.len() >= 6 && letters && others && !text.contains(&b' ') && !is_template(text)
}

/// True if a text begins with a pair of a cookie: `name=value`.
fn is_cookie(text: &[u8]) -> bool {
    let name = run_within(text, 0, LONGEST_NAME, |byte| is_name(byte) || byte == b'.');
    let value = text.get(name + 1..).unwrap_or_default();
    name > 0
        && text.get(name) == Some(&b'=')
        && value.len() >= 6
        && value[0] > b' '
        && !is_template(value)
}

fn is_of_line(byte: u8) -> bool {
    !b"\"'`\n\r\\<>".contains(&byte)
}

fn is_secret_value(text: &[u8]) -> bool {
    let is_word = text
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || *byte == b' ');
    text.len() >= 6 && (!is_word || text.len() >= 16 && !text.contains(&b' ')) && !is_template(text)
}

/// True for bytes that may come between a name and its `:`.
fn is_around(byte: u8) -> bool {
    b"\\\"'` ]".contains(&byte)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Schemes of the Authorization header. True if a list of parameters follows.
static SCHEMES: &[(&str, bool)] = &[
    ("bearer", false),
    ("basic", false),
    ("token", false),
    ("apikey", false),
    ("api-key", false),
    ("key", false),
    ("negotiate", false),
    ("ssws", false),
    ("digest", true),
    ("hmac", true),
    ("oauth", true),
    ("hawk", true),
    ("aws4-hmac-sha256", true),
    ("aws4-ecdsa-p256-sha256", true),
];

/// The start of the credentials after a scheme, and true if they are a list.
fn after_scheme(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let word_end = run_within(bytes, from, LONGEST_NAME, is_name);
    let word = &bytes[from..word_end];
    let (_, is_list) = SCHEMES
        .iter()
        .find(|(scheme, _)| word.eq_ignore_ascii_case(scheme.as_bytes()))?;
    let rest = &bytes[word_end..];
    let gap = if rest.starts_with(b"%20") {
        3
    } else {
        run_within(rest, 0, LOOK, |byte| matches!(byte, b' ' | b'\t' | b'+'))
    };
    (gap > 0).then_some((word_end + gap, *is_list))
}
