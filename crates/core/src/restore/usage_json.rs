//! Reads `UsageStats` objects, leniently: what is missing or of another type counts as nothing.

use std::borrow::Cow;

use super::tally::{Key, Sums, Tokens};
use crate::json::{JsonError, Scanner, canonicalize};

/// The fields of an item, before it is known whether it is a model's or a tool's.
#[derive(Default)]
pub(super) struct RawItem<'t> {
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
    pub(super) fn read_field(
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

    pub(super) fn into_key(mut self) -> Option<(Key<'t>, Self)> {
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

/// The keys that are read have four letters at least, and an escape has six.
const SHORTEST_ESCAPED: usize = 9;

/// Calls `read` with each key of an object; it passes the value.
pub(super) fn object<'t>(
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

pub(super) fn value<'t>(scanner: &mut Scanner<'t>) -> Result<&'t str, JsonError> {
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

/// A number; 0 for anything else.
pub(super) fn number(scanner: &mut Scanner<'_>) -> Result<f64, JsonError> {
    if let Some(b'-' | b'0'..=b'9') = scanner.peek() {
        return Ok(scanner.number()?.parse().unwrap_or(0.0));
    }
    scanner.skip_value()?;
    Ok(0.0)
}

/// Adds the numbers of an object; the rest of it, and what is no object, counts as nothing.
pub(super) fn add_amounts<'t>(text: &'t str, sums: &mut Sums<'t>) {
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
