use std::ops::Range;

/// Pieces of a text, in many lists. An object that is put in order takes over the lists of the
/// objects in it, so they are linked: taking over costs nothing, whatever the nesting.
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

/// No index: the end of a list.
const NONE: usize = usize::MAX;

impl Pieces {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(32))
    }

    /// Appends a piece, or lengthens the last one if the text runs on.
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

    /// Appends another list, which from then on belongs to `list`.
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
