//! Redaction of streamed text.

use std::sync::Arc;

use agent_rewind_core::redact::StreamRedactor;
use proptest::prelude::*;

use super::support::{redacted, redactor, secrets};

fn streamed(text: &str, cuts: &[usize], hold_back: usize) -> String {
    let mut stream = StreamRedactor::new(Arc::new(redactor()), hold_back);
    let mut out = String::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = (from..=cut.min(text.len()).max(from))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(from);
        out.push_str(&stream.push(&text[from..cut]));
        from = cut;
    }
    out.push_str(&stream.finish());
    out
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_gives(
        order in prop::collection::vec(0_usize..16, 0..6),
        fill in prop::collection::vec("[a-z é]{0,300}", 7),
        mut cuts in prop::collection::vec(0_usize..3_000, 0..40),
    ) {
        cuts.sort_unstable();
        let secrets = secrets();
        let mut text = fill[0].clone();
        for (at, index) in order.iter().enumerate() {
            text.push_str(&format!("\n{} {}", secrets[*index].1, fill[at + 1]));
        }
        let out = streamed(&text, &cuts, 512);
        prop_assert_eq!(out, redacted(&text));
    }
}

#[test]
fn secrets_longer_than_the_hold_back_do_not_leak() {
    let body: String = "aB3dE5gH7jK9mN1pQ2sT4vW6xZ"
        .chars()
        .cycle()
        .take(20_000)
        .collect();
    let key = format!(
        "-----BEGIN {0}-----\n{body}\n-----END {0}-----",
        "PRIVATE KEY"
    );
    let token = format!("gh{}{body}", "p_");
    for secret in [key, token] {
        let text = format!("before {secret} after");
        let cuts: Vec<usize> = (0..text.len()).step_by(100).collect();
        let out = streamed(&text, &cuts, 512);
        assert!(
            out.starts_with("before [redacted:") && out.ends_with("] after"),
            "{}",
            out.len()
        );
        assert!(out.len() < 200);
    }
}
