//! Reads usage from JSON. Faults name their path. Unknown fields are skipped.

use super::{Amounts, Item, ItemKey, Usage};
use crate::json::{JsonError, JsonStr, JsonText, Scanner, canonicalize};
use crate::model::OrderedMap;
use crate::util::Fault;

pub(super) fn read(text: &str, path: &str) -> Result<Usage, Vec<Fault>> {
    let mut reader = UsageReader { faults: Vec::new() };
    let usage = reader.usage(&mut Scanner::new(text), path);
    match usage {
        Ok(usage) if reader.faults.is_empty() => Ok(usage),
        Ok(_) => Err(reader.faults),
        Err(error) => {
            reader.fault(path, error.to_string());
            Err(reader.faults)
        }
    }
}

struct UsageReader {
    faults: Vec<Fault>,
}

/// The fields of an item before its type is known.
#[derive(Default)]
struct RawItem {
    kind: Option<JsonStr>,
    name: Option<JsonStr>,
    provider: Option<JsonStr>,
    unit: Option<JsonStr>,
    costs: Amounts,
    tokens: [f64; 3],
    token_details: Amounts,
    quantity: f64,
    details: Option<JsonText>,
}

impl UsageReader {
    fn fault(&mut self, path: &str, message: impl Into<String>) {
        self.faults.push(Fault {
            path: path.to_owned(),
            message: message.into(),
        });
    }

    fn usage(&mut self, scanner: &mut Scanner<'_>, path: &str) -> Result<Usage, JsonError> {
        let mut usage = Usage::default();
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected an object");
            scanner.skip_value()?;
            return Ok(usage);
        }
        let mut seen_items = false;
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            let key = key.normalized();
            match &*key {
                "costs" => usage.costs = self.amounts(scanner, &format!("{path}.costs"))?,
                "details" => usage.details = loose_amounts(scanner)?,
                "promptTokens" => {
                    usage.prompt_tokens = self.number(scanner, &format!("{path}.promptTokens"))?;
                }
                "completionTokens" => {
                    usage.completion_tokens =
                        self.number(scanner, &format!("{path}.completionTokens"))?;
                }
                "totalTokens" => {
                    usage.total_tokens = self.number(scanner, &format!("{path}.totalTokens"))?;
                }
                "callCount" => {
                    usage.call_count = self.number(scanner, &format!("{path}.callCount"))?;
                }
                "items" => {
                    seen_items = true;
                    usage.items = self.items(scanner, &format!("{path}.items"))?;
                }
                _ => {
                    scanner.skip_value()?;
                }
            }
        }
        if !seen_items {
            self.fault(
                &format!("{path}.items"),
                "required, an array of usage items",
            );
        }
        Ok(usage)
    }

    fn number(&mut self, scanner: &mut Scanner<'_>, path: &str) -> Result<f64, JsonError> {
        if let Some(number) = read_number(scanner)? {
            Ok(number)
        } else {
            self.fault(path, "expected a number");
            Ok(0.0)
        }
    }

    fn amounts(&mut self, scanner: &mut Scanner<'_>, path: &str) -> Result<Amounts, JsonError> {
        let mut amounts = Amounts::default();
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected an object of numbers");
            scanner.skip_value()?;
            return Ok(amounts);
        }
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            let amount = self.number(scanner, &format!("{path}.{}", key.normalized()))?;
            amounts.insert(key.to_json_str(), amount);
        }
        Ok(amounts)
    }

    fn items(
        &mut self,
        scanner: &mut Scanner<'_>,
        path: &str,
    ) -> Result<OrderedMap<ItemKey, Item>, JsonError> {
        let mut items = OrderedMap::default();
        if scanner.peek() != Some(b'[') {
            self.fault(path, "expected an array of usage items");
            scanner.skip_value()?;
            return Ok(items);
        }
        scanner.enter_array()?;
        let mut first = true;
        let mut index = 0;
        while scanner.next_element(&mut first)? {
            if let Some((key, item)) = self.item(scanner, &format!("{path}.{index}"))? {
                items.insert(key, item);
            }
            index += 1;
        }
        Ok(items)
    }

    fn item(
        &mut self,
        scanner: &mut Scanner<'_>,
        path: &str,
    ) -> Result<Option<(ItemKey, Item)>, JsonError> {
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected a usage item");
            scanner.skip_value()?;
            return Ok(None);
        }
        let mut raw = RawItem::default();
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            let key = key.normalized();
            match &*key {
                "type" => raw.kind = string(scanner)?,
                "name" => raw.name = string(scanner)?,
                "provider" => raw.provider = string(scanner)?,
                "unit" => raw.unit = string(scanner)?,
                "costs" => raw.costs = self.amounts(scanner, &format!("{path}.costs"))?,
                "tokens" => raw.read_tokens(scanner)?,
                "quantity" => raw.quantity = self.number(scanner, &format!("{path}.quantity"))?,
                "details" => {
                    let span = scanner.skip_value()?;
                    raw.details = Some(JsonText::trusted(scanner.slice(span).to_owned()));
                }
                _ => {
                    scanner.skip_value()?;
                }
            }
        }
        let kind = raw.kind.as_ref().map(|kind| kind.body().to_owned());
        match (kind.as_deref(), raw.name.is_some()) {
            (Some("model" | "tool"), true) => Ok(raw.into_item()),
            (Some("model" | "tool"), false) => {
                self.fault(&format!("{path}.name"), "expected a string");
                Ok(None)
            }
            _ => {
                self.fault(&format!("{path}.type"), r#"expected "model" or "tool""#);
                Ok(None)
            }
        }
    }
}

impl RawItem {
    fn read_tokens(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        if scanner.peek() != Some(b'{') {
            scanner.skip_value()?;
            return Ok(());
        }
        scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = scanner.next_member(&mut first)? {
            let key = key.normalized();
            match &*key {
                "prompt" => self.tokens[0] = read_number(scanner)?.unwrap_or(0.0),
                "completion" => self.tokens[1] = read_number(scanner)?.unwrap_or(0.0),
                "total" => self.tokens[2] = read_number(scanner)?.unwrap_or(0.0),
                "details" => self.token_details = loose_amounts(scanner)?,
                _ => {
                    scanner.skip_value()?;
                }
            }
        }
        Ok(())
    }

    fn into_item(self) -> Option<(ItemKey, Item)> {
        let name = self.name?;
        if self.kind.is_some_and(|kind| kind.body() == "model") {
            let [prompt, completion, total] = self.tokens;
            return Some((
                ItemKey::Model {
                    provider: self.provider,
                    name,
                },
                Item::Model {
                    costs: self.costs,
                    prompt,
                    completion,
                    total,
                    details: self.token_details,
                },
            ));
        }
        let details = self
            .details
            .as_ref()
            .and_then(|details| canonicalize(details.as_str()).ok())
            .map(|text| JsonStr::from_normalized_body(&text));
        Some((
            ItemKey::Tool {
                name,
                unit: self.unit,
                details,
            },
            Item::Tool {
                costs: self.costs,
                quantity: self.quantity,
                details: self.details,
            },
        ))
    }
}

fn string(scanner: &mut Scanner<'_>) -> Result<Option<JsonStr>, JsonError> {
    if scanner.peek() == Some(b'"') {
        Ok(Some(scanner.string()?.to_json_str()))
    } else {
        scanner.skip_value()?;
        Ok(None)
    }
}

fn read_number(scanner: &mut Scanner<'_>) -> Result<Option<f64>, JsonError> {
    if let Some(b'-' | b'0'..=b'9') = scanner.peek() {
        Ok(scanner
            .number()?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite()))
    } else {
        scanner.skip_value()?;
        Ok(None)
    }
}

/// The numbers of an object whose shape the provider defines. Other members are skipped.
fn loose_amounts(scanner: &mut Scanner<'_>) -> Result<Amounts, JsonError> {
    let mut amounts = Amounts::default();
    if scanner.peek() != Some(b'{') {
        scanner.skip_value()?;
        return Ok(amounts);
    }
    scanner.enter_object()?;
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first)? {
        if let Some(amount) = read_number(scanner)? {
            amounts.insert(key.to_json_str(), amount);
        }
    }
    Ok(amounts)
}
