//! Keys that are recognized by their prefix.

use super::super::rule::Builtin;
use super::{Hit, base64, begins_word, has_mixed_run, is_base64url, is_mixed, run, run_within};

/// The form of a key after its prefix.
struct Shape {
    prefix: &'static str,
    rule: Builtin,
    /// Allowed characters in addition to letters and digits.
    also: &'static [u8],
    /// Fewest characters after the prefix.
    least: usize,
    /// Most characters after the prefix. A longer run is not a key.
    most: usize,
}

const ANY: usize = usize::MAX;

const fn shape(
    prefix: &'static str,
    rule: Builtin,
    also: &'static [u8],
    least: usize,
    most: usize,
) -> Shape {
    Shape {
        prefix,
        rule,
        also,
        least,
        most,
    }
}

/// The first match wins.
const SHAPES: &[Shape] = &[
    shape("sk-ant-", Builtin::AnthropicKey, b"-_", 20, ANY),
    shape("AIza", Builtin::GoogleKey, b"-_", 35, ANY),
    shape("GOCSPX-", Builtin::GoogleKey, b"-_", 20, ANY),
    shape("ya29.", Builtin::GoogleKey, b"-_.", 20, ANY),
    shape("1//0", Builtin::GoogleKey, b"-_", 20, ANY),
    shape("AQ.", Builtin::GoogleKey, b"-_", 30, ANY),
    shape("AKIA", Builtin::AwsKey, b"", 16, 16),
    shape("ASIA", Builtin::AwsKey, b"", 16, 16),
    shape("ABIA", Builtin::AwsKey, b"", 16, 16),
    shape("ACCA", Builtin::AwsKey, b"", 16, 16),
    shape("ABSK", Builtin::AwsKey, b"+/=", 40, ANY),
    shape("ghp_", Builtin::GithubKey, b"", 30, ANY),
    shape("gho_", Builtin::GithubKey, b"", 30, ANY),
    shape("ghu_", Builtin::GithubKey, b"", 30, ANY),
    shape("ghs_", Builtin::GithubKey, b"", 30, ANY),
    shape("ghr_", Builtin::GithubKey, b"", 30, ANY),
    shape("github_pat_", Builtin::GithubKey, b"_", 22, ANY),
    shape("glpat-", Builtin::GitlabKey, b"-_.", 20, ANY),
    shape("gloas-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("gldt-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glrt-", Builtin::GitlabKey, b"-_.", 20, ANY),
    shape("glrtr-", Builtin::GitlabKey, b"-_.", 20, ANY),
    shape("glcbt-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glptt-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glft-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glimt-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glagent-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("glsoat-", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("GR1348941", Builtin::GitlabKey, b"-_", 20, ANY),
    shape("xoxb-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxp-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxa-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxo-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxs-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxr-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxc-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxd-", Builtin::SlackKey, b"-%/+", 16, ANY),
    shape("xoxe-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxe.xoxp-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xoxe.xoxb-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xapp-", Builtin::SlackKey, b"-", 16, ANY),
    shape("xwfp-", Builtin::SlackKey, b"-", 16, ANY),
    shape(
        "hooks.slack.com/services/",
        Builtin::SlackKey,
        b"/",
        20,
        ANY,
    ),
    shape(
        "hooks.slack.com/workflows/",
        Builtin::SlackKey,
        b"/",
        20,
        ANY,
    ),
    shape(
        "hooks.slack.com/triggers/",
        Builtin::SlackKey,
        b"/",
        20,
        ANY,
    ),
    shape("sk_live_", Builtin::StripeKey, b"", 10, ANY),
    shape("sk_test_", Builtin::StripeKey, b"", 10, ANY),
    shape("rk_live_", Builtin::StripeKey, b"", 10, ANY),
    shape("rk_test_", Builtin::StripeKey, b"", 10, ANY),
    shape("pk_live_", Builtin::StripeKey, b"", 10, ANY),
    shape("pk_test_", Builtin::StripeKey, b"", 10, ANY),
    shape("whsec_", Builtin::StripeKey, b"+/=", 20, ANY),
    shape("hf_", Builtin::HuggingFaceKey, b"", 30, ANY),
    shape("api_org_", Builtin::HuggingFaceKey, b"", 30, ANY),
    shape("gsk_", Builtin::GroqKey, b"", 40, ANY),
    shape("xai-", Builtin::XaiKey, b"", 40, ANY),
    shape("pplx-", Builtin::PerplexityKey, b"", 40, ANY),
    shape("r8_", Builtin::ReplicateKey, b"", 30, ANY),
    shape("fw_", Builtin::FireworksKey, b"", 20, ANY),
    shape("csk-", Builtin::CerebrasKey, b"", 40, ANY),
    shape("tgp_v1_", Builtin::TogetherKey, b"-_", 40, ANY),
    shape("nvapi-", Builtin::NvidiaKey, b"-_", 40, ANY),
    shape("lsv2_pt_", Builtin::LangSmithKey, b"_", 40, ANY),
    shape("lsv2_sk_", Builtin::LangSmithKey, b"_", 40, ANY),
    shape("npm_", Builtin::NpmKey, b"", 30, ANY),
];

/// For each byte, the first shape whose prefix begins with it; for each shape, the next such shape. An index past the
/// last shape ends a chain. Most words begin with a letter of few or no shapes.
struct Chains {
    first: [usize; 256],
    next: [usize; SHAPES.len()],
}

static CHAINS: Chains = {
    let none = SHAPES.len();
    let mut chains = Chains {
        first: [none; 256],
        next: [none; SHAPES.len()],
    };
    let mut at = none;
    while at > 0 {
        at -= 1;
        let begins = SHAPES[at].prefix.as_bytes()[0] as usize;
        chains.next[at] = chains.first[begins];
        chains.first[begins] = at;
    }
    chains
};

/// The shapes whose prefix begins with this byte.
fn shapes_of(byte: u8) -> impl Iterator<Item = &'static Shape> {
    let mut at = CHAINS.first[usize::from(byte)];
    std::iter::from_fn(move || {
        let shape = SHAPES.get(at)?;
        at = CHAINS.next[at];
        Some(shape)
    })
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
    let rest = &bytes[at..];
    shapes_of(bytes[at])
        .filter(|shape| rest.starts_with(shape.prefix.as_bytes()))
        .find_map(|shape| shaped(bytes, at, shape))
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
    let from = at + shape.prefix.len();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || shape.also.contains(&byte);
    let mut end = without_dots(bytes, from, run_within(bytes, from, LOOK, is_part));
    let body = &bytes[from..end];
    let fits = (shape.least..=shape.most).contains(&body.len());
    let is_key = match shape.rule {
        Builtin::AwsKey if shape.most == 16 => {
            body.iter()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
                && bytes.get(end) != Some(&b'_')
        }
        _ => is_mixed(body),
    };
    if !fits || !is_key {
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
