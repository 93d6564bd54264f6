#![no_main]

#[path = "../checks/mod.rs"]
#[allow(dead_code, unused_imports)] // each target has one of the checks
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::stream(data));
