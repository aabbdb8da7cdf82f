use std::ops::Range;

/// Lists of pieces of a text. A reordered object takes over the lists of the objects inside it. Linked lists make
/// that constant-time at any nesting depth.
pub(super) struct Pieces(Vec<Piece>);

struct Piece {
    span: Range<usize>,
    next: usize,
}

/// The first and the last piece of a list.
#[derive(Clone, Copy, Default)]
pub(super) struct List {
    ends: Option<(usize, usize)>,
}

/// End of a list.
const NONE: usize = usize::MAX;

impl Pieces {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(32))
    }

    /// Appends a piece, or extends the last piece if the text is contiguous.
    pub(super) fn append(&mut self, list: &mut List, span: Range<usize>) {
        if let Some((_, tail)) = list.ends
            && let Some(last) = self.0.get_mut(tail)
            && last.span.end == span.start
        {
            last.span.end = span.end;
            return;
        }
        let index = self.0.len();
        self.0.push(Piece { span, next: NONE });
        self.join(
            list,
            List {
                ends: Some((index, index)),
            },
        );
    }

    /// Appends the pieces of another list, which must not be used afterwards.
    pub(super) fn join(&mut self, list: &mut List, other: List) {
        list.ends = match (list.ends, other.ends) {
            (Some((head, tail)), Some((other_head, other_tail))) => {
                if let Some(last) = self.0.get_mut(tail) {
                    last.next = other_head;
                }
                Some((head, other_tail))
            }
            (ends, None) | (None, ends) => ends,
        };
    }

    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = Range<usize>> {
        let mut next = list.ends.map_or(NONE, |(head, _)| head);
        std::iter::from_fn(move || {
            let piece = self.0.get(next)?;
            next = piece.next;
            Some(piece.span.clone())
        })
    }
}
