//! Reads usage from JSON. Faults name their path. Unknown fields are skipped.

use std::fmt;

use super::{Amounts, Item, ItemKey, Usage};
use crate::json::{JsonError, JsonStr, JsonText, Scanner, canonicalize};
use crate::model::OrderedMap;
use crate::util::Fault;

pub(super) fn read(text: &str, path: &str) -> Result<Usage, Vec<Fault>> {
    let mut reader = UsageReader { faults: Vec::new() };
    let path = Path::Start(path);
    match reader.usage(&mut Scanner::new(text), &path) {
        Ok(usage) if reader.faults.is_empty() => return Ok(usage),
        Ok(_) => {}
        Err(error) => reader.fault(&path, error.to_string()),
    }
    Err(reader.faults)
}

pub(super) fn read_loosely(text: &str) -> Result<Usage, JsonError> {
    let mut reader = UsageReader { faults: Vec::new() };
    let mut scanner = Scanner::new(text);
    // Another value than an object is an error.
    scanner.clone().enter_object()?;
    reader.usage(&mut scanner, &Path::Start(""))
}

/// The path of a value. Written only for faults.
enum Path<'a> {
    Start(&'a str),
    Member(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(path) => formatter.write_str(path),
            Self::Member(above, name) => write!(formatter, "{above}.{name}"),
            Self::Index(above, index) => write!(formatter, "{above}.{index}"),
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
    fn fault(&mut self, path: &Path<'_>, message: impl Into<String>) {
        self.faults.push(Fault {
            path: path.to_string(),
            message: message.into(),
        });
    }

    fn usage(&mut self, scanner: &mut Scanner<'_>, path: &Path<'_>) -> Result<Usage, JsonError> {
        let mut usage = Usage::default();
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected an object");
            return scanner.skip().map(|()| usage);
        }
        let mut seen_items = false;
        scanner.each_member(|scanner, key| -> Result<(), JsonError> {
            let key = key.normalized();
            let at = Path::Member(path, &key);
            match &*key {
                "costs" => usage.costs = self.amounts(scanner, &at)?,
                "details" => usage.details = loose_amounts(scanner)?,
                "promptTokens" => usage.prompt_tokens = self.number(scanner, &at)?,
                "completionTokens" => usage.completion_tokens = self.number(scanner, &at)?,
                "totalTokens" => usage.total_tokens = self.number(scanner, &at)?,
                "callCount" => usage.call_count = self.number(scanner, &at)?,
                "items" => {
                    seen_items = true;
                    usage.items = self.items(scanner, &at)?;
                }
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        if !seen_items {
            let items = Path::Member(path, "items");
            self.fault(&items, "required, an array of usage items");
        }
        Ok(usage)
    }

    fn number(&mut self, scanner: &mut Scanner<'_>, path: &Path<'_>) -> Result<f64, JsonError> {
        let number = scanner.number_or_skip()?;
        if number.is_none() {
            self.fault(path, "expected a number");
        }
        Ok(number.unwrap_or(0.0))
    }

    fn amounts(
        &mut self,
        scanner: &mut Scanner<'_>,
        path: &Path<'_>,
    ) -> Result<Amounts, JsonError> {
        let mut amounts = Amounts::default();
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected an object of numbers");
            return scanner.skip().map(|()| amounts);
        }
        scanner
            .each_member(|scanner, key| {
                match scanner.number_or_skip()? {
                    Some(amount) => amounts.insert(key.to_json_str(), amount),
                    None => self.fault(&Path::Member(path, &key.normalized()), "expected a number"),
                }
                Ok(())
            })
            .map(|()| amounts)
    }

    fn items(
        &mut self,
        scanner: &mut Scanner<'_>,
        path: &Path<'_>,
    ) -> Result<OrderedMap<ItemKey, Item>, JsonError> {
        let mut items = OrderedMap::default();
        if scanner.peek() != Some(b'[') {
            self.fault(path, "expected an array of usage items");
            return scanner.skip().map(|()| items);
        }
        let mut index = 0;
        scanner
            .each_element(|scanner| {
                if let Some((key, item)) = self.item(scanner, &Path::Index(path, index))? {
                    items.insert(key, item);
                }
                index += 1;
                Ok(())
            })
            .map(|()| items)
    }

    fn item(
        &mut self,
        scanner: &mut Scanner<'_>,
        path: &Path<'_>,
    ) -> Result<Option<(ItemKey, Item)>, JsonError> {
        if scanner.peek() != Some(b'{') {
            self.fault(path, "expected a usage item");
            return scanner.skip().map(|()| None);
        }
        let mut raw = RawItem::default();
        scanner.each_member(|scanner, key| -> Result<(), JsonError> {
            let key = key.normalized();
            match &*key {
                "type" => raw.kind = string(scanner)?,
                "name" => raw.name = string(scanner)?,
                "provider" => raw.provider = string(scanner)?,
                "unit" => raw.unit = string(scanner)?,
                "costs" => raw.costs = self.amounts(scanner, &Path::Member(path, &key))?,
                "tokens" => raw.read_tokens(scanner)?,
                "quantity" => raw.quantity = self.number(scanner, &Path::Member(path, &key))?,
                "details" => raw.details = Some(JsonText::trusted(scanner.value()?.to_owned())),
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        let kind = raw.kind.as_ref().map(|kind| kind.body().to_owned());
        match (kind.as_deref(), raw.name.is_some()) {
            (Some("model" | "tool"), true) => Ok(raw.into_item()),
            (Some("model" | "tool"), false) => {
                self.fault(&Path::Member(path, "name"), "expected a string");
                Ok(None)
            }
            _ => {
                let at = Path::Member(path, "type");
                self.fault(&at, r#"expected "model" or "tool""#);
                Ok(None)
            }
        }
    }
}

impl RawItem {
    fn read_tokens(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        if scanner.peek() != Some(b'{') {
            return scanner.skip();
        }
        scanner.each_member(|scanner, key| {
            let number = match &*key.normalized() {
                "prompt" => 0,
                "completion" => 1,
                "total" => 2,
                "details" => return loose_amounts(scanner).map(|sums| self.token_details = sums),
                _ => return scanner.skip(),
            };
            self.tokens[number] = scanner.number_or_skip()?.unwrap_or(0.0);
            Ok(())
        })
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
    let text = scanner.string_or_skip()?;
    Ok(text.map(|text| text.to_json_str()))
}

/// The numbers of an object whose shape the provider defines. Other members are skipped.
fn loose_amounts(scanner: &mut Scanner<'_>) -> Result<Amounts, JsonError> {
    let mut amounts = Amounts::default();
    if scanner.peek() != Some(b'{') {
        return scanner.skip().map(|()| amounts);
    }
    scanner
        .each_member(|scanner, key| {
            if let Some(amount) = scanner.number_or_skip()? {
                amounts.insert(key.to_json_str(), amount);
            }
            Ok(())
        })
        .map(|()| amounts)
}
