//! Finds secrets in plain text by their form and by the text before them.

pub(super) mod base64;
mod card;
pub(super) mod named;
mod pem;
mod token;
mod url;

pub(super) use card::is_card_number;

use super::rule::{Builtin, Rule, RuleIndex};

/// The span of a secret in the scanned text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub start: usize,
    pub end: usize,
    pub rule: RuleIndex,
}

impl Hit {
    fn new(start: usize, end: usize, rule: Builtin) -> Self {
        Self {
            start,
            end,
            rule: rule as RuleIndex,
        }
    }
}

/// The bytes at which a detector has to run.
static INTERESTING: [bool; 256] = {
    let mut table = [false; 256];
    let mut letters: &[u8] = b"AGSTBabghnsrpwxyez:=%-0123456789";
    while let [letter, rest @ ..] = letters {
        table[*letter as usize] = true;
        letters = rest;
    }
    table
};

/// Finds the secrets of the built-in rules in one pass.
pub(super) fn builtin(text: &str, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let mut named = named::Finder::default();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !INTERESTING[usize::from(byte)] {
            at += 1;
            continue;
        }
        let hit = match byte {
            b'0'..=b'9' => {
                let (hit, end) = card::at(bytes, at);
                let hit = hit.or_else(|| token::at(bytes, at));
                if let Some(hit) = hit {
                    hits.push(hit);
                }
                at = end.max(at + 1);
                continue;
            }
            b'-' => pem::at(bytes, at),
            b':' => url::at(bytes, at).or_else(|| named.at(bytes, at, 1)),
            b'=' => named.at(bytes, at, 1),
            b'%' => matches!(
                bytes.get(at + 1..at + 3),
                Some(b"3A" | b"3a" | b"3D" | b"3d")
            )
            .then(|| named.at(bytes, at, 3))
            .flatten(),
            b'B' | b'b' => named.bearer_at(bytes, at),
            b's' | b'w' | b'g' => token::second_at(bytes, at).or_else(|| token::at(bytes, at)),
            _ => token::at(bytes, at),
        };
        at = match hit {
            Some(hit) => {
                hits.push(hit);
                // A wider span may contain another secret, such as a key in a header.
                if hit.rule <= Builtin::PrivateKey as RuleIndex {
                    hit.end.max(at + 1)
                } else {
                    at + 1
                }
            }
            None => at + 1,
        };
    }
    base64::find(bytes, hits);
}

/// Finds the matches of the user's patterns.
pub(super) fn patterns(text: &str, rules: &[Rule], hits: &mut Vec<Hit>) {
    for (rule, Rule { pattern, .. }) in rules.iter().enumerate() {
        let Some(pattern) = pattern else { continue };
        for found in pattern.find_iter(text).filter(|found| !found.is_empty()) {
            hits.push(Hit {
                start: found.start(),
                end: found.end(),
                rule,
            });
        }
    }
}

fn run(bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(from..)
        .unwrap_or_default()
        .iter()
        .position(|byte| !is_part(*byte))
        .map_or(bytes.len(), |length| from + length)
}

/// As `run`, over at most `most` bytes.
fn run_within(bytes: &[u8], from: usize, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let near = bytes.len().min(from.saturating_add(most));
    run(&bytes[..near], from, is_part)
}

/// Caches the end of a run of one kind of bytes. It is the same from every position in the run, so each run is
/// scanned once.
#[derive(Default)]
struct RunEnds {
    from: usize,
    end: usize,
}

impl RunEnds {
    fn end(&mut self, bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
        if !(self.from..self.end).contains(&from) {
            self.from = from;
            self.end = run(bytes, from, is_part).max(from);
        }
        self.end
    }
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// True if a word may begin here: not within another word.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    before
        .last()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric())
        || is_glued(before)
}

/// True if the letters and digits before a word are no part of it: the end of an escape, of an escape sequence for a
/// terminal, or a length.
fn is_glued(before: &[u8]) -> bool {
    const LONGEST: usize = 8;
    // Inside of words, which is the most frequent case.
    if let [.., last, end] = before
        && last.is_ascii_alphabetic()
        && !(last.is_ascii_hexdigit() && (end.is_ascii_hexdigit() || b"Bb".contains(last)))
    {
        return false;
    }
    let letters = before.iter().rev().take(LONGEST + 1);
    let length = letters
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let (before_run, run) = before.split_at(before.len() - length);
    let around = before_run.last().copied();
    let is_hex = run.iter().all(u8::is_ascii_hexdigit);
    let is_escape = around == Some(b'%') && length == 2 && is_hex;
    let is_length = length <= 6 && is_hex && run.iter().any(u8::is_ascii_digit);
    // The length of a binary format is one byte, which may be a letter.
    let is_byte = length == 1 && around.is_some_and(|byte| !matches!(byte, b' '..0x7F));
    is_escape || is_length || is_byte || ends_style(before)
}

/// True if a text ends with an escape sequence for a terminal.
fn ends_style(text: &[u8]) -> bool {
    matches!(text, [.., 0x1B, b'(' | b')' | b'#', _]) || before_style(text, text.len()) < text.len()
}

/// The start of the escape sequences for a terminal that end at `at`, such as `ESC [ 31 m`. The escape character may be
/// written in any way, and the bracket percent-encoded.
fn before_style(bytes: &[u8], at: usize) -> usize {
    const LONGEST: usize = 24;
    let Some((letter, parameters)) = bytes[..at].split_last() else {
        return at;
    };
    if !letter.is_ascii_alphabetic() {
        return at;
    }
    for (back, byte) in parameters.iter().enumerate().rev().take(LONGEST) {
        match byte {
            b'[' => return escape_start(bytes, back),
            b'B' | b'b' if parameters[..back].ends_with(b"%5") => {
                return escape_start(bytes, back - 2);
            }
            b'0'..=b'9' | b';' | b':' | b'?' | b'%' | b'B' | b'b' => {}
            _ => return at,
        }
    }
    at
}

/// The start of the escape character before `at`, or `at` without one.
fn escape_start(bytes: &[u8], at: usize) -> usize {
    const FORMS: &[&[u8]] = &[
        b"\x1B", b"%1B", b"%1b", b"\\x1b", b"\\x1B", b"\\033", b"\\e", b"^[",
    ];
    let form = FORMS.iter().find(|form| bytes[..at].ends_with(form));
    at - form.map_or(0, |form| form.len())
}

/// The end of the escape sequences for a terminal that begin at `at`.
fn after_style(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let rest = &bytes[at..];
        let bracket = match rest {
            [0x1B, b'[', ..] => 2,
            [b'%', b'1', b'B' | b'b', b'[', ..] => 4,
            [b'%', b'1', b'B' | b'b', b'%', b'5', b'B' | b'b', ..] => 6,
            _ => return at,
        };
        let end = run_within(rest, bracket, 24, |byte| {
            !byte.is_ascii_alphabetic() || b"Bb".contains(&byte)
        });
        at += rest.len().min(end + 1);
    }
}

/// True if a text has letters and digits, or letters of both cases beyond a leading capital. Words of prose have
/// neither.
fn is_mixed(text: &[u8]) -> bool {
    let digit = text.iter().any(u8::is_ascii_digit);
    let lower = text.iter().any(u8::is_ascii_lowercase);
    let upper = text.iter().any(u8::is_ascii_uppercase);
    let inner_upper = text.iter().skip(1).any(u8::is_ascii_uppercase);
    digit && (lower || upper) || lower && inner_upper
}

/// True if a text contains a run of letters and digits of at least `length` that is not a word.
fn has_mixed_run(text: &[u8], length: usize) -> bool {
    text.split(|byte| !byte.is_ascii_alphanumeric())
        .any(|run| run.len() >= length && is_mixed(run))
}
