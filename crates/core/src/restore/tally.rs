//! Sums of usage, added up in place. A trace holds an update for every model call, and
//! [`Usage`] pays with each one for being shared by snapshots.

use std::borrow::Cow;

use super::entries::Entries;
use crate::json::{JsonError, JsonStr, JsonText, Scanner, canonicalize};
use crate::usage::{Amounts, Item, ItemKey, Usage};

#[derive(Debug, Clone, Default)]
pub(super) struct Tally<'t> {
    tokens: Tokens,
    call_count: f64,
    costs: Sums<'t>,
    details: Sums<'t>,
    items: Entries<Key<'t>, Entry<'t>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tokens {
    prompt: f64,
    completion: f64,
    total: f64,
}

/// Amounts by unit, or by sort of token.
type Sums<'t> = Entries<Cow<'t, str>, f64>;

/// What usage is merged by; see [`ItemKey`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'t> {
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

/// The usage of a model or of a tool.
#[derive(Debug, Clone, Default)]
struct Entry<'t> {
    costs: Sums<'t>,
    tokens: Tokens,
    token_details: Sums<'t>,
    quantity: f64,
    details: Option<&'t str>,
}

impl<'t> Tally<'t> {
    /// Adds a `UsageStats` object. What is missing in it, or of another type, counts as nothing.
    pub(super) fn add_json(&mut self, text: &'t str) -> Result<(), JsonError> {
        object(&mut Scanner::new(text), |scanner, key| {
            match key {
                "promptTokens" => self.tokens.prompt += number(scanner)?,
                "completionTokens" => self.tokens.completion += number(scanner)?,
                "totalTokens" => self.tokens.total += number(scanner)?,
                "callCount" => self.call_count += number(scanner)?,
                "costs" => add_amounts(value(scanner)?, &mut self.costs),
                "details" => add_amounts(value(scanner)?, &mut self.details),
                "items" if scanner.peek() == Some(b'[') => {
                    scanner.enter_array()?;
                    let mut first = true;
                    while scanner.next_element(&mut first)? {
                        self.read_item(scanner)?;
                    }
                }
                _ => {
                    scanner.skip_value()?;
                }
            }
            Ok(())
        })
    }

    fn read_item(&mut self, scanner: &mut Scanner<'t>) -> Result<(), JsonError> {
        if scanner.peek() != Some(b'{') {
            scanner.skip_value()?;
            return Ok(());
        }
        let mut item = RawItem::default();
        object(scanner, |scanner, key| item.read_field(scanner, key))?;
        if let Some((key, item)) = item.into_key() {
            self.add_item(key, &item);
        }
        Ok(())
    }

    fn add_item(&mut self, key: Key<'t>, raw: &RawItem<'t>) {
        let entry = self.items.entry(key);
        add_amounts(raw.costs, &mut entry.costs);
        entry.tokens.add(raw.tokens);
        add_amounts(raw.token_details, &mut entry.token_details);
        entry.quantity += raw.quantity;
        entry.details = entry.details.or(raw.details);
    }

    /// Adds what frames below used.
    pub(super) fn add(&mut self, below: &Self) {
        self.tokens.add(below.tokens);
        self.call_count += below.call_count;
        self.costs.add(&below.costs);
        self.details.add(&below.details);
        for (key, item) in &below.items.list {
            let entry = self.items.entry(key.clone());
            entry.costs.add(&item.costs);
            entry.tokens.add(item.tokens);
            entry.token_details.add(&item.token_details);
            entry.quantity += item.quantity;
            entry.details = entry.details.or(item.details);
        }
    }

    pub(super) fn to_usage(&self) -> Usage {
        Usage {
            costs: amounts(&self.costs),
            prompt_tokens: self.tokens.prompt,
            completion_tokens: self.tokens.completion,
            total_tokens: self.tokens.total,
            call_count: self.call_count,
            details: amounts(&self.details),
            items: self
                .items
                .list
                .iter()
                .map(|(key, entry)| (key.to_item_key(), entry.to_item(key)))
                .collect(),
        }
    }
}

impl Tokens {
    fn add(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
        self.total += other.total;
    }
}

impl Sums<'_> {
    fn add(&mut self, other: &Self) {
        for (unit, amount) in &other.list {
            *self.entry(unit.clone()) += amount;
        }
    }
}

/// The fields of an item, before it is known whether it is a model's or a tool's.
#[derive(Default)]
struct RawItem<'t> {
    kind: Option<Cow<'t, str>>,
    name: Option<Cow<'t, str>>,
    provider: Option<Cow<'t, str>>,
    unit: Option<Cow<'t, str>>,
    costs: &'t str,
    tokens: Tokens,
    token_details: &'t str,
    quantity: f64,
    details: Option<&'t str>,
}

impl<'t> RawItem<'t> {
    fn read_field(&mut self, scanner: &mut Scanner<'t>, key: &str) -> Result<(), JsonError> {
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

    fn into_key(mut self) -> Option<(Key<'t>, Self)> {
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

impl Key<'_> {
    fn to_item_key(&self) -> ItemKey {
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

impl Entry<'_> {
    fn to_item(&self, key: &Key<'_>) -> Item {
        match key {
            Key::Model { .. } => Item::Model {
                costs: amounts(&self.costs),
                prompt: self.tokens.prompt,
                completion: self.tokens.completion,
                total: self.tokens.total,
                details: amounts(&self.token_details),
            },
            Key::Tool { .. } => Item::Tool {
                costs: amounts(&self.costs),
                quantity: self.quantity,
                details: self
                    .details
                    .map(|details| JsonText::trusted(details.to_owned())),
            },
        }
    }
}

fn amounts(sums: &Sums<'_>) -> Amounts {
    sums.list
        .iter()
        .map(|(unit, amount)| (JsonStr::from_normalized_body(unit), *amount))
        .collect()
}

/// Calls `read` with each key of an object; it passes the value.
fn object<'t>(
    scanner: &mut Scanner<'t>,
    mut read: impl FnMut(&mut Scanner<'t>, &str) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    scanner.enter_object()?;
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first)? {
        read(scanner, &key.normalized())?;
    }
    Ok(())
}

fn value<'t>(scanner: &mut Scanner<'t>) -> Result<&'t str, JsonError> {
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
fn number(scanner: &mut Scanner<'_>) -> Result<f64, JsonError> {
    if let Some(b'-' | b'0'..=b'9') = scanner.peek() {
        return Ok(scanner.number()?.parse().unwrap_or(0.0));
    }
    scanner.skip_value()?;
    Ok(0.0)
}

/// Adds the numbers of an object; the rest of it, and what is no object, counts as nothing.
fn add_amounts<'t>(text: &'t str, sums: &mut Sums<'t>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, prompt: u32) -> String {
        format!(
            r#"{{"promptTokens":{prompt},"completionTokens":2,"totalTokens":{},"callCount":1,"costs":{{"usd":0.5,"eur":1}},"details":{{"cached":1,"note":"x"}},"items":[{{"type":"model","name":"{name}","provider":"p","costs":{{"usd":0.5}},"tokens":{{"prompt":{prompt},"completion":2,"total":{},"details":{{"cached":1}}}}}}]}}"#,
            prompt + 2,
            prompt + 2,
        )
    }

    fn tool(unit: &str, details: &str) -> String {
        format!(
            r#"{{"costs":{{"usd":1}},"promptTokens":0,"completionTokens":0,"totalTokens":0,"callCount":0,"items":[{{"type":"tool","name":"search","costs":{{"usd":1}},"quantity":1.5,"unit":"{unit}","details":{details}}}]}}"#
        )
    }

    fn written(usage: &Usage) -> String {
        let mut text = String::new();
        usage.write_json(&mut text);
        text
    }

    #[test]
    fn adds_as_usage_does() {
        let mut updates = vec![
            model("a", 10),
            model("b", 3),
            model("a", 5),
            tool("page", r#"{"x":1,"y":2}"#),
        ];
        updates.extend([
            tool("page", r#"{"y":2,"x":1}"#),
            tool("byte", "null"),
            model("\\u0061", 1),
        ]);
        updates.extend((0..20).map(|number| model(&format!("m{number}"), number)));
        updates.extend((0..20).map(|number| model(&format!("m{number}"), number)));
        let mut tally = Tally::default();
        let mut halves = [Tally::default(), Tally::default()];
        let mut usage = Usage::default();
        for (place, update) in updates.iter().enumerate() {
            tally.add_json(update).unwrap();
            halves[place * 2 / updates.len()].add_json(update).unwrap();
            usage.add(&Usage::read(update, "delta").unwrap());
        }
        assert_eq!(written(&tally.to_usage()), written(&usage));
        let [mut first, second] = halves;
        first.add(&second);
        assert_eq!(written(&first.to_usage()), written(&usage));
    }

    #[test]
    fn what_is_no_usage_counts_as_nothing() {
        let mut tally = Tally::default();
        for text in [
            "{}",
            r#"{"items":{},"costs":[1],"promptTokens":"7"}"#,
            r#"{"items":[1,{"type":"model"},{"type":"x","name":"n"}]}"#,
        ] {
            tally.add_json(text).unwrap();
        }
        assert!(tally.add_json("[1]").is_err());
        assert_eq!(written(&tally.to_usage()), written(&Usage::default()));
    }
}
