//! The text of a snapshot while it is written.

/// Text that is passed on as it grows, so that a long snapshot is never in memory as a whole.
pub(super) struct Out<'s> {
    pub(super) text: String,
    pub(super) spill: &'s mut dyn FnMut(&mut String),
}

impl Out<'_> {
    /// Call before a write, not after it: the caller may still remove the end of the text.
    pub(super) fn spill_if_full(&mut self) {
        const FULL: usize = 1 << 18;
        if self.text.len() >= FULL {
            (self.spill)(&mut self.text);
        }
    }
}
