//! Reads `UsageStats` objects leniently: a missing value or a value of another type counts as zero.

use std::borrow::Cow;

use super::entries::Entries;
use crate::json::{JsonError, JsonStr, Scanner, canonicalize};
use crate::model::ItemKey;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    pub prompt: f64,
    pub completion: f64,
    pub total: f64,
}

/// Amounts by unit, or by type of token.
pub(crate) type Sums<'t> = Entries<Cow<'t, str>, f64>;

/// The key by which usage is merged; see [`ItemKey`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key<'t> {
    Model {
        provider: Option<Cow<'t, str>>,
        name: Cow<'t, str>,
    },
    Tool {
        name: Cow<'t, str>,
        unit: Option<Cow<'t, str>>,
        details: Option<String>,
    },
}

impl Tokens {
    pub(crate) fn add(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
        self.total += other.total;
    }
}

impl Sums<'_> {
    pub(crate) fn add(&mut self, other: &Self) {
        for (unit, amount) in &other.list {
            *self.entry(unit.clone()) += amount;
        }
    }
}

impl Key<'_> {
    pub(crate) fn to_item_key(&self) -> ItemKey {
        let text = |body: &Cow<'_, str>| JsonStr::from_normalized_body(body);
        match self {
            Self::Model { provider, name } => ItemKey::Model {
                provider: provider.as_ref().map(text),
                name: text(name),
            },
            Self::Tool {
                name,
                unit,
                details,
            } => ItemKey::Tool {
                name: text(name),
                unit: unit.as_ref().map(text),
                details: details.as_deref().map(JsonStr::from_normalized_body),
            },
        }
    }
}

/// The fields of an item whose type, model or tool, may not be known yet.
#[derive(Default)]
pub(crate) struct RawItem<'t> {
    kind: Option<Cow<'t, str>>,
    name: Option<Cow<'t, str>>,
    provider: Option<Cow<'t, str>>,
    unit: Option<Cow<'t, str>>,
    pub costs: &'t str,
    pub tokens: Tokens,
    pub token_details: &'t str,
    pub quantity: f64,
    pub details: Option<&'t str>,
}

impl<'t> RawItem<'t> {
    pub(crate) fn read_field(
        &mut self,
        scanner: &mut Scanner<'t>,
        key: &str,
    ) -> Result<(), JsonError> {
        match key {
            "type" => self.kind = string(scanner)?,
            "name" => self.name = string(scanner)?,
            "provider" => self.provider = string(scanner)?,
            "unit" => self.unit = string(scanner)?,
            "costs" => self.costs = value(scanner)?,
            "tokens" if scanner.peek() == Some(b'{') => {
                return object(scanner, |scanner, key| self.read_tokens(scanner, key));
            }
            "quantity" => self.quantity = number(scanner)?,
            "details" => self.details = Some(value(scanner)?),
            _ => {
                scanner.skip_value()?;
            }
        }
        Ok(())
    }

    fn read_tokens(&mut self, scanner: &mut Scanner<'t>, key: &str) -> Result<(), JsonError> {
        match key {
            "prompt" => self.tokens.prompt = number(scanner)?,
            "completion" => self.tokens.completion = number(scanner)?,
            "total" => self.tokens.total = number(scanner)?,
            "details" => self.token_details = value(scanner)?,
            _ => {
                scanner.skip_value()?;
            }
        }
        Ok(())
    }

    pub(crate) fn into_key(mut self) -> Option<(Key<'t>, Self)> {
        let name = self.name.take()?;
        let key = match self.kind.as_deref()? {
            "model" => Key::Model {
                provider: self.provider.take(),
                name,
            },
            "tool" => {
                let details = self.details.and_then(|details| canonicalize(details).ok());
                Key::Tool {
                    name,
                    unit: self.unit.take(),
                    details,
                }
            }
            _ => return None,
        };
        Some((key, self))
    }
}

/// The shortest key that is read has four letters, and an escape has six characters.
const SHORTEST_ESCAPED: usize = 9;

/// Calls `read` with each key of an object. `read` must consume the value.
pub(crate) fn object<'t>(
    scanner: &mut Scanner<'t>,
    mut read: impl FnMut(&mut Scanner<'t>, &str) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    scanner.enter_object()?;
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first)? {
        let body = key.body();
        if body.len() >= SHORTEST_ESCAPED && key.has_escapes() {
            read(scanner, &key.normalized())?;
        } else {
            read(scanner, body)?;
        }
    }
    Ok(())
}

pub(crate) fn value<'t>(scanner: &mut Scanner<'t>) -> Result<&'t str, JsonError> {
    let range = scanner.skip_value()?;
    Ok(scanner.slice(range))
}

fn string<'t>(scanner: &mut Scanner<'t>) -> Result<Option<Cow<'t, str>>, JsonError> {
    if scanner.peek() == Some(b'"') {
        return Ok(Some(scanner.string()?.normalized()));
    }
    scanner.skip_value()?;
    Ok(None)
}

/// A number; 0 for any other value.
pub(crate) fn number(scanner: &mut Scanner<'_>) -> Result<f64, JsonError> {
    if let Some(b'-' | b'0'..=b'9') = scanner.peek() {
        return Ok(scanner.number()?.parse().unwrap_or(0.0));
    }
    scanner.skip_value()?;
    Ok(0.0)
}

/// Adds the numbers of an object. Other members are ignored, and so is a text that is not an object.
pub(crate) fn add_amounts<'t>(text: &'t str, sums: &mut Sums<'t>) {
    if text == "{}" || !text.starts_with('{') {
        return;
    }
    let mut scanner = Scanner::new(text);
    // The text was checked when the event was read.
    let _ = scanner.enter_object();
    let mut first = true;
    while let Ok(Some(unit)) = scanner.next_member(&mut first) {
        let is_number = matches!(scanner.peek(), Some(b'-' | b'0'..=b'9'));
        match number(&mut scanner) {
            Ok(amount) if is_number => *sums.entry(unit.normalized()) += amount,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}
