//! Short string arguments. The conversion to `String` in napi-rs makes V8 walk the text three times: twice to count
//! its bytes, and once to write them.
#![allow(unsafe_code, reason = "an argument can be converted in no other way")]

use std::cell::RefCell;
use std::ops::Deref;
use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Result, Status, ValueType, sys};

/// The most UTF-8 bytes per UTF-16 unit. With room for them all, V8 does not count first.
const BYTES_PER_UNIT: usize = 3;
/// For longer strings, the buffer costs more than it saves.
const SHORT: usize = 1 << 16;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A string argument. Annotate it with `ts_arg_type = "string"` for the generated types.
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
        // SAFETY: without a buffer, V8 only writes the length, which it knows.
        let status = unsafe {
            sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut units)
        };
        if status != sys::Status::napi_ok || units > SHORT {
            // SAFETY: `env` and `value` are this function's own arguments.
            return unsafe { String::from_napi_value(env, value) }.map(Self);
        }
        ROOM.with_borrow_mut(|room| {
            // Plus the terminating zero.
            let needed = units * BYTES_PER_UNIT + 1;
            if room.len() < needed {
                room.resize(needed, 0);
            }
            let mut length = 0;
            // SAFETY: `room.len()` is the length of the buffer.
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
                    "cannot read a string argument",
                ));
            }
            let text = room.get(..length).unwrap_or_default().to_vec();
            // SAFETY: V8 writes only whole UTF-8 characters, with U+FFFD for lone surrogates.
            Ok(Self(unsafe { String::from_utf8_unchecked(text) }))
        })
    }
}
