//! Tokens, costs and calls used, for a frame alone and with its descendants.

mod read;

use crate::json::{JsonStr, JsonText, write_number};
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
            let merged = match self.items.get(key) {
                Some(known) => known.plus(item),
                None => item.clone(),
            };
            self.items.insert(key.clone(), merged);
        }
    }

    #[must_use]
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
        for (index, (key, item)) in self.items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_item(key, item, out);
        }
        out.push(']');
    }

    /// Reads a `UsageStats` object. `path`: its path in faults.
    pub fn read(text: &str, path: &str) -> Result<Self, Vec<Fault>> {
        read::read(text, path)
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
    fn plus(&self, other: &Self) -> Self {
        match (self, other) {
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
            ) => Self::Model {
                costs: sum(costs, more_costs),
                prompt: prompt + p,
                completion: completion + c,
                total: total + t,
                details: sum(details, more_details),
            },
            (
                Self::Tool {
                    costs,
                    quantity,
                    details,
                },
                Self::Tool {
                    costs: more_costs,
                    quantity: more,
                    ..
                },
            ) => Self::Tool {
                costs: sum(costs, more_costs),
                quantity: quantity + more,
                details: details.clone(),
            },
            // Models and tools have different keys, so the kinds never differ.
            _ => self.clone(),
        }
    }
}

fn sum(left: &Amounts, right: &Amounts) -> Amounts {
    let mut total = left.clone();
    add_amounts(&mut total, right);
    total
}

fn add_amounts(total: &mut Amounts, delta: &Amounts) {
    for (key, amount) in delta.iter() {
        let known = total.get(key).copied().unwrap_or(0.0);
        total.insert(key.clone(), known + amount);
    }
}

/// A sum that overflows becomes the largest double: JSON would turn it into null, which cannot be read as a number.
fn write_amount(amount: f64, out: &mut String) {
    let amount = if amount.is_nan() { 0.0 } else { amount };
    write_number(amount.clamp(f64::MIN, f64::MAX), out);
}

fn write_amounts(amounts: &Amounts, out: &mut String) {
    out.push('{');
    for (index, (key, amount)) in amounts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        key.write_quoted(out);
        out.push(':');
        write_amount(*amount, out);
    }
    out.push('}');
}

fn write_item(key: &ItemKey, item: &Item, out: &mut String) {
    match key {
        ItemKey::Model { provider, name } => {
            out.push_str(r#"{"type":"model","name":"#);
            name.write_quoted(out);
            if let Some(provider) = provider {
                out.push_str(r#","provider":"#);
                provider.write_quoted(out);
            }
        }
        ItemKey::Tool { name, unit, .. } => {
            out.push_str(r#"{"type":"tool","name":"#);
            name.write_quoted(out);
            if let Some(unit) = unit {
                out.push_str(r#","unit":"#);
                unit.write_quoted(out);
            }
        }
    }
    match item {
        Item::Model {
            costs,
            prompt,
            completion,
            total,
            details,
        } => {
            out.push_str(r#","costs":"#);
            write_amounts(costs, out);
            out.push_str(r#","tokens":{"prompt":"#);
            write_amount(*prompt, out);
            out.push_str(r#","completion":"#);
            write_amount(*completion, out);
            out.push_str(r#","total":"#);
            write_amount(*total, out);
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
            out.push_str(r#","costs":"#);
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
