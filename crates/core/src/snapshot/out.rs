//! The text of a snapshot while it is written.

/// Text that is handed on as it grows, so that a long one never stands in memory as a whole.
pub(super) struct Out<'s> {
    pub(super) text: String,
    pub(super) spill: &'s mut dyn FnMut(&mut String),
}

impl Out<'_> {
    /// Called before, not after, something is written: the end of the text stays at hand.
    pub(super) fn spill_if_full(&mut self) {
        const FULL: usize = 1 << 18;
        if self.text.len() >= FULL {
            (self.spill)(&mut self.text);
        }
    }
}
