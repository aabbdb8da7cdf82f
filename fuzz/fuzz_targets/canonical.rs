#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_rewind_fuzz::canonical(data));
