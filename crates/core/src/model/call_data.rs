//! The fields of a call that only the program reads. The core records, restores and replays them unchanged.

use std::sync::Arc;

use crate::json::{JsonError, JsonText, Scanner};

/// Declares the fields, each with its name in snapshots and events.
macro_rules! call_data {
    ($($(#[$doc:meta])* $field:ident = $name:literal;)+) => {
        /// Recorded data of a call apart from its request, order and outcome. Each field is JSON text.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct CallData {
            $($(#[$doc])* pub $field: Option<JsonText>,)+
        }

        impl CallData {
            /// The names of all fields in snapshots and events.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The fields that are present, with their names.
            pub fn fields(&self) -> impl Iterator<Item = (&'static str, &JsonText)> {
                let all = [$(($name, &self.$field)),+];
                all.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)))
            }

            /// The field with this name; `None` if there is no such field.
            pub fn field_mut(&mut self, name: &str) -> Option<&mut Option<JsonText>> {
                match name {
                    $($name => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

call_data! {
    /// An object with `durationMs`, and for a prompt `usage`.
    meta = "meta";
    /// A string: the functions that waited for the call, if an equal request was open in its frame.
    lane = "lane";
    /// The number of attempts, if the client retried the call.
    attempts = "attempts";
    /// `true` if the call ended in the same tick as the end before it.
    same_tick = "sameTick";
    /// Content of the request that its hash does not cover: a string with the place and the reason.
    inexact = "inexact";
}

impl CallData {
    /// The part that is known from the start of the call, not from its outcome.
    #[must_use]
    pub fn of_start(self) -> Self {
        Self {
            lane: self.lane,
            ..Self::default()
        }
    }

    /// Reads JSON text of an object that contains fields under their names. Other members are ignored, and the whole
    /// text if it is not such an object.
    pub fn trusted(text: String) -> Self {
        Self::read(&Arc::new(text)).unwrap_or_default()
    }

    fn read(text: &Arc<String>) -> Result<Self, JsonError> {
        let mut data = Self::default();
        Scanner::new(text)
            .each_member(|scanner, name| {
                let value = scanner.skip_value()?;
                if let Some(field) = data.field_mut(name.body()) {
                    *field = Some(JsonText::from_span(text, value));
                }
                Ok(())
            })
            .map(|()| data)
    }

    /// The fields as JSON text of an object; `None` if there are no fields.
    pub fn to_json(&self) -> Option<String> {
        let length = self
            .fields()
            .map(|(name, value)| name.len() + value.len() + 4);
        let mut text = String::with_capacity(length.sum::<usize>() + 1);
        self.write_members(&mut text);
        if text.is_empty() {
            return None;
        }
        text.replace_range(..1, "{");
        text.push('}');
        Some(text)
    }

    /// Writes each field as a member of an object, with a comma before it.
    pub fn write_members(&self, out: &mut String) {
        for (name, value) in self.fields() {
            for part in [",\"", name, "\":", value.as_str()] {
                out.push_str(part);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/model/call_data.rs"]
mod tests;
