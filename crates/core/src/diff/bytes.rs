//! Common prefixes and suffixes, compared in blocks that compile to a few wide comparisons.

const BLOCK: usize = 64;

/// The length of the common prefix.
pub(super) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    let (left_blocks, _) = left.as_chunks::<BLOCK>();
    let (right_blocks, _) = right.as_chunks::<BLOCK>();
    let equal = |(left, right): &(&[u8; BLOCK], &[u8; BLOCK])| left == right;
    let whole = BLOCK
        * left_blocks
            .iter()
            .zip(right_blocks)
            .take_while(equal)
            .count();
    let rest = left[whole..].iter().zip(&right[whole..]);
    whole + rest.take_while(|(left, right)| left == right).count()
}

/// The length of the common suffix.
pub(super) fn common_suffix(left: &[u8], right: &[u8]) -> usize {
    let (_, left_blocks) = left.as_rchunks::<BLOCK>();
    let (_, right_blocks) = right.as_rchunks::<BLOCK>();
    let equal = |(left, right): &(&[u8; BLOCK], &[u8; BLOCK])| left == right;
    let blocks = left_blocks.iter().rev().zip(right_blocks.iter().rev());
    let whole = BLOCK * blocks.take_while(equal).count();
    let rest_of = |bytes: &[u8]| bytes.len() - whole;
    let rest = left[..rest_of(left)]
        .iter()
        .rev()
        .zip(right[..rest_of(right)].iter().rev());
    whole + rest.take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
#[path = "../../tests/unit/diff/bytes.rs"]
mod tests;
