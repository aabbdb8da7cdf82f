//! Test secrets, and helpers to redact.

use agent_rewind_core::redact::{Options, Redactor};

/// Keys are assembled here, so that the repository contains none.
pub fn secrets() -> Vec<(&'static str, String)> {
    let run = |alphabet: &str, length: usize| -> String {
        alphabet.chars().cycle().step_by(7).take(length).collect()
    };
    let mixed = |length| run("aB3dE5gH7jK9mN1pQ2sT4vW6xZ", length);
    vec![
        ("openai-key", format!("sk{}{}", "-", mixed(48))),
        (
            "openai-key",
            format!("sk{}proj-{}_{}-{}", "-", mixed(20), mixed(20), mixed(20)),
        ),
        (
            "anthropic-key",
            format!("sk{}ant-api03-{}AA", "-", mixed(93)),
        ),
        ("google-key", format!("AI{}{}", "za", mixed(35))),
        (
            "aws-key",
            format!("AK{}{}", "IA", run("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        ),
        ("github-key", format!("gh{}{}", "p_", mixed(36))),
        (
            "github-key",
            format!("github{}{}_{}", "_pat_", mixed(22), mixed(59)),
        ),
        ("gitlab-key", format!("gl{}{}", "pat-", mixed(20))),
        (
            "slack-key",
            format!(
                "xo{}{}-{}-{}",
                "xb-",
                123_456_789_012_i64,
                1_234_567_890_123_i64,
                mixed(24)
            ),
        ),
        ("stripe-key", format!("sk{}{}", "_live_", mixed(24))),
        ("huggingface-key", format!("h{}{}", "f_", mixed(34))),
        ("groq-key", format!("gs{}{}", "k_", mixed(52))),
        ("xai-key", format!("xa{}{}", "i-", mixed(80))),
        ("perplexity-key", format!("pp{}{}", "lx-", mixed(48))),
        ("replicate-key", format!("r{}{}", "8_", mixed(37))),
        ("fireworks-key", format!("f{}{}", "w_", mixed(24))),
        ("cerebras-key", format!("cs{}{}", "k-", mixed(48))),
        ("together-key", format!("tg{}{}", "p_v1_", mixed(43))),
        ("nvidia-key", format!("nv{}{}", "api-", mixed(64))),
        (
            "langsmith-key",
            format!("ls{}{}_{}", "v2_pt_", mixed(32), mixed(10)),
        ),
        ("npm-key", format!("np{}{}", "m_", mixed(36))),
        (
            "jwt",
            ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", &mixed(43)].join("."),
        ),
        ("card-number", ["4111", "1111", "1111", "1111"].join(" ")),
        ("card-number", ["5555", "5555", "5555", "4444"].concat()),
        (
            "private-key",
            format!(
                "-----BEGIN {kind}-----\n{}\n{}\n-----END {kind}-----",
                mixed(64),
                mixed(40),
                kind = "PRIVATE KEY"
            ),
        ),
    ]
}

pub fn redactor() -> Redactor {
    Redactor::new(&Options::default()).unwrap()
}

pub fn redacted(text: &str) -> String {
    redactor()
        .redact_text(text)
        .unwrap_or_else(|| text.to_owned())
}

pub fn redacted_json(text: &str) -> String {
    redactor()
        .redact_json(text)
        .unwrap()
        .unwrap_or_else(|| text.to_owned())
}

pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
