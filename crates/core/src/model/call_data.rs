//! The fields of a call that only the program reads. The core records, restores and replays them unchanged.

use crate::json::JsonText;

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
}
