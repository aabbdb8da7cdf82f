//! Sums of usage, accumulated in place. A trace contains an update for every model call, and adding each one to
//! [`Usage`], which snapshots share, would be slow.

use std::borrow::Cow;

use super::entries::Entries;
use super::usage_json::{Key, RawItem, Sums, Tokens, add_amounts, number, object, value};
use crate::json::{JsonError, JsonStr, JsonText, Scanner};
use crate::model::{Amounts, Item, Usage};

#[derive(Debug, Clone, Default)]
pub(crate) struct UsageSum<'t> {
    tokens: Tokens,
    call_count: f64,
    costs: Sums<'t>,
    details: Sums<'t>,
    items: Entries<Key<'t>, Entry<'t>>,
}

/// The usage of a model or of a tool.
#[derive(Debug, Clone)]
struct Entry<'t> {
    /// Items are sorted by the order of their first use.
    first_order: u64,
    costs: Sums<'t>,
    tokens: Tokens,
    token_details: Sums<'t>,
    quantity: f64,
    details: Option<&'t str>,
}

impl Default for Entry<'_> {
    fn default() -> Self {
        Self {
            first_order: u64::MAX,
            costs: Sums::default(),
            tokens: Tokens::default(),
            token_details: Sums::default(),
            quantity: 0.0,
            details: None,
        }
    }
}

impl<'t> UsageSum<'t> {
    /// Adds a `UsageStats` object. A missing value or a value of another type counts as zero.
    pub(crate) fn add_json(&mut self, text: &'t str) -> Result<(), JsonError> {
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

    /// Sets the order of use of all items.
    pub(crate) fn set_order(&mut self, order: u64) {
        for (_, entry) in &mut self.items.list {
            entry.first_order = order;
        }
    }

    /// Adds other usage, such as that of the frames below.
    pub(crate) fn add(&mut self, below: &Self) {
        self.tokens.add(below.tokens);
        self.call_count += below.call_count;
        self.costs.add(&below.costs);
        self.details.add(&below.details);
        for (key, item) in &below.items.list {
            let entry = self.items.entry(key.clone());
            entry.first_order = entry.first_order.min(item.first_order);
            entry.costs.add(&item.costs);
            entry.tokens.add(item.tokens);
            entry.token_details.add(&item.token_details);
            entry.quantity += item.quantity;
            entry.details = entry.details.or(item.details);
        }
    }

    pub(crate) fn to_usage(&self) -> Usage {
        let mut items: Vec<&(Key<'_>, Entry<'_>)> = self.items.list.iter().collect();
        items.sort_by_key(|(_, entry)| entry.first_order);
        let costs = amounts(&self.costs);
        let item = |(key, entry): &(Key<'_>, Entry<'_>)| {
            // If there is only one model, its costs are all costs and can be shared.
            let same = entry.costs.list == self.costs.list;
            let costs = if same {
                costs.clone()
            } else {
                amounts(&entry.costs)
            };
            (key.to_item_key(), entry.to_item(key, costs))
        };
        Usage {
            prompt_tokens: self.tokens.prompt,
            completion_tokens: self.tokens.completion,
            total_tokens: self.tokens.total,
            call_count: self.call_count,
            details: amounts(&self.details),
            items: items.into_iter().map(item).collect(),
            costs,
        }
    }
}

impl Entry<'_> {
    fn to_item(&self, key: &Key<'_>, costs: Amounts) -> Item {
        match key {
            Key::Model { .. } => Item::Model {
                costs,
                prompt: self.tokens.prompt,
                completion: self.tokens.completion,
                total: self.tokens.total,
                details: amounts(&self.token_details),
            },
            Key::Tool { .. } => Item::Tool {
                costs,
                quantity: self.quantity,
                details: self
                    .details
                    .map(|details| JsonText::trusted(details.to_owned())),
            },
        }
    }
}

fn amounts(sums: &Sums<'_>) -> Amounts {
    let amount =
        |(unit, amount): &(Cow<'_, str>, f64)| (JsonStr::from_normalized_body(unit), *amount);
    sums.list.iter().map(amount).collect()
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/usage_sum.rs"]
mod tests;
