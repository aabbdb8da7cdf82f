use agent_rewind_core::model::{Budget, Usage};
use napi_derive::napi;

/// The usage of a frame at one moment. Later usage does not change it. Creating it costs nothing.
#[napi]
pub struct BudgetHandle(Budget);

impl From<Budget> for BudgetHandle {
    fn from(budget: Budget) -> Self {
        Self(budget)
    }
}

#[napi]
impl BudgetHandle {
    /// The frame's own `UsageStats` without items, as JSON text.
    #[napi(catch_unwind)]
    pub fn own(&self) -> String {
        totals(&self.0.own)
    }

    /// As `own`, including the frames below it.
    #[napi(catch_unwind)]
    pub fn aggregate(&self) -> String {
        totals(&self.0.aggregate)
    }

    /// The frame's own items: JSON text of an array.
    #[napi(catch_unwind)]
    pub fn own_items(&self) -> String {
        items(&self.0.own)
    }

    /// As `ownItems`, including the frames below it.
    #[napi(catch_unwind)]
    pub fn aggregate_items(&self) -> String {
        items(&self.0.aggregate)
    }
}

fn totals(usage: &Usage) -> String {
    let mut out = String::new();
    usage.write_totals(&mut out);
    out
}

fn items(usage: &Usage) -> String {
    let mut out = String::new();
    usage.write_items(&mut out);
    out
}
