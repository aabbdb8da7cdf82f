//! Keys that are recognized by their prefix.

use super::super::rule::Builtin;
use super::{Hit, base64, begins_word, has_mixed_run, is_base64url, is_mixed, run, run_within};

/// The form of the keys that begin with one of these prefixes.
struct Shape {
    prefixes: &'static [&'static str],
    rule: Builtin,
    /// Allowed characters in addition to letters and digits.
    also: &'static [u8],
    /// Fewest characters after the prefix.
    least: usize,
}

const fn shape(
    rule: Builtin,
    least: usize,
    also: &'static [u8],
    prefixes: &'static [&'static str],
) -> Shape {
    Shape {
        prefixes,
        rule,
        also,
        least,
    }
}

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    shape(Builtin::AnthropicKey, 20, b"-_", &["sk-ant-"]),
    shape(Builtin::GoogleKey, 35, b"-_", &["AIza"]),
    shape(Builtin::GoogleKey, 20, b"-_", &["GOCSPX-", "1//0"]),
    shape(Builtin::GoogleKey, 20, b"-_.", &["ya29."]),
    shape(Builtin::GoogleKey, 30, b"-_", &["AQ."]),
    shape(Builtin::AwsKey, 16, b"", &["AKIA", "ASIA", "ABIA", "ACCA"]),
    shape(Builtin::AwsKey, 40, b"+/=", &["ABSK"]),
    shape(Builtin::GithubKey, 30, b"", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]),
    shape(Builtin::GithubKey, 22, b"_", &["github_pat_"]),
    shape(Builtin::GitlabKey, 20, b"-_.", &["glpat-", "glrt-", "glrtr-"]),
    shape(Builtin::GitlabKey, 20, b"-_", &[
        "gloas-", "gldt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "GR1348941",
    ]),
    shape(Builtin::SlackKey, 16, b"-", &[
        "xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxs-", "xoxr-", "xoxc-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-",
        "xapp-", "xwfp-",
    ]),
    shape(Builtin::SlackKey, 16, b"-%/+", &["xoxd-"]),
    shape(Builtin::SlackKey, 20, b"/", &[
        "hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/",
    ]),
    shape(Builtin::StripeKey, 10, b"", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"]),
    shape(Builtin::StripeKey, 20, b"+/=", &["whsec_"]),
    shape(Builtin::HuggingFaceKey, 30, b"", &["hf_", "api_org_"]),
    shape(Builtin::GroqKey, 40, b"", &["gsk_"]),
    shape(Builtin::XaiKey, 40, b"", &["xai-"]),
    shape(Builtin::PerplexityKey, 40, b"", &["pplx-"]),
    shape(Builtin::ReplicateKey, 30, b"", &["r8_"]),
    shape(Builtin::FireworksKey, 20, b"", &["fw_"]),
    shape(Builtin::CerebrasKey, 40, b"", &["csk-"]),
    shape(Builtin::TogetherKey, 40, b"-_", &["tgp_v1_"]),
    shape(Builtin::NvidiaKey, 40, b"-_", &["nvapi-"]),
    shape(Builtin::LangSmithKey, 40, b"_", &["lsv2_pt_", "lsv2_sk_"]),
    shape(Builtin::NpmKey, 30, b"", &["npm_"]),
];

/// For each byte, one bit for every shape with a prefix that begins with it. Most words begin with a letter of few or no
/// shapes.
static BY_FIRST: [u32; 256] = {
    let mut table = [0; 256];
    let mut shape = 0;
    while shape < SHAPES.len() {
        let mut prefixes = SHAPES[shape].prefixes;
        while let [prefix, rest @ ..] = prefixes {
            table[prefix.as_bytes()[0] as usize] |= 1 << shape;
            prefixes = rest;
        }
        shape += 1;
    }
    table
};

/// The shapes of an entry of [`BY_FIRST`].
fn shapes_of(bits: u32) -> impl Iterator<Item = &'static Shape> {
    let shapes = SHAPES.iter().enumerate();
    shapes.filter_map(move |(at, shape)| (bits >> at & 1 == 1).then_some(shape))
}

/// Kinds of keys after `sk-` whose rest contains `-` and `_`.
static KINDS: &[&str] = &[
    "proj-", "svcacct-", "admin-", "service-", "None-", "or-", "lf-",
];

/// The key that begins here.
#[inline]
pub(super) fn at(bytes: &[u8], at: usize) -> Option<Hit> {
    // Fails early for most letters.
    if begins_word(bytes, at) {
        key_at(bytes, at)
    } else {
        None
    }
}

fn key_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let shaped = match BY_FIRST[usize::from(bytes[at])] {
        0 => None,
        bits => shapes_of(bits).find_map(|shape| shaped(bytes, at, shape)),
    };
    shaped
        .or_else(|| openai(bytes, at))
        .or_else(|| jwt(bytes, at))
}

/// The key whose second letter is here. Its first letter is too frequent to check at each occurrence.
pub(super) fn second_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let first = at.checked_sub(1)?;
    match (bytes[first], bytes[at]) {
        (b'c' | b'l', b's') | (b'f', b'w') | (b't', b'g') => self::at(bytes, first),
        _ => None,
    }
}

/// The most bytes of a key that are examined.
const LOOK: usize = 512;

fn shaped(bytes: &[u8], at: usize, shape: &Shape) -> Option<Hit> {
    let rest = &bytes[at..];
    let mut prefixes = shape.prefixes.iter();
    let from = at
        + prefixes
            .find(|prefix| rest.starts_with(prefix.as_bytes()))?
            .len();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || shape.also.contains(&byte);
    let mut end = without_dots(bytes, from, run_within(bytes, from, LOOK, is_part));
    let body = &bytes[from..end];
    let is_key = match shape.rule {
        // Access key ids: exactly 16 characters.
        Builtin::AwsKey if shape.also.is_empty() => {
            body.len() == shape.least
                && body
                    .iter()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                && bytes.get(end) != Some(&b'_')
        }
        _ => body.len() >= shape.least && is_mixed(body),
    };
    if !is_key {
        return None;
    }
    end = without_dots(bytes, from, run(bytes, end, is_part).max(end));
    Some(Hit::new(at, end, shape.rule))
}

/// Excludes trailing dots: the end of a sentence or a path.
fn without_dots(bytes: &[u8], from: usize, mut end: usize) -> usize {
    while end > from && matches!(bytes[end - 1], b'.' | b'/') {
        end -= 1;
    }
    end
}

fn openai(bytes: &[u8], at: usize) -> Option<Hit> {
    if !bytes[at..].starts_with(b"sk-") {
        return None;
    }
    let from = at + 3;
    let near = run_within(bytes, from, LOOK, is_base64url);
    let body = &bytes[from..near];
    // Hyphenated names such as `sk-learn-…` are common.
    let longest = if KINDS.iter().any(|kind| body.starts_with(kind.as_bytes())) {
        8
    } else {
        16
    };
    (body.len() >= 20 && has_mixed_run(body, longest))
        .then(|| Hit::new(at, run(bytes, near, is_base64url), Builtin::OpenAiKey))
}

const LONGEST_HEADER: usize = 2_048;
const LONGEST_PART: usize = 32 * 1024;

/// A JSON Web Token: its header is the base64 of a JSON object with an algorithm.
fn jwt(bytes: &[u8], at: usize) -> Option<Hit> {
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let header = run_within(bytes, at, LONGEST_HEADER, is_base64url);
    let part = |from: usize| -> Option<usize> {
        (bytes.get(from) == Some(&b'.'))
            .then(|| run_within(bytes, from + 1, LONGEST_PART, is_base64url))
    };
    let payload = part(header).filter(|end| *end > header + 4)?;
    let mut end = part(payload)?;
    // An encrypted token has five parts.
    for _ in 3..5 {
        match part(end).filter(|further| *further > end + 1) {
            Some(further) => end = further,
            None => break,
        }
    }
    let payload_is_object = bytes[header + 1..].starts_with(b"eyJ");
    let names_algorithm = || {
        let decoded = base64::decode(&bytes[at..header]);
        decoded.windows(5).any(|window| window == b"\"alg\"")
    };
    (payload_is_object || names_algorithm()).then(|| Hit::new(at, end, Builtin::Jwt))
}
