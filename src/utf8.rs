//! Validates and copies long UTF-8 texts from JavaScript's memory. Only the copy is immutable.
#![allow(
    unsafe_code,
    reason = "safe code would clear memory before it is written, and check text on one thread"
)]

use std::mem::MaybeUninit;
use std::ptr;
use std::slice;
use std::thread;

/// Shorter texts are not worth a second thread.
const TWO_THREADS_FROM: usize = 1 << 22;
/// Each piece is validated while it is in the processor's caches.
const PIECE: usize = 1 << 16;

/// A copy of the bytes if they are UTF-8. Two threads, because touching new memory is the expensive part.
pub fn copy(bytes: &[u8]) -> Option<String> {
    let mut copy: Vec<u8> = Vec::with_capacity(bytes.len());
    let room = copy.spare_capacity_mut().get_mut(..bytes.len())?;
    let is_copied = match halves(bytes) {
        None => copy_checked(bytes, room),
        Some((first, second)) => {
            let (to_first, to_second) = room.split_at_mut(first.len());
            both(
                || copy_checked(first, to_first),
                || copy_checked(second, to_second),
            )
        }
    };
    if !is_copied {
        return None;
    }
    // SAFETY: all bytes were written, and every piece of them is UTF-8.
    unsafe {
        copy.set_len(bytes.len());
        Some(String::from_utf8_unchecked(copy))
    }
}

/// The bytes as text if they are UTF-8.
pub fn view(bytes: &[u8]) -> Option<&str> {
    let Some((first, second)) = halves(bytes) else {
        return str::from_utf8(bytes).ok();
    };
    let is_utf8 = |half| str::from_utf8(half).is_ok();
    // SAFETY: both halves are UTF-8, so their concatenation is.
    both(|| is_utf8(first), || is_utf8(second)).then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

/// Splits text that is worth a second thread.
fn halves(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    (bytes.len() >= TWO_THREADS_FROM).then(|| split_between_characters(bytes, bytes.len() / 2))
}

/// True if both return true. The second runs on another thread. False if no thread can be started.
fn both(first: impl FnOnce() -> bool, second: impl FnOnce() -> bool + Send) -> bool {
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, second);
        let first = first();
        other.is_ok_and(|other| other.join().unwrap_or(false)) && first
    })
}

/// Copies the bytes to `room`, which has the same length. Returns false if they are not UTF-8.
fn copy_checked(mut bytes: &[u8], mut room: &mut [MaybeUninit<u8>]) -> bool {
    while !bytes.is_empty() {
        let (piece, rest) = split_between_characters(bytes, PIECE);
        let Some((to_piece, to_rest)) = room.split_at_mut_checked(piece.len()) else {
            return false;
        };
        // SAFETY: `piece.len()` bytes were split off the room and are all written.
        let copied = unsafe {
            let start = to_piece.as_mut_ptr().cast::<u8>();
            ptr::copy_nonoverlapping(piece.as_ptr(), start, piece.len());
            slice::from_raw_parts(start, piece.len())
        };
        // Validate the copy: another thread may share the original.
        if str::from_utf8(copied).is_err() {
            return false;
        }
        (bytes, room) = (rest, to_rest);
    }
    true
}

/// Splits text at `at`, or after the character there.
fn split_between_characters(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    let is_start = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let end = match bytes.get(at..) {
        Some(rest) => at + rest.iter().position(is_start).unwrap_or(rest.len()),
        None => bytes.len(),
    };
    bytes.split_at(end)
}
