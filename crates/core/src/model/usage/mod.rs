//! Tokens, costs and calls used, for a frame alone and with its descendants.

mod read;

use crate::json::{JsonError, JsonStr, JsonText, write_joined, write_number};
use crate::model::OrderedMap;
use crate::util::Fault;

/// Amounts by unit (costs) or by category (token details). Sums are those of JavaScript numbers.
pub type Amounts = OrderedMap<JsonStr, f64>;

#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// This frame without its descendants.
    pub own: Usage,
    /// This frame and its descendants.
    pub aggregate: Usage,
}

#[derive(Debug, Clone, Default)]
pub struct Usage {
    pub costs: Amounts,
    pub prompt_tokens: f64,
    pub completion_tokens: f64,
    pub total_tokens: f64,
    pub call_count: f64,
    pub details: Amounts,
    pub items: OrderedMap<ItemKey, Item>,
}

/// The key by which usage is merged: models by provider and name, tools by name, unit and details.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemKey {
    Model {
        provider: Option<JsonStr>,
        name: JsonStr,
    },
    /// `details` in canonical form.
    Tool {
        name: JsonStr,
        unit: Option<JsonStr>,
        details: Option<JsonStr>,
    },
}

#[derive(Debug, Clone)]
pub enum Item {
    Model {
        costs: Amounts,
        prompt: f64,
        completion: f64,
        total: f64,
        details: Amounts,
    },
    Tool {
        costs: Amounts,
        quantity: f64,
        details: Option<JsonText>,
    },
}

impl Usage {
    /// Adds `delta`. The cost depends on the size of `delta` only.
    pub fn add(&mut self, delta: &Self) {
        add_amounts(&mut self.costs, &delta.costs);
        add_amounts(&mut self.details, &delta.details);
        self.prompt_tokens += delta.prompt_tokens;
        self.completion_tokens += delta.completion_tokens;
        self.total_tokens += delta.total_tokens;
        self.call_count += delta.call_count;
        for (key, item) in delta.items.iter() {
            match self.items.get_mut(key) {
                Some(known) => known.add(item),
                None => self.items.insert(key.clone(), item.clone()),
            }
        }
    }

    pub fn is_zero(&self) -> bool {
        self.call_count == 0.0
            && self.total_tokens == 0.0
            && self.items.is_empty()
            && self.costs.is_empty()
    }

    /// Writes the `UsageStats` object.
    pub fn write_json(&self, out: &mut String) {
        self.write_totals(out);
        out.pop();
        out.push_str(r#","items":"#);
        self.write_items(out);
        out.push('}');
    }

    /// Writes the `UsageStats` object without its items. The cost does not depend on their number.
    pub fn write_totals(&self, out: &mut String) {
        out.push_str(r#"{"costs":"#);
        write_amounts(&self.costs, out);
        for (name, amount) in [
            (r#","promptTokens":"#, self.prompt_tokens),
            (r#","completionTokens":"#, self.completion_tokens),
            (r#","totalTokens":"#, self.total_tokens),
            (r#","callCount":"#, self.call_count),
        ] {
            out.push_str(name);
            write_amount(amount, out);
        }
        if !self.details.is_empty() {
            out.push_str(r#","details":"#);
            write_amounts(&self.details, out);
        }
        out.push('}');
    }

    /// Writes the array of items.
    pub fn write_items(&self, out: &mut String) {
        out.push('[');
        write_joined(self.items.iter(), out, |(key, item), out| {
            write_item(key, item, out);
        });
        out.push(']');
    }

    /// Reads a `UsageStats` object. `path`: its path in faults.
    pub fn read(text: &str, path: &str) -> Result<Self, Vec<Fault>> {
        read::read(text, path)
    }

    /// As [`Self::read`], but a missing value or a value of another type counts as zero.
    ///
    /// # Errors
    /// Text that is not a JSON object.
    pub(crate) fn read_loosely(text: &str) -> Result<Self, JsonError> {
        read::read_loosely(text)
    }
}

impl Budget {
    /// Writes the `BudgetState` object.
    pub fn write_json(&self, out: &mut String) {
        out.push_str(r#"{"own":"#);
        self.own.write_json(out);
        out.push_str(r#","aggregate":"#);
        self.aggregate.write_json(out);
        out.push('}');
    }
}

impl Item {
    fn add(&mut self, more: &Self) {
        match (self, more) {
            (
                Self::Model {
                    costs,
                    prompt,
                    completion,
                    total,
                    details,
                },
                Self::Model {
                    costs: more_costs,
                    prompt: p,
                    completion: c,
                    total: t,
                    details: more_details,
                },
            ) => {
                add_amounts(costs, more_costs);
                add_amounts(details, more_details);
                (*prompt, *completion, *total) = (*prompt + p, *completion + c, *total + t);
            }
            (
                Self::Tool {
                    costs, quantity, ..
                },
                Self::Tool {
                    costs: more_costs,
                    quantity: more,
                    ..
                },
            ) => {
                add_amounts(costs, more_costs);
                *quantity += more;
            }
            // Models and tools have different keys, so the kinds never differ.
            _ => {}
        }
    }
}

fn add_amounts(total: &mut Amounts, delta: &Amounts) {
    for (key, amount) in delta.iter() {
        match total.get_mut(key) {
            Some(known) => *known += amount,
            None => total.insert(key.clone(), *amount),
        }
    }
}

/// A sum that overflows becomes the largest double: JSON would turn it into null, which cannot be read as a number.
fn write_amount(amount: f64, out: &mut String) {
    let amount = if amount.is_nan() { 0.0 } else { amount };
    write_number(amount.clamp(f64::MIN, f64::MAX), out);
}

fn write_amounts(amounts: &Amounts, out: &mut String) {
    out.push('{');
    write_joined(amounts.iter(), out, |(key, amount), out| {
        key.write_quoted(out);
        out.push(':');
        write_amount(*amount, out);
    });
    out.push('}');
}

fn write_item(key: &ItemKey, item: &Item, out: &mut String) {
    let (kind, name, more) = match key {
        ItemKey::Model { provider, name } => ("model", name, ("provider", provider)),
        ItemKey::Tool { name, unit, .. } => ("tool", name, ("unit", unit)),
    };
    out.push_str(&format!(r#"{{"type":"{kind}","name":"#));
    name.write_quoted(out);
    if let (name, Some(value)) = more {
        out.push_str(&format!(r#","{name}":"#));
        value.write_quoted(out);
    }
    out.push_str(r#","costs":"#);
    match item {
        Item::Model {
            costs,
            prompt,
            completion,
            total,
            details,
        } => {
            write_amounts(costs, out);
            for (name, amount) in [
                (r#","tokens":{"prompt":"#, prompt),
                (r#","completion":"#, completion),
                (r#","total":"#, total),
            ] {
                out.push_str(name);
                write_amount(*amount, out);
            }
            if !details.is_empty() {
                out.push_str(r#","details":"#);
                write_amounts(details, out);
            }
            out.push('}');
        }
        Item::Tool {
            costs,
            quantity,
            details,
        } => {
            write_amounts(costs, out);
            out.push_str(r#","quantity":"#);
            write_amount(*quantity, out);
            if let Some(details) = details {
                out.push_str(r#","details":"#);
                out.push_str(details.as_str());
            }
        }
    }
    out.push('}');
}
