//! Faults found in external data.

use std::fmt;

/// A fault in external data. `path` is the dotted path to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub path: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

/// Displays all faults on one line, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(", ")?;
            }
            fault.fmt(formatter)?;
        }
        Ok(())
    }
}
