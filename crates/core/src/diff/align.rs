//! Pairs the elements of two lists.

use std::cmp::Ordering;

use super::bytes::{common_prefix, common_suffix};
use super::tree::Value;

/// The most pairs of elements that one diff compares: two lists of 362 elements, or many small ones. Beyond it,
/// elements are paired by position.
pub(super) const MAX_PAIRS: usize = 1 << 17;

/// The number of bytes compared at each end of an element.
const COMPARED: usize = 1_024;

const ALIKE: u32 = 1_000;

/// An unchanged element outweighs a few similar ones.
const SAME: u32 = 3 * ALIKE;

pub(super) enum Alignment {
    /// The same elements in another order, from this position on. Elements at the end that keep their position are
    /// excluded.
    Reordered { from: usize, length: usize },
    /// The differences, in order.
    Steps(Vec<Step>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Changed { recorded: usize, actual: usize },
    Removed { recorded: usize },
    Added { actual: usize },
}

/// Aligns two lists that differ. `pairs_left` is the number of pairs that may still be compared.
pub(super) fn align(
    recorded: &[Value<'_>],
    actual: &[Value<'_>],
    pairs_left: &mut usize,
) -> Alignment {
    let same = |(recorded, actual): &(&Value<'_>, &Value<'_>)| recorded.same(**actual);
    let from = recorded.iter().zip(actual).take_while(same).count();
    let (recorded, actual) = (&recorded[from..], &actual[from..]);
    let rests = recorded.iter().rev().zip(actual.iter().rev());
    let suffix = rests.take_while(same).count();
    let recorded = &recorded[..recorded.len() - suffix];
    let actual = &actual[..actual.len() - suffix];
    if is_permutation(recorded, actual) {
        return Alignment::Reordered {
            from,
            length: recorded.len(),
        };
    }
    let mut same_or_alike = Vec::new();
    let pairs = recorded.len().saturating_mul(actual.len());
    if (2..=*pairs_left).contains(&pairs) {
        *pairs_left -= pairs;
        same_or_alike = best_pairs(recorded, actual);
    }
    Alignment::Steps(steps(from, same_or_alike, recorded, actual))
}

fn is_permutation(recorded: &[Value<'_>], actual: &[Value<'_>]) -> bool {
    if recorded.len() != actual.len() || recorded.len() < 2 {
        return false;
    }
    let [recorded, actual] = [recorded, actual].map(|list| {
        let mut sorted = list.to_vec();
        sorted.sort_unstable_by(|left, right| left.order(*right));
        sorted
    });
    let mut pairs = recorded.iter().zip(&actual);
    pairs.all(|(recorded, actual)| recorded.order(*actual) == Ordering::Equal)
}

/// The ordered, non-crossing pairs with the highest total likeness.
fn best_pairs(recorded: &[Value<'_>], actual: &[Value<'_>]) -> Vec<(usize, usize)> {
    let width = actual.len() + 1;
    let likeness: Vec<u32> = recorded
        .iter()
        .flat_map(|recorded| actual.iter().map(|actual| likeness(*recorded, *actual)))
        .collect();
    let alike = |i: usize, j: usize| likeness[i * actual.len() + j];
    // The best sum of the elements from `i` and `j` on.
    let mut best = vec![0_u32; (recorded.len() + 1) * width];
    for i in (0..recorded.len()).rev() {
        for j in (0..actual.len()).rev() {
            let paired = best[(i + 1) * width + j + 1] + alike(i, j);
            let skipped = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = paired.max(skipped);
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < recorded.len() && j < actual.len() {
        let here = best[i * width + j];
        if alike(i, j) > 0 && here == best[(i + 1) * width + j + 1] + alike(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

fn likeness(recorded: Value<'_>, actual: Value<'_>) -> u32 {
    if recorded.seems_same(actual) {
        return SAME;
    }
    if recorded.kind() != actual.kind() {
        return 0;
    }
    let texts = [recorded, actual].map(|value| value.text().as_bytes());
    let [recorded, actual] = texts.map(ends_of);
    let shorter = texts[0].len().min(texts[1].len());
    let prefix = common_prefix(recorded.0, actual.0);
    let suffix = common_suffix(recorded.1, actual.1).min(shorter - prefix);
    let longer = texts[0].len().max(texts[1].len());
    let compared = longer.clamp(1, 2 * COMPARED);
    // Never more than the bytes that were compared.
    u32::try_from((prefix + suffix) * ALIKE as usize / compared)
        .unwrap_or(ALIKE)
        .min(ALIKE)
}

/// The start and the end to compare. They may overlap.
fn ends_of(bytes: &[u8]) -> (&[u8], &[u8]) {
    if bytes.len() <= 2 * COMPARED {
        return (bytes, bytes);
    }
    (&bytes[..COMPARED], &bytes[bytes.len() - COMPARED..])
}

/// The differences of two lists that begin at position `from` of both. Elements between two pairs are paired by position.
fn steps(
    from: usize,
    same_or_alike: Vec<(usize, usize)>,
    recorded: &[Value<'_>],
    actual: &[Value<'_>],
) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut i, mut j) = (0, 0);
    let end = (recorded.len(), actual.len());
    for (pair_i, pair_j) in same_or_alike.into_iter().chain(std::iter::once(end)) {
        while i < pair_i || j < pair_j {
            let (recorded, actual) = (from + i, from + j);
            steps.push(match (i < pair_i, j < pair_j) {
                (true, true) => Step::Changed { recorded, actual },
                (true, false) => Step::Removed { recorded },
                _ => Step::Added { actual },
            });
            (i, j) = (i + usize::from(i < pair_i), j + usize::from(j < pair_j));
        }
        if let (Some(left), Some(right)) = (recorded.get(i), actual.get(j))
            && !left.same(*right)
        {
            steps.push(Step::Changed {
                recorded: from + i,
                actual: from + j,
            });
        }
        (i, j) = (i + 1, j + 1);
    }
    steps
}
