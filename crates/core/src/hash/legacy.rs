//! The 53-bit hash in recordings of `@rejelly/core`: cyrb53 with seed 0 over the UTF-16 code units of the request as
//! JSON text with sorted keys. That text equals the canonical form of RFC 8785: same key order, numbers and escapes.

use crate::json::{JsonError, Sink, write_canonical};

/// The hash of a recorded request in lower-case hex without padding (at most 14 digits). Collisions can be
/// constructed, so use it only to read old recordings.
///
/// # Errors
/// As [`write_canonical`].
pub fn legacy_hash(text: &str) -> Result<String, JsonError> {
    let mut hasher = Cyrb53::default();
    write_canonical(text, &mut hasher)?;
    Ok(format!("{:x}", hasher.finish()))
}

/// All products wrap at 32 bits, like `Math.imul`.
struct Cyrb53 {
    low: u32,
    high: u32,
}

impl Default for Cyrb53 {
    fn default() -> Self {
        Self {
            low: 0xdead_beef,
            high: 0x41c6_ce57,
        }
    }
}

impl Sink for Cyrb53 {
    fn write(&mut self, text: &str) {
        for unit in text.encode_utf16() {
            self.low = (self.low ^ u32::from(unit)).wrapping_mul(2_654_435_761);
            self.high = (self.high ^ u32::from(unit)).wrapping_mul(1_597_334_677);
        }
    }
}

impl Cyrb53 {
    /// Returns 53 bits.
    fn finish(self) -> u64 {
        let low = mix(self.low, self.high);
        let high = mix(self.high, low);
        u64::from(high & 0x1f_ffff) << 32 | u64::from(low)
    }
}

fn mix(state: u32, other: u32) -> u32 {
    (state ^ state >> 16).wrapping_mul(2_246_822_507)
        ^ (other ^ other >> 13).wrapping_mul(3_266_489_909)
}
