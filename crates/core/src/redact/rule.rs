//! Built-in rules and rules of the user.

use std::fmt::Write;

use regex_lite::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Declares the built-in rules with their ids.
macro_rules! builtin {
    ($($name:ident $id:literal,)*) => {
        /// The built-in rules. If two find the same span, the first in this order wins.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Builtin {
            $($name,)*
        }

        impl Builtin {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }
        }
    };
}

builtin! {
    AnthropicKey "anthropic-key",
    OpenAiKey "openai-key",
    GoogleKey "google-key",
    AwsKey "aws-key",
    GithubKey "github-key",
    GitlabKey "gitlab-key",
    SlackKey "slack-key",
    StripeKey "stripe-key",
    HuggingFaceKey "huggingface-key",
    GroqKey "groq-key",
    XaiKey "xai-key",
    PerplexityKey "perplexity-key",
    ReplicateKey "replicate-key",
    FireworksKey "fireworks-key",
    CerebrasKey "cerebras-key",
    TogetherKey "together-key",
    NvidiaKey "nvidia-key",
    LangSmithKey "langsmith-key",
    NpmKey "npm-key",
    Jwt "jwt",
    PrivateKey "private-key",
    CardNumber "card-number",
    UrlPassword "url-password",
    Authorization "authorization",
    // Images and files. They are replaced with their hash and size.
    Base64 "base64",
}

impl Builtin {
    /// True if there are so few possible secrets that a digest without a key would reveal them.
    fn is_guessable(self) -> bool {
        matches!(
            self,
            Self::CardNumber | Self::UrlPassword | Self::Authorization
        )
    }
}

/// Index of a rule. Built-in rules come first.
pub(super) type RuleIndex = usize;

#[derive(Debug, Clone)]
pub struct UserRule {
    pub id: String,
    pub find: Find,
}

#[derive(Debug, Clone)]
pub enum Find {
    /// Source and flags of a JavaScript regular expression.
    Pattern { source: String, flags: String },
    /// Names of members whose texts and numbers are secrets at any depth. Case, `_` and `-` are ignored.
    Keys(Vec<String>),
}

/// The reason why a rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RuleError {
    #[error(
        "the rule id {0:?} must consist of 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`"
    )]
    BadId(String),
    #[error("the rule id {0:?} is not unique: another rule or a built-in rule has it")]
    SameId(String),
    #[error(
        "the pattern of the rule {id:?} is not supported: {reason}. Patterns are matched in linear \
         time, so look-around, backreferences and \\p are not available; write the pattern without them"
    )]
    Pattern { id: String, reason: String },
    #[error("the rule {0:?} has no keys")]
    NoKeys(String),
    #[error("unknown built-in rule {0:?}")]
    Unknown(String),
}

/// A compiled rule.
pub(super) struct Rule {
    pub id: String,
    pub guessable: bool,
    pub pattern: Option<Regex>,
    pub keys: Vec<String>,
}

pub(super) fn builtin_rules() -> Vec<Rule> {
    Builtin::ALL
        .iter()
        .map(|builtin| Rule {
            id: builtin.id().to_owned(),
            guessable: builtin.is_guessable(),
            pattern: None,
            keys: Vec::new(),
        })
        .collect()
}

pub(super) fn user_rule(rule: &UserRule) -> Result<Rule, RuleError> {
    let UserRule { id, find } = rule;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_plain) {
        return Err(RuleError::BadId(id.clone()));
    }
    let (pattern, keys) = match find {
        Find::Pattern { source, flags } => (
            Some(compile(source, flags).map_err(|reason| RuleError::Pattern {
                id: id.clone(),
                reason,
            })?),
            Vec::new(),
        ),
        Find::Keys(keys) if keys.is_empty() => return Err(RuleError::NoKeys(id.clone())),
        Find::Keys(keys) => (None, keys.iter().map(|key| normalized_name(key)).collect()),
    };
    Ok(Rule {
        id: id.clone(),
        guessable: true,
        pattern,
        keys,
    })
}

/// A name without case, `_` and `-`.
pub(super) fn normalized_name(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

fn compile(source: &str, flags: &str) -> Result<Regex, String> {
    let mut insensitive = false;
    let mut multi_line = false;
    let mut dot_all = false;
    for flag in flags.chars() {
        match flag {
            'i' => insensitive = true,
            'm' => multi_line = true,
            's' => dot_all = true,
            // All matches are found and texts are read by code point in any case.
            'g' | 'd' | 'u' => {}
            other => return Err(format!("unknown flag {other:?}")),
        }
    }
    if insensitive && !source.is_ascii() {
        return Err("the flag \"i\" works with ASCII letters only".to_owned());
    }
    RegexBuilder::new(&translated(source)?)
        .case_insensitive(insensitive)
        .multi_line(multi_line)
        .dot_matches_new_line(dot_all)
        .build()
        .map_err(|error| error.to_string())
}

/// JavaScript's white space beyond ASCII.
const WIDE_SPACES: &str =
    r"\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// Translates a JavaScript pattern into the syntax of `regex-lite`, where they differ.
fn translated(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len());
    let mut in_class = false;
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('s') if in_class => out.push_str(&format!(r"\s{WIDE_SPACES}")),
                Some('s') => out.push_str(&format!(r"[\s{WIDE_SPACES}]")),
                Some('S') if !in_class => out.push_str(&format!(r"[^\s{WIDE_SPACES}]")),
                Some('S') => return Err(r"\S inside brackets is not known".to_owned()),
                Some('b') if in_class => out.push_str(r"\x08"),
                Some(other @ '1'..='9') => return Err(format!(r"backreference \{other}")),
                Some(letter @ ('p' | 'P' | 'k' | 'c')) => return Err(format!(r"\{letter}")),
                Some('0') => out.push_str(r"\x00"),
                Some(other) if other.is_alphanumeric() || !other.is_ascii() => {
                    out.push('\\');
                    out.push(other);
                }
                // Escapes of punctuation that `regex-lite` rejects.
                Some(other) => {
                    let _ = write!(out, r"\x{{{:x}}}", u32::from(other));
                }
                None => out.push('\\'),
            },
            '[' if in_class => out.push_str(r"\["),
            '[' => {
                in_class = true;
                out.push('[');
                if characters.peek() == Some(&'^') {
                    characters.next();
                    out.push('^');
                }
                if characters.peek() == Some(&']') {
                    return Err("empty brackets".to_owned());
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            // Set operators in `regex-lite`, literal characters in JavaScript.
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(character);
            }
            '(' if !in_class && characters.peek() == Some(&'?') => {
                let mut ahead = characters.clone();
                ahead.next();
                match ahead.next() {
                    Some('=' | '!') => return Err("look-ahead".to_owned()),
                    Some('<') if matches!(ahead.next(), Some('=' | '!')) => {
                        return Err("look-behind".to_owned());
                    }
                    _ => out.push('('),
                }
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// The key of digests if the user has none.
const NO_KEY: &[u8] = b"agent-rewind";

/// Computes keyed digests: HMAC-SHA256.
pub(super) struct Keyed {
    inner: Sha256,
    outer: Sha256,
    pub is_secret: bool,
}

impl Keyed {
    pub fn new(key: Option<&[u8]>) -> Self {
        const BLOCK: usize = 64;
        let given = key.unwrap_or(NO_KEY);
        let mut block = [0_u8; BLOCK];
        if given.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(given));
        } else {
            block[..given.len()].copy_from_slice(given);
        }
        let mut inner = Sha256::new();
        inner.update(block.map(|byte| byte ^ 0x36));
        let mut outer = Sha256::new();
        outer.update(block.map(|byte| byte ^ 0x5C));
        Self {
            inner,
            outer,
            is_secret: key.is_some(),
        }
    }

    /// The first 64 bits as 16 hex digits.
    pub fn digest(&self, parts: &[&[u8]]) -> String {
        let mut inner = self.inner.clone();
        for part in parts {
            inner.update(part);
        }
        let mut outer = self.outer.clone();
        outer.update(inner.finalize());
        hex(&outer.finalize()[..8])
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
