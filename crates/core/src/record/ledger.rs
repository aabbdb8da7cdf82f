//! Usage of a frame while its run goes on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::model::{Budget, Usage};

/// Kept beside the tree, because without recording there is none.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) budget: RefCell<Budget>,
    /// Whether a call of the frame, or under it, is new: it was not recorded, or is tried again, or was made and
    /// has ended.
    pub(super) made: Cell<bool>,
    parent: Option<Rc<Ledger>>,
}

impl Ledger {
    pub(super) fn new(budget: Budget, parent: Option<Rc<Self>>) -> Rc<Self> {
        Rc::new(Self {
            budget: RefCell::new(budget),
            made: Cell::new(false),
            parent,
        })
    }

    pub(super) fn note_made(&self) {
        let mut ledger = Some(self);
        while let Some(current) = ledger.filter(|current| !current.made.replace(true)) {
            ledger = current.parent.as_deref();
        }
    }

    pub(super) fn add(&self, delta: &Usage) {
        self.budget.borrow_mut().own.add(delta);
        let mut ledger = Some(self);
        while let Some(current) = ledger {
            current.budget.borrow_mut().aggregate.add(delta);
            ledger = current.parent.as_deref();
        }
    }
}
