//! Short strings as arguments. What napi-rs does for a `String` has V8 walk it three times: to count its bytes, to count
//! them once more, and to write them.
#![allow(unsafe_code, reason = "an argument can be converted in no other way")]

use std::cell::RefCell;
use std::ops::Deref;
use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Result, Status, ValueType, sys};

/// The most bytes of UTF-8 that a UTF-16 unit becomes. With room for them all, V8 does not count first.
const BYTES_PER_UNIT: usize = 3;
/// Longer strings are not worth their room.
const SHORT: usize = 1 << 16;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A `string`, to be said to napi's generator of types.
pub struct JsText(String);

impl JsText {
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Deref for JsText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl TypeName for JsText {
    fn type_name() -> &'static str {
        String::type_name()
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for JsText {}

impl FromNapiValue for JsText {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        let mut units = 0;
        // SAFETY: without a buffer only the length is written, which V8 knows by heart.
        let status = unsafe {
            sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut units)
        };
        if status != sys::Status::napi_ok || units > SHORT {
            // SAFETY: `env` and `value` are as this function was given them.
            return unsafe { String::from_napi_value(env, value) }.map(Self);
        }
        ROOM.with_borrow_mut(|room| {
            // One more, for the zero at the end.
            let needed = units * BYTES_PER_UNIT + 1;
            if room.len() < needed {
                room.resize(needed, 0);
            }
            let mut length = 0;
            // SAFETY: the buffer is as long as it is said to be.
            let status = unsafe {
                sys::napi_get_value_string_utf8(
                    env,
                    value,
                    room.as_mut_ptr().cast(),
                    room.len(),
                    &raw mut length,
                )
            };
            if status != sys::Status::napi_ok {
                return Err(napi::Error::new(
                    Status::from(status),
                    "a string could not be read",
                ));
            }
            let text = room.get(..length).unwrap_or_default().to_vec();
            // SAFETY: V8 writes UTF-8, with U+FFFD for what would be none, and only whole characters.
            Ok(Self(unsafe { String::from_utf8_unchecked(text) }))
        })
    }
}
