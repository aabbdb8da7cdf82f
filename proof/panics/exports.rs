//! A deliberate panic in every kind of export, to test that none ends the process. Only in builds with the feature
//! `panics`.

// The panicking functions use nothing.
#![allow(clippy::panic, clippy::unused_self)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

#[napi(catch_unwind)]
pub fn panic_in_function() {
    panic!("on purpose, in a function");
}

#[napi]
pub async fn panic_in_async_function() {
    panic!("on purpose, in an async function");
}

#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub fn panic_in_task() -> AsyncTask<PanickingTask> {
    AsyncTask::new(PanickingTask)
}

pub struct PanickingTask;

impl Task for PanickingTask {
    type Output = u32;
    type JsValue = u32;

    fn compute(&mut self) -> Result<Self::Output> {
        // napi does not catch panics in tasks, so a task must do it.
        catch_unwind(AssertUnwindSafe(|| panic!("on purpose, in a task")))
            .map_err(|_| Error::new(Status::GenericFailure, "on purpose, in a task"))
    }

    fn resolve(&mut self, _env: Env, output: Self::Output) -> Result<Self::JsValue> {
        Ok(output)
    }
}

#[napi]
pub struct Panicking {
    calls: u32,
}

#[napi]
impl Panicking {
    #[napi(constructor, catch_unwind)]
    pub fn new(panics: bool) -> Self {
        assert!(!panics, "on purpose, in a constructor");
        Self { calls: 0 }
    }

    #[napi(factory, catch_unwind)]
    pub fn make() -> Self {
        panic!("on purpose, in a factory");
    }

    #[napi(catch_unwind)]
    pub fn method(&mut self, panics: bool) -> u32 {
        assert!(!panics, "on purpose, in a method");
        self.calls += 1;
        self.calls
    }

    #[napi(getter, catch_unwind)]
    pub fn value(&self) -> u32 {
        panic!("on purpose, in a getter");
    }

    #[napi(setter, catch_unwind)]
    pub fn set_value(&mut self, _value: u32) {
        panic!("on purpose, in a setter");
    }

    #[napi]
    pub async fn async_method(&self) -> u32 {
        panic!("on purpose, in an async method");
    }
}
