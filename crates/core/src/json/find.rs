//! Finds the ends of string literals. The text is scanned in blocks of 64 bytes. Each block yields a mask with one
//! bit per byte that ends a string or is invalid in one. Short strings then cost one shift each, escapes cost almost
//! nothing, and long strings are skipped block by block.

use wide::u8x16;

const BLOCK: usize = 64;

/// Finds the ends of strings from front to back.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringEnds {
    /// The start of the current block.
    block: usize,
    /// One bit per byte of the block at which a string ends; the lowest bit is the first byte.
    mask: u64,
    /// True if a backslash at the end of the block escapes the next byte.
    escape_pending: bool,
    /// True if an escape was found that `JSON.stringify` would not write.
    foreign_escape: bool,
}

impl StringEnds {
    pub(super) fn new() -> Self {
        // A block before the first one: nothing has been scanned.
        Self {
            block: 0_usize.wrapping_sub(BLOCK),
            mask: 0,
            escape_pending: false,
            foreign_escape: false,
        }
    }

    /// True if an escape was found that `JSON.stringify` may not write: it may use another escape or none.
    pub(super) fn has_foreign_escape(&self) -> bool {
        self.foreign_escape
    }

    /// Returns the end of the string body that begins at `from`: its closing quote, a control character, the second
    /// byte of an invalid escape, or the end of the text.
    ///
    /// Every call must pass the same bytes, and `from` must never decrease.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> usize {
        let seen = from.wrapping_sub(self.block);
        if seen < BLOCK {
            let left = self.mask >> seen;
            if left != 0 {
                return from + left.trailing_zeros() as usize;
            }
            return self.next_block(bytes, self.block + BLOCK);
        }
        // A string begins here, so no escape is pending.
        self.escape_pending = false;
        self.next_block(bytes, from)
    }

    fn next_block(&mut self, bytes: &[u8], from: usize) -> usize {
        let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
        self.block = from;
        for block in blocks {
            self.look_at(block, bytes);
            if self.mask != 0 {
                return self.block + self.mask.trailing_zeros() as usize;
            }
            self.block += BLOCK;
        }
        let mut padded = [b' '; BLOCK];
        padded[..rest.len()].copy_from_slice(rest);
        self.look_at(&padded, bytes);
        // A truncated escape may have been found in the padding.
        self.mask &= !(u64::MAX << rest.len());
        if self.mask == 0 {
            bytes.len()
        } else {
            self.block + self.mask.trailing_zeros() as usize
        }
    }

    #[inline]
    fn look_at(&mut self, block: &[u8; BLOCK], bytes: &[u8]) {
        let lanes = lanes_of(block);
        let special = lanes.map(special_bytes);
        // Most blocks of long strings have no special byte.
        if !self.escape_pending && !any(special) {
            self.mask = 0;
            return;
        }
        let backslashes = bits(lanes.map(|lanes| lanes.simd_eq(u8x16::splat(b'\\'))));
        let special = bits(special);
        self.mask = if backslashes == 0 && !self.escape_pending {
            special
        } else {
            self.ends_without_escapes(special, backslashes, block, bytes)
        };
    }

    /// A separate function, so that blocks without escapes need few registers.
    #[inline(never)]
    fn ends_without_escapes(
        &mut self,
        special: u64,
        backslashes: u64,
        block: &[u8; BLOCK],
        bytes: &[u8],
    ) -> u64 {
        let escaped = self.escaped(backslashes);
        special & !backslashes & !escaped | self.invalid_escapes(escaped, block, bytes)
    }

    /// The bytes that follow an unescaped backslash.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        /// Every other bit: in a run of backslashes, every other one escapes.
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let pending = u64::from(self.escape_pending);
        if backslashes == 0 {
            self.escape_pending = false;
            return pending;
        }
        let backslashes = backslashes & !pending;
        let follows = backslashes << 1 | pending;
        // Adding the first bit of a run to the run carries it past the run's end.
        let odd_starts = backslashes & !EVEN & !follows;
        let (sequences_on_even, overflow) = odd_starts.overflowing_add(backslashes);
        self.escape_pending = overflow;
        (EVEN ^ sequences_on_even << 1) & follows
    }

    #[inline]
    fn invalid_escapes(&mut self, escaped: u64, block: &[u8; BLOCK], bytes: &[u8]) -> u64 {
        let mut invalid = 0;
        let mut left = escaped;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            if !SIMPLE_ESCAPES[usize::from(block[at % BLOCK])] {
                invalid |= u64::from(!self.is_rare_escape(block[at % BLOCK], bytes, at)) << at;
            }
            left &= left - 1;
        }
        invalid
    }

    /// True if an escape is valid that is not in `SIMPLE_ESCAPES`.
    fn is_rare_escape(&mut self, letter: u8, bytes: &[u8], at: usize) -> bool {
        let digits = self.block + at + 1;
        self.foreign_escape |= letter != b'u' || !is_control_character(bytes, digits);
        letter == b'/' || letter == b'u' && four_hex_digits(bytes, digits)
    }
}

/// The escapes that `JSON.stringify` writes with a letter. A table, because branches on a mixture of escapes predict
/// poorly.
static SIMPLE_ESCAPES: [bool; 256] = {
    let mut simple = [false; 256];
    let mut letters: &[u8] = b"\"\\bfnrt";
    while let [letter, rest @ ..] = letters {
        simple[*letter as usize] = true;
        letters = rest;
    }
    simple
};

/// True if the digits of an escape are as `JSON.stringify` writes a control character that has no letter.
fn is_control_character(bytes: &[u8], from: usize) -> bool {
    match bytes.get(from..from + 4) {
        Some([b'0', b'0', b'0', last]) => matches!(last, b'0'..=b'7' | b'b' | b'e' | b'f'),
        Some([b'0', b'0', b'1', last]) => matches!(last, b'0'..=b'9' | b'a'..=b'f'),
        _ => false,
    }
}

fn four_hex_digits(bytes: &[u8], from: usize) -> bool {
    bytes
        .get(from..from + 4)
        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// The bytes of a block. Operations on them compile to a few SSE2 or NEON instructions, and to scalar code elsewhere.
#[inline]
fn lanes_of(block: &[u8; BLOCK]) -> [u8x16; 4] {
    let chunks = block.as_chunks::<16>().0;
    std::array::from_fn(|index| {
        chunks
            .get(index)
            .map_or(u8x16::ZERO, |lanes| u8x16::new(*lanes))
    })
}

/// All ones for control characters, quotes and backslashes.
#[inline]
fn special_bytes(lanes: u8x16) -> u8x16 {
    // Flipping this bit turns a quote into a space and keeps control characters below it.
    let turned = lanes ^ u8x16::splat(b'"' ^ b' ');
    let control_or_quote = turned.min(u8x16::splat(b' ')).simd_eq(turned);
    control_or_quote | lanes.simd_eq(u8x16::splat(b'\\'))
}

#[inline]
fn any([a, b, c, d]: [u8x16; 4]) -> bool {
    (a | b | c | d).to_bitmask() != 0
}

/// One bit per byte; the lowest bit is the first byte.
#[inline]
fn bits(lanes: [u8x16; 4]) -> u64 {
    let [a, b, c, d] = lanes.map(|lanes| u64::from(lanes.to_bitmask()));
    a | b << 16 | c << 32 | d << 48
}

#[cfg(test)]
#[path = "../../tests/unit/json/find.rs"]
mod tests;
