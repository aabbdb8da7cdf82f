use std::cell::RefCell;
use std::str;

use napi_derive::napi;

/// Collects a long text in pieces. V8 walks a string argument twice, once only to count its bytes. Pieces that were
/// encoded into a small buffer are still in the processor's caches.
#[napi]
pub struct TextSink {
    text: RefCell<String>,
}

#[napi]
impl TextSink {
    /// `length` is the expected length of the whole text in UTF-16 units.
    #[napi(constructor, catch_unwind)]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked"
    )]
    pub fn new(length: f64) -> Self {
        // Only a capacity hint: longer text grows the buffer.
        let length = if (0.0..1e10).contains(&length) {
            length as usize
        } else {
            0
        };
        let mut text = String::new();
        text.try_reserve(length).ok();
        Self {
            text: RefCell::new(text),
        }
    }

    /// Appends whole characters in UTF-8.
    #[napi(catch_unwind)]
    pub fn push(&self, piece: &[u8]) {
        let mut text = self.text.borrow_mut();
        match str::from_utf8(piece) {
            Ok(piece) => text.push_str(piece),
            Err(_) => text.push_str(&String::from_utf8_lossy(piece)),
        }
    }
}

impl TextSink {
    /// Takes the text and leaves the sink empty.
    pub fn take(&self) -> String {
        self.text.take()
    }
}
