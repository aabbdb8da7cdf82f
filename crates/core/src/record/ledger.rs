//! The usage of a frame while its run continues.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::model::{Budget, Usage};

/// Kept next to the tree of frames, because a run that does not record has no tree.
#[derive(Debug)]
pub(super) struct UsageLedger {
    budget: RefCell<Budget>,
    /// True if the frame, or a frame under it, has a new call: one that was not recorded, is retried, or was executed and
    /// has ended.
    diverged: Cell<bool>,
    parent: Option<Rc<UsageLedger>>,
}

impl UsageLedger {
    pub(super) fn new(budget: Budget, parent: Option<Rc<Self>>) -> Rc<Self> {
        Rc::new(Self {
            budget: RefCell::new(budget),
            diverged: Cell::new(false),
            parent,
        })
    }

    pub(super) fn has_diverged(&self) -> bool {
        self.diverged.get()
    }

    /// Marks the frame and those above it.
    pub(super) fn mark_diverged(&self) {
        let mut ledger = Some(self);
        while let Some(current) = ledger.filter(|current| !current.diverged.replace(true)) {
            ledger = current.parent.as_deref();
        }
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget.borrow().clone()
    }

    /// Adds usage to the frame, and to the aggregate of those above it.
    pub(super) fn add(&self, delta: &Usage) {
        self.budget.borrow_mut().own.add(delta);
        let mut ledger = Some(self);
        while let Some(current) = ledger {
            current.budget.borrow_mut().aggregate.add(delta);
            ledger = current.parent.as_deref();
        }
    }
}
