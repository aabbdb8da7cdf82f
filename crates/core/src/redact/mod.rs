//! Redaction: replaces secrets in JSON text and plain text with placeholders. Equal secrets get equal placeholders,
//! and placeholders are never redacted again.

mod detect;
mod placeholder;
mod rule;
mod stream;
mod view;
mod walk;

use std::ops::Range;

pub use rule::{Builtin, Find, RuleError, UserRule};
pub use stream::StreamRedactor;

use crate::json::{JsonError, Scanner};
use rule::{Keyed, Rule};
use view::View;
use walk::{Found, Place, Walk};

/// A replacement may uncover a secret that a longer word hid. Every round leaves less text to scan.
const MAX_ROUNDS: usize = 16;

/// The options of a redactor.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub rules: Vec<UserRule>,
    /// The key for the digests in placeholders. Without a key, guessable secrets get no digest.
    pub key: Option<Vec<u8>>,
    /// Ids of built-in rules to disable.
    pub without: Vec<String>,
}

/// Finds and replaces secrets.
pub struct Redactor {
    rules: Vec<Rule>,
    enabled: Vec<bool>,
    keyed: Keyed,
}

/// A secret in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: String,
    /// JSON pointer of the string or number. For a key, of its object.
    pub pointer: String,
    pub is_key: bool,
    /// The span in UTF-16 units of the string, or in the number's digits.
    pub span: Range<usize>,
}

/// A span of the text that is replaced as a whole.
#[derive(Debug, Clone)]
struct Cluster {
    start: usize,
    end: usize,
    /// The finding that determines the rule: the longest, or the most specific of equally long ones.
    main: Found,
}

#[derive(Debug, Clone, Copy)]
enum TextKind {
    Json,
    /// The content of a string.
    Content,
    /// A part of a stream, which is never read as JSON.
    Stream,
}

impl Redactor {
    pub fn new(options: &Options) -> Result<Self, RuleError> {
        let mut rules = rule::builtin_rules();
        for user in &options.rules {
            if rules.iter().any(|rule| rule.id == user.id) {
                return Err(RuleError::SameId(user.id.clone()));
            }
            rules.push(rule::user_rule(user)?);
        }
        let mut enabled = vec![true; rules.len()];
        for id in &options.without {
            let at = Builtin::ALL
                .iter()
                .position(|builtin| builtin.id() == id)
                .ok_or_else(|| RuleError::Unknown(id.clone()))?;
            enabled[at] = false;
        }
        Ok(Self {
            rules,
            enabled,
            keyed: Keyed::new(options.key.as_deref()),
        })
    }

    /// Identifies the secret key without revealing it. `None` without a key.
    pub fn key_id(&self) -> Option<String> {
        self.keyed
            .is_secret
            .then(|| self.keyed.digest(&[b"agent-rewind key id"]))
    }

    /// Redacts the keys and values of JSON text. `None` if it contains no secret.
    pub fn redact_json(&self, text: &str) -> Result<Option<String>, JsonError> {
        check(text)?;
        Ok(self.rounds(text, TextKind::Json))
    }

    /// Redacts plain text. `None` if it contains no secret.
    pub fn redact_text(&self, text: &str) -> Option<String> {
        self.rounds(text, TextKind::Content)
    }

    /// The secrets in a JSON text, in order.
    pub fn find_json(&self, text: &str) -> Result<Vec<Finding>, JsonError> {
        check(text)?;
        let (clusters, places) = self.clusters(text, TextKind::Json);
        let findings = clusters.into_iter().filter_map(|cluster| {
            let place = places.get(cluster.main.place)?;
            let body = text.get(place.start..)?;
            let unit = |at: usize| view::utf16_offset(body, at.saturating_sub(place.start));
            Some(Finding {
                rule: self.rules.get(cluster.main.rule)?.id.clone(),
                pointer: place.pointer.clone(),
                is_key: place.is_key,
                span: unit(cluster.start)..unit(cluster.end),
            })
        });
        Ok(findings.collect())
    }

    fn rounds(&self, text: &str, kind: TextKind) -> Option<String> {
        let mut redacted = self.once(text, kind)?;
        for _ in 0..MAX_ROUNDS {
            match self.once(&redacted, kind) {
                Some(next) => redacted = next,
                None => break,
            }
        }
        Some(redacted)
    }

    fn once(&self, text: &str, kind: TextKind) -> Option<String> {
        let (clusters, _) = self.clusters(text, kind);
        if clusters.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for cluster in &clusters {
            out.push_str(&text[at..cluster.start]);
            self.replace(&mut out, text, cluster);
            at = cluster.end;
        }
        out.push_str(&text[at..]);
        Some(out)
    }

    fn replace(&self, out: &mut String, text: &str, cluster: &Cluster) {
        let Some(rule) = self.rules.get(cluster.main.rule) else {
            return;
        };
        let quote = cluster.main.quotes.map(|level| {
            let escapes = (1_usize << level.min(view::MAX_LEVELS)) - 1;
            format!("{}\"", "\\".repeat(escapes))
        });
        let quote = quote.as_deref().unwrap_or_default();
        out.push_str(quote);
        placeholder::write(out, rule, &self.keyed, &text[cluster.start..cluster.end]);
        // Two keys of one object must not become equal.
        if cluster.main.ordinal > 0 && rule.guessable && !self.keyed.is_secret {
            out.push_str(&format!("~{}", cluster.main.ordinal + 1));
        }
        out.push_str(quote);
    }

    /// The spans to replace, in order, without overlaps and without existing placeholders.
    fn clusters(&self, text: &str, kind: TextKind) -> (Vec<Cluster>, Vec<Place>) {
        let mut walk = Walk::new(&self.rules, &self.enabled);
        match kind {
            TextKind::Json => walk.json(&View::whole(text)),
            TextKind::Content => walk.content(&View::whole(text)),
            TextKind::Stream => walk.text(&View::whole(text)),
        }
        let Walk { found, places, .. } = walk;
        if found.is_empty() {
            return (Vec::new(), places);
        }
        let merged = merged(found);
        let kept = placeholder::placeholders(text, &self.rules);
        (without(merged, &kept), places)
    }
}

fn check(text: &str) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.skip_value()?;
    scanner.finish()
}

/// Merges overlapping findings.
fn merged(mut found: Vec<Found>) -> Vec<Cluster> {
    found.sort_by_key(|found| (found.start, found.end));
    let mut clusters: Vec<Cluster> = Vec::new();
    for found in found {
        let length = found.end.saturating_sub(found.start);
        match clusters.last_mut().filter(|last| found.start < last.end) {
            Some(last) => {
                last.end = last.end.max(found.end);
                let main_length = last.main.end - last.main.start;
                if length > main_length || length == main_length && found.rule < last.main.rule {
                    last.main = found;
                }
            }
            None => clusters.push(Cluster {
                start: found.start,
                end: found.end,
                main: found,
            }),
        }
    }
    clusters
}

/// Cuts the placeholders out of the spans.
fn without(clusters: Vec<Cluster>, kept: &[Range<usize>]) -> Vec<Cluster> {
    let mut left = Vec::with_capacity(clusters.len());
    let mut first = 0;
    for cluster in clusters {
        while kept
            .get(first)
            .is_some_and(|range| range.end <= cluster.start)
        {
            first += 1;
        }
        let mut at = cluster.start;
        for range in kept[first..]
            .iter()
            .take_while(|range| range.start < cluster.end)
        {
            if at < range.start {
                left.push(Cluster {
                    start: at,
                    end: range.start,
                    main: cluster.main,
                });
            }
            at = at.max(range.end);
        }
        if at < cluster.end {
            left.push(Cluster {
                start: at,
                end: cluster.end,
                main: cluster.main,
            });
        }
    }
    left
}
