//! Finds the recorded request nearest to one that had no match.

use super::bytes::{common_prefix, common_suffix};

/// The key of the candidate with the longest common prefix and suffix with `actual`, relative to the longer of the
/// two. The first wins a tie. `None` if there are no candidates.
///
/// A candidate is a key and its text in pieces, which are never joined. Leading or trailing pieces that a candidate
/// shares in memory with the previous one are not compared again, so each request of a conversation costs only the
/// messages that it adds.
pub fn nearest<'a, K, P>(candidates: impl IntoIterator<Item = (K, P)>, actual: &str) -> Option<K>
where
    P: AsRef<[&'a str]>,
{
    let mut search = Search {
        actual: actual.as_bytes(),
        previous: None,
    };
    let mut best: Option<(K, Nearness)> = None;
    for (key, pieces) in candidates {
        let nearness = search.nearness(pieces);
        if best
            .as_ref()
            .is_none_or(|(_, known)| nearness.exceeds(*known))
        {
            best = Some((key, nearness));
            if nearness.agreed == nearness.longer {
                break;
            }
        }
    }
    best.map(|(key, _)| key)
}

/// A fraction.
#[derive(Debug, Clone, Copy)]
struct Nearness {
    agreed: usize,
    longer: usize,
}

impl Nearness {
    fn exceeds(self, other: Self) -> bool {
        let product = |agreed: usize, longer: usize| agreed as u128 * longer as u128;
        product(self.agreed, other.longer) > product(other.agreed, self.longer)
    }
}

struct Search<'t, P> {
    actual: &'t [u8],
    previous: Option<Previous<P>>,
}

struct Previous<P> {
    pieces: P,
    prefix: usize,
    suffix: usize,
}

impl<'a, P: AsRef<[&'a str]>> Search<'_, P> {
    fn nearness(&mut self, pieces: P) -> Nearness {
        let texts = pieces.as_ref();
        let length: usize = texts.iter().map(|piece| piece.len()).sum();
        let known = self.previous.as_ref();
        let known_prefix = known.map_or(0, |previous| {
            shared(texts.iter(), previous.pieces.as_ref().iter()).min(previous.prefix)
        });
        let known_suffix = known.map_or(0, |previous| {
            shared(texts.iter().rev(), previous.pieces.as_ref().iter().rev()).min(previous.suffix)
        });
        let prefix = agreed(texts.iter(), known_prefix, |piece, start| {
            common_prefix(piece, self.actual.get(start..).unwrap_or_default())
        });
        let suffix = agreed(texts.iter().rev(), known_suffix, |piece, start| {
            let end = self.actual.len().saturating_sub(start);
            common_suffix(piece, &self.actual[..end])
        });
        self.previous = Some(Previous {
            pieces,
            prefix,
            suffix,
        });
        let shorter = length.min(self.actual.len());
        Nearness {
            // Bytes in both the prefix and the suffix count once.
            agreed: prefix.saturating_add(suffix).min(shorter),
            longer: length.max(self.actual.len()),
        }
    }
}

/// The number of bytes that agree in the pieces up to the first difference. The first `known` bytes are known to agree.
/// `common` compares a piece after that many bytes.
fn agreed<'p, 'a: 'p>(
    pieces: impl Iterator<Item = &'p &'a str>,
    known: usize,
    common: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let mut end = 0;
    for piece in pieces {
        let start = end;
        end += piece.len();
        if end <= known {
            continue;
        }
        let agreed = common(piece.as_bytes(), start);
        if agreed < piece.len() {
            return start + agreed;
        }
    }
    end
}

/// The total length of the leading pieces that are the same memory in both lists.
fn shared<'p, 'a: 'p>(
    pieces: impl Iterator<Item = &'p &'a str>,
    others: impl Iterator<Item = &'p &'a str>,
) -> usize {
    pieces
        .zip(others)
        .take_while(|(piece, other)| std::ptr::eq(**piece, **other))
        .map(|(piece, _)| piece.len())
        .sum()
}
